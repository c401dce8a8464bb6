package walk_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

func follow(t *testing.T, dir string) *walk.Follower {
	t.Helper()
	f, err := walk.Follow(dir)
	if model.KindOf(err) == model.Unsupported {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func scan(t *testing.T, root *rootdir.Dir, old *walk.Tree, f *walk.Follower, look walk.Look) *walk.Tree {
	t.Helper()
	tree, err := walk.Scan(t.Context(), "list", root, walk.Rules{}, old, f, look)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// picture is a tree's content as a list shows it.
func picture(tree *walk.Tree) (out []string) {
	for _, f := range tree.All() {
		out = append(out, fmt.Sprint(f.Path(), " ", f.Tag(), " ", f.Meta().Stamp()))
	}
	return append(out, tree.Problems...)
}

// TestFollow: after any changes to a tree, a following walk must see the same as a complete one.
func TestFollow(t *testing.T) {
	t.Run("one name each", func(t *testing.T) { followed(t, 500, 0) })
	t.Run("links", func(t *testing.T) { followed(t, 100, 1) })
}

func followed(t *testing.T, rounds, links int) {
	dir, outside := t.TempDir(), t.TempDir()
	f, root := follow(t, dir), open(t, dir)
	r := rand.New(rand.NewPCG(1, 2))
	pick := func() string { // a path some directories deep
		p := dir
		for range r.IntN(4) {
			p = filepath.Join(p, string(rune('a'+r.IntN(3))))
		}
		return p
	}
	file := func() string { return filepath.Join(pick(), "f"+string(rune('0'+r.IntN(4)))) }
	steps := []struct {
		name string
		do   func() error
	}{
		{"write", func() error { return os.WriteFile(file(), []byte(fmt.Sprint(r.IntN(1000))), 0o644) }},
		{"mkdir", func() error { return os.MkdirAll(pick(), 0o755) }},
		{"remove", func() error { return os.Remove(file()) }},
		{"remove all", func() error {
			if p := pick(); p != dir && r.IntN(3) == 0 {
				return os.RemoveAll(p)
			}
			return nil
		}},
		{"move a file", func() error { return os.Rename(file(), file()) }},
		{"move a directory", func() error {
			if p, q := pick(), pick(); p != dir && q != dir {
				return os.Rename(p, q)
			}
			return nil
		}},
		{"move out and in", func() error {
			if p, away := pick(), filepath.Join(outside, "x"); p != dir && os.Rename(p, away) == nil {
				_ = os.WriteFile(filepath.Join(away, "f9"), nil, 0o644)
				return os.Rename(away, pick())
			}
			return nil
		}},
		{"link", func() error {
			if links == 0 {
				return nil
			}
			return os.Link(file(), file())
		}},
		{"symbolic link", func() error { return os.Symlink("f0", file()) }},
		{"touch", func() error { return os.Chtimes(file(), time.Now(), time.Unix(int64(r.IntN(1<<30)), 0)) }},
		{"exchange a directory", func() error {
			if p := pick(); p != dir && os.RemoveAll(p) == nil {
				_ = os.MkdirAll(p, 0o755)
				return os.WriteFile(filepath.Join(p, "f7"), []byte("new"), 0o644)
			}
			return nil
		}},
	}
	var tree *walk.Tree
	for n := range rounds {
		var done []string
		for range 1 + r.IntN(3) {
			step := steps[r.IntN(len(steps))]
			if step.do() == nil { // most fail, because their target does not exist
				done = append(done, step.name)
			}
		}
		if f.Quiet() && tree != nil {
			if got, want := picture(tree), picture(scan(t, root, nil, nil, lengths)); !slices.Equal(got, want) {
				t.Fatalf("step %d, %q: said to be quiet with\n%q, there is\n%q", n, done, got, want)
			}
			continue
		}
		tree = scan(t, root, tree, f, lengths)
		if got, want := picture(tree), picture(scan(t, root, nil, nil, lengths)); !slices.Equal(got, want) {
			t.Fatalf("step %d, %q:\n%q, want\n%q", n, done, got, want)
		}
	}
}

// TestFollowReadsWhatChanged: after a change in one directory only that one must be read again, without
// a change none, and while a file has several names every one.
func TestFollowReadsWhatChanged(t *testing.T) {
	dir := t.TempDir()
	for d := range 30 {
		for n := range 10 {
			write(t, dir, fmt.Sprintf("d%02d/n%d", d, n))
		}
	}
	f, root := follow(t, dir), open(t, dir)
	var looked atomic.Int64
	count := func(files *rootdir.Files, at rootdir.Place, was walk.File) (rootdir.Meta, uint32, bool) {
		looked.Add(1)
		return lengths(files, at, was)
	}
	read := func(old *walk.Tree) (*walk.Tree, int64) {
		looked.Store(0)
		tree := scan(t, root, old, f, count)
		return tree, looked.Load()
	}
	tree, n := read(nil)
	if n != 300 || !f.Quiet() {
		t.Fatalf("the first walk looked at %d files; quiet: %v", n, f.Quiet())
	}
	if tree, n = read(tree); n != 0 || tree.Len() != 300 {
		t.Errorf("nothing changed, and it looked at %d of %d files", n, tree.Len())
	}
	write(t, dir, "d07/n3")
	if f.Quiet() {
		t.Error("a change was not heard")
	}
	if tree, n = read(tree); n != 10 || tree.Len() != 300 {
		t.Errorf("after a write it looked at %d of %d files", n, tree.Len())
	}
	if err := os.Link(filepath.Join(dir, "d09/n1"), filepath.Join(dir, "d10/n1b")); err != nil {
		t.Fatal(err)
	}
	tree, _ = read(tree)
	if _, n = read(tree); n != 301 || f.Quiet() {
		t.Errorf("a file can change under its other name, and it looked at %d; quiet: %v", n, f.Quiet())
	}
}

// TestFollowIsLost: more events than the system keeps, a closed follower and a removed root must be reported.
func TestFollowIsLost(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, dir string, f *walk.Follower){
		"closed": func(_ *testing.T, _ string, f *walk.Follower) { _ = f.Close() },
		"too many": func(t *testing.T, dir string, _ *walk.Follower) {
			for n := range 40_000 { // the system keeps 16,384 by default, and joins equal ones
				if err := os.Chmod(filepath.Join(dir, "ab"[n%2:n%2+1]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
		"another root": func(t *testing.T, dir string, _ *walk.Follower) {
			if err := os.Rename(dir, dir+"-away"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"a moved parent": func(t *testing.T, dir string, _ *walk.Follower) {
			if err := os.Rename(filepath.Dir(dir), filepath.Dir(dir)+"-away"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "parent", "root")
			write(t, dir, "a", "b")
			f, root := follow(t, dir), open(t, dir)
			tree := scan(t, root, nil, f, lengths)
			lose(t, dir, f)
			if f.Quiet() {
				if data, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events"); name == "too many" && err == nil && len(data) > len("16384\n") {
					t.Skip("this system keeps more changes")
				}
				t.Error("said to be quiet")
			}
			if _, err := walk.Scan(t.Context(), "list", root, walk.Rules{}, tree, f, lengths); err == nil {
				t.Error("a walk trusts it")
			}
		})
	}
}
