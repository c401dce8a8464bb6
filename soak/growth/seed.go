package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
)

// seeded is the path of the result of seed, perhaps kept by an earlier run.
func seeded(dir, what string, seed func(path string) error) (string, error) {
	path := filepath.Join(dir, what)
	if _, err := os.Stat(path + ".whole"); err == nil {
		return path, nil
	}
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	if err := seed(path); err != nil {
		return "", fmt.Errorf("seeding %s: %w", what, err)
	}
	return path, os.WriteFile(path+".whole", nil, 0o600)
}

var vocabulary = strings.Fields("cache loader planner broker exporter scheduler merges splits orders prints measures retries small large wide nested empty partial files rows")

// plain are the words of item i.
func plain(i int) []string {
	var w []string
	for k := range 20 {
		w = append(w, vocabulary[(i*7+k*k*3+i/len(vocabulary))%len(vocabulary)])
	}
	return w
}

// text is item i of n: ten name the person, and twenty hold the needle.
func text(i, n int) string {
	w := plain(i)
	if i%(n/20) == 3 {
		w = append(w, "needle")
	}
	if i%(n/named) == 7 {
		return "knows " + person + "\n"
	}
	return strings.Join(w, " ") + "\n"
}

// special reports whether item i of n is one of the few that a search looks for.
func special(i, n int) bool { return i%(n/20) == 3 || i%(n/named) == 7 }

// period is the number of items after which the other words repeat.
var period = len(vocabulary) * len(vocabulary)

var begin = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// node is item i of n of a graph.
func node(i, n int) hypergraph.Node {
	return hypergraph.Node{ID: fmt.Sprintf("n%07d", i*7919%n), Type: "fact", Tier: []string{"session", "longterm"}[i%2], Confidence: 1, Content: text(i, n), CreatedAt: begin.Add(time.Duration(i) * time.Second)}
}

func seedGraph(path string, n int) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, Create: true})
	if err != nil {
		return err
	}
	_, err = s.CreateNodes(context.Background(), func(yield func(hypergraph.Node) bool) {
		for i := range n {
			if !yield(node(i, n)) {
				return
			}
		}
	})
	return errors.Join(err, s.Close())
}

func seedNotes(root string, n int) error {
	for i := range n {
		dir := filepath.Join(root, "memory", "idea", fmt.Sprintf("d%03d", i%100))
		if i < 100 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		name := fmt.Sprintf("note-%07d.md", i)
		body := "# Note " + fmt.Sprint(i) + "\n\n" + strings.Repeat(text(i, n), 5)
		if i%100 == 99 { // the copy of the one before it, in its directory
			dir = filepath.Join(root, "memory", "idea", fmt.Sprintf("d%03d", (i-1)%100))
			name = fmt.Sprintf("note-%07d.sync-conflict-20260527-083015-K3ZQ7AB.md", i-1)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// unflushed is the machine's file system without flushing: a log of this size is only read.
type unflushed struct{ atomicfile.OS }

type unflushedFile struct{ atomicfile.File }

func (unflushedFile) Sync() error { return nil }

func (u unflushed) OpenFile(name string, flag int, perm os.FileMode) (atomicfile.File, error) {
	f, err := u.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unflushedFile{f}, nil
}

func (unflushed) SyncDir(string) error { return nil }

// seedLog writes a log of n records, of many writers at once.
func seedLog(dir string, n int) error {
	l, err := audit.Open(audit.Options{Dir: dir, Clock: clock.System{}, Tool: "growth", Actor: audit.Actor{ID: "growth"}, FS: unflushed{}})
	if err != nil {
		return err
	}
	ctx := context.Background()
	if _, err := l.Intent(ctx, audit.Entry{Action: "forget", Store: "graph", Target: "first"}); err != nil { // it also begins the log
		return err
	}
	const writers = 32
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n/2 && errs[w] == nil; i += writers {
				seq, err := l.Intent(ctx, audit.Entry{Action: "forget", Store: "graph", Tier: "session", Target: fmt.Sprint("item-", i)})
				if err == nil {
					err = l.Outcome(ctx, seq, audit.Result{Verdict: audit.OK})
				}
				errs[w] = err
			}
		})
	}
	wg.Wait()
	_, err = l.Checkpoint(ctx)
	_ = l.Close(ctx) // looks again at what is signed now, and of so many records not long enough
	return errors.Join(append(slices.Clone(errs), err)...)
}
