package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/conflict"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/cli"
)

// person is named by ten items of each store, whatever its size.
const person, named = "usr_growth7q", 10

// stores measures SQLite and vault with n items each, and the operator log with n records.
func (r *run) stores(n int) error {
	dir, err := os.MkdirTemp(r.work, "growth")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if r.clones, err = os.MkdirTemp(r.work, "growth-clones"); err != nil {
		return err
	}
	defer os.RemoveAll(r.clones)
	db, notes, log := filepath.Join(dir, "graph.db"), filepath.Join(dir, "vault"), filepath.Join(dir, "log")
	if err := seedGraph(db, n); err != nil {
		return fmt.Errorf("seeding SQLite: %w", err)
	}
	if err := r.store(dir, n, "sqlite", db, graphPeers(db)); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if err := seedLog(log, n); err != nil {
		return fmt.Errorf("seeding the log: %w", err)
	}
	if err := r.verify(dir, log, n); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if n > r.files {
		return nil
	}
	if err := seedNotes(notes, n); err != nil {
		return fmt.Errorf("seeding the vault: %w", err)
	}
	if err := r.store(dir, n, "vault", notes, notePeers(notes)); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	return r.conflicts(notes, n)
}

// peers do what memdesk is compared with on the same data; erase works on a copy, which clone makes.
type peers struct {
	open, recall func() error
	erase        func(clone string) error
	names        [3]string
}

// store measures one store of a kind with n items.
func (r *run) store(dir string, n int, kind, path string, p peers) error {
	ctx := context.Background()
	config := []backends.StoreConfig{{Name: kind, Kind: kind, Path: path, LockRoot: filepath.Join(dir, "locks")}}
	if kind != "vault" {
		config[0].LockRoot = ""
	}
	open := func() (*backends.Fleet, model.Store, error) {
		f := backends.Open(ctx, backends.Builtin(), config, backends.Env{Clock: clock.System{}, Getenv: os.Getenv}, backends.Policy{Audit: backends.Unrecorded, Timeout: 10 * time.Minute})
		s, err := f.Store(kind)
		if err != nil {
			return f, s, errors.Join(err, f.Close())
		}
		return f, s, nil
	}
	err := r.compare("open", kind, n, p.names[0], func() error {
		f, s, err := open()
		if err != nil {
			return err
		}
		_, err = s.Browser.List(ctx, model.PageRequest{Limit: 50})
		return errors.Join(err, f.Close())
	}, p.open)
	if err != nil {
		return err
	}
	f, s, err := open()
	if err != nil {
		return err
	}
	deep := ""
	for seen := 0; seen < n*9/10; {
		page, err := s.Browser.List(ctx, model.PageRequest{Limit: model.MaxPage, Cursor: deep})
		if err != nil {
			return errors.Join(err, f.Close())
		}
		if page.Next == "" {
			break
		}
		deep, seen = page.Next, seen+len(page.Items)
	}
	err = r.compare("page", kind, n, "page one", func() error {
		_, err := s.Browser.List(ctx, model.PageRequest{Limit: 50, Cursor: deep})
		return err
	}, func() error {
		_, err := s.Browser.List(ctx, model.PageRequest{Limit: 50})
		return err
	})
	if err == nil {
		err = r.compare("recall", kind, n, p.names[1], func() error {
			res, err := s.Provider.Recall(ctx, model.RecallRequest{Query: "needle", Limit: 20})
			if err == nil && len(res.Hits) == 0 {
				err = errors.New("the word was not found")
			}
			return err
		}, p.recall)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := r.memory(dir, n, kind, path); err != nil {
		return err
	}
	if n > r.erasures {
		return nil
	}
	clone := filepath.Join(r.clones, kind) // not beside the store, where an erasure finds it
	if out, err := exec.Command("cp", "-r", path, clone).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	took, err := once(func() error { return erase(dir, kind, path) })
	if err != nil {
		return err
	}
	r.add("erase", kind, false, n, took)
	took, err = once(func() error { return p.erase(clone) })
	if err != nil {
		return fmt.Errorf("%s: %w", p.names[2], err)
	}
	r.add("erase", kind+": "+p.names[2], true, n, took)
	return nil
}

// erase carries a request out from filing to the verified end.
func erase(dir, kind, path string) error {
	state := filepath.Join(dir, "state-"+kind)
	run := func(args ...string) (string, error) {
		var out, errw strings.Builder
		p := cli.Program{Args: append([]string{"--open", kind + "=" + path, "--timeout", "10m"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errw,
			Env: func(k string) string {
				return map[string]string{"HOME": dir, "XDG_STATE_HOME": state, "XDG_CACHE_HOME": dir, "LANG": "C.UTF-8", "PATH": os.Getenv("PATH")}[k]
			}, Dir: dir, Clock: clock.System{}, Version: "growth", Kinds: backends.Builtin(), Terminal: func(any) bool { return false }, User: "growth"}
		if code := p.Run(context.Background()); code != 0 {
			return "", fmt.Errorf("memdesk %v: exit %d: %s%s", args, code, out.String(), errw.String())
		}
		return out.String(), nil
	}
	field := func(text, name string) string {
		_, rest, _ := strings.Cut(text, `"`+name+`":"`)
		v, _, _ := strings.Cut(rest, `"`)
		return v
	}
	filed, err := run("--json", "gdpr", "request", "--subject", person, "--ground", "asked", "--yes")
	if err != nil {
		return err
	}
	id := field(filed, "request")
	plan, err := run("--json", "gdpr", "plan", id)
	if err != nil {
		return err
	}
	_, err = run("--json", "gdpr", "erase", id, "--plan-hash", field(plan, "plan_hash"), "--confirm-count", fmt.Sprint(named), "--yes")
	return err
}

// conflicts lists the copies among n files, one in a hundred.
func (r *run) conflicts(path string, n int) error {
	f := backends.Open(context.Background(), backends.Builtin(), []backends.StoreConfig{{Name: "vault", Kind: "vault", Path: path}},
		backends.Env{Clock: clock.System{}, Getenv: os.Getenv}, backends.Policy{Audit: backends.Unrecorded, ReadOnly: "measured", Timeout: 10 * time.Minute})
	defer f.Close()
	s, err := f.Store("vault")
	if err != nil {
		return err
	}
	return r.compare("conflicts", "vault", n, "find", func() error {
		found := 0
		for _, err := range conflict.List(context.Background(), s, conflict.Options{Markers: conflict.LookNone}) {
			if err != nil {
				return err
			}
			found++
		}
		if found < n/100 {
			return fmt.Errorf("%d copies of %d were found", found, n/100)
		}
		return nil
	}, command("find", path, "-type", "f", "-printf", "%P\n"))
}

// verify walks a log of n records.
func (r *run) verify(dir, log string, n int) error {
	return r.compare("verify", "log", n, "sha256sum", func() error {
		rep, err := audit.Verify(context.Background(), log)
		if err == nil && (rep.Reason != "" || rep.Events < uint64(n)) {
			err = fmt.Errorf("%d records: %s", rep.Events, rep.Reason)
		}
		return err
	}, command("sh", "-c", "sha256sum "+log+"/log-*.jsonl"))
}

// memory is the most that a process held which opened the store and printed a page.
func (r *run) memory(dir string, n int, kind, path string) error {
	held := func(open string) (float64, error) {
		self, err := os.Executable()
		if err != nil {
			return 0, err
		}
		c := exec.Command(self)
		most := filepath.Join(dir, "most")
		c.Env = []string{mostEnv + "=" + most, playEnv + "=" + strings.Join([]string{"--open", open, "items", "--limit", "50"}, "\n"), "HOME=" + dir, "XDG_STATE_HOME=" + filepath.Join(dir, "state"), "LANG=C.UTF-8"}
		if out, err := c.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		b, err := os.ReadFile(most)
		if err != nil {
			return 0, err
		}
		var kb float64
		_, err = fmt.Sscan(string(b), &kb)
		return kb / 1024, err
	}
	mb, err := held(kind + "=" + path)
	if err != nil {
		return err
	}
	r.put("memory", kind, false, n, mb)
	empty, err := held("inmem=")
	if err != nil {
		return err
	}
	r.put("memory", "nothing open", true, n, empty)
	return nil
}

// command runs another program and throws away what it prints.
func command(name string, args ...string) func() error {
	return func() error {
		c := exec.Command(name, args...)
		c.Stdout = io.Discard
		return c.Run()
	}
}

// compare measures ours and the peer's in turn and keeps the best time of each: the machine is not quiet.
func (r *run) compare(what, name string, n int, peer string, ours, theirs func() error) error {
	var best [2]time.Duration
	for began, i := time.Now(), 0; i < 2 || i < 9 && time.Since(began) < 3*time.Second; i++ {
		for k, do := range []func() error{ours, theirs} {
			took, err := once(do)
			if err != nil {
				return fmt.Errorf("%s: %w", []string{what, peer}[k], err)
			}
			if best[k] == 0 || took < best[k] {
				best[k] = took
			}
		}
	}
	r.add(what, name, false, n, best[0])
	r.add(what, name+": "+peer, true, n, best[1])
	return nil
}

func once(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}

var words = strings.Fields("cache loader planner broker exporter scheduler merges splits orders prints measures retries small large wide nested empty partial files rows")

// text is item i of n: every hundredth knows one word, ten know the person, and twenty the needle.
func text(i, n int) string {
	var w []string
	for k := range 20 {
		w = append(w, words[(i*7+k*k*3+i/len(words))%len(words)])
	}
	if i%(n/20) == 3 {
		w = append(w, "needle")
	}
	if i%(n/named) == 7 {
		return "knows " + person + "\n"
	}
	return strings.Join(w, " ") + "\n"
}

func seedGraph(path string, n int) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path, Create: true})
	if err != nil {
		return err
	}
	at := time.Now().Add(-time.Duration(n) * time.Second)
	_, err = s.CreateNodes(context.Background(), func(yield func(hypergraph.Node) bool) {
		for i := range n {
			if !yield(hypergraph.Node{ID: fmt.Sprintf("n%07d", i*7919%n), Type: "fact", Tier: []string{"session", "longterm"}[i%2], Confidence: 1, Content: text(i, n), CreatedAt: at.Add(time.Duration(i) * time.Second)}) {
				return
			}
		}
	})
	return errors.Join(err, s.Close())
}

func graphPeers(path string) peers {
	query := func(path, text string, args ...any) error {
		db, err := sql.Open("sqlite3", "file:"+path)
		if err != nil {
			return err
		}
		defer db.Close()
		rows, err := db.Query(text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
		}
		return rows.Err()
	}
	return peers{
		names: [3]string{"SELECT", "MATCH … rank", "DELETE, VACUUM"},
		open: func() error {
			return query(path, `SELECT id, tier, content FROM nodes ORDER BY created_at DESC, id LIMIT 50`)
		},
		recall: func() error {
			return query(path, `SELECT n.id, n.content FROM nodes_fts f JOIN nodes n ON n.seq = f.rowid WHERE nodes_fts MATCH 'needle' ORDER BY rank LIMIT 20`)
		},
		erase: func(clone string) error {
			if err := query(clone, `DELETE FROM nodes WHERE content LIKE '%`+person+`%'`); err != nil {
				return err
			}
			return query(clone, `VACUUM`)
		},
	}
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

func notePeers(root string) peers {
	return peers{
		names:  [3]string{"find", "grep -ril", "grep -rlF, rewrite"},
		open:   command("find", root, "-type", "f", "-printf", "%P %s %T@\n"),
		recall: command("grep", "-ril", "needle", root),
		erase: func(clone string) error {
			return command("sh", "-c", "grep -rlF "+person+" "+clone+" | xargs sed -i s/"+person+"/[erased]/")()
		},
	}
}

// unflushed is the machine's files without flushing: a log of this size is only to be read.
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
	_, err = l.Checkpoint(ctx) // Close would not wait for a tree of so many records at once
	return errors.Join(append(slices.Clone(errs), err, l.Close(ctx))...)
}
