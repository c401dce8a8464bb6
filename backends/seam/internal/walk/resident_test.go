package walk_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// homes are two trees that a resident store follows at once.
type homes struct {
	*walk.Resident
	paths []string
	roots map[string]*rootdir.Dir
}

func resident(t *testing.T) homes {
	t.Helper()
	walk.StaysOpen = 0
	t.Cleanup(func() { walk.StaysOpen = time.Second })
	h := homes{&walk.Resident{}, []string{t.TempDir(), t.TempDir()}, map[string]*rootdir.Dir{}}
	for _, p := range h.paths {
		write(t, p, "a/one", "b/two")
		h.roots[p] = open(t, p)
		if !h.Begin(p) {
			t.Skipf("it is not followed here: %v", h.Walked())
		}
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func (h homes) scan(t *testing.T, path string) *walk.Tree {
	t.Helper()
	end, err := h.Turn(t.Context(), "list")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	tree, err := h.Scan(t.Context(), "list", path, h.roots[path], walk.Rules{}, nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestResidentTrees: one queue tells of several trees, of each what changed there.
func TestResidentTrees(t *testing.T) {
	h := resident(t)
	first, second := h.paths[0], h.paths[1]
	one, two := h.scan(t, first), h.scan(t, second)
	if !h.Current(first, one) || !h.Current(second, two) || h.Current(first, two) || h.Changed() {
		t.Fatal("nothing changed")
	}
	for n, step := range []func() error{
		func() error { return os.WriteFile(filepath.Join(first, "a/one"), []byte("one"), 0o644) },
		func() error { return os.WriteFile(filepath.Join(first, "a/three"), nil, 0o644) },
		func() error { return os.Rename(filepath.Join(first, "a/three"), filepath.Join(first, "b/four")) },
		func() error { return os.Remove(filepath.Join(first, "b/four")) },
		func() error { return os.RemoveAll(filepath.Join(first, "a")) },
		func() error { return os.MkdirAll(filepath.Join(first, "a/deep"), 0o755) },
		func() error { return os.WriteFile(filepath.Join(first, "a/deep/five"), nil, 0o644) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		if h.Current(first, one) || !h.Changed() {
			t.Errorf("step %d was not heard", n)
		}
		if !h.Current(second, two) {
			t.Errorf("step %d was heard of the other tree", n)
		}
		one = h.scan(t, first)
		if want := scan(t, h.roots[first], nil, nil, lengths); !slices.Equal(picture(one), picture(want)) {
			t.Errorf("step %d: %q, want %q", n, picture(one), picture(want))
		}
	}
	h.Keep(map[string]*walk.Tree{second: two})
	if h.Current(first, one) || !h.Current(second, two) {
		t.Error("it keeps the wrong tree")
	}
	write(t, second, "b/six")
	if h.Current(second, two) || h.scan(t, second).Len() != 3 {
		t.Error("a change after the other tree was left was not heard")
	}
	if h.Close() != nil || h.Begin(second) || h.scan(t, second).Len() != 3 {
		t.Error("it follows after it was closed")
	}
}

// TestResidentFallsBack: a tree that is lost is walked, the other one stays followed, and Walked says why.
func TestResidentFallsBack(t *testing.T) {
	h := resident(t)
	first, second := h.paths[0], h.paths[1]
	one, two := h.scan(t, first), h.scan(t, second)
	if err := os.Rename(first, first+"-away"); err != nil {
		t.Fatal(err)
	}
	write(t, first, "new")
	h.roots[first] = open(t, first)
	if h.Current(first, one) || len(h.Walked()) != 0 {
		t.Error("the tree of another directory is current")
	}
	if one = h.scan(t, first); one.Len() != 1 || h.Current(first, one) || h.Begin(first) {
		t.Errorf("%d files of another directory", one.Len())
	}
	if f := h.Walked(); len(f) != 1 || f[0].State != model.HealthOK || !strings.Contains(f[0].Message, "lost count") {
		t.Errorf("health says %+v", f)
	}
	if !h.Current(second, two) {
		t.Error("the other tree is lost too")
	}
	h.Keep(map[string]*walk.Tree{second: two})
	if f := h.Walked(); len(f) != 0 {
		t.Errorf("of a tree that the store has no more, health says %+v", f)
	}
}

// TestResidentUnderAWalk: the tree before a change must not be current while the walk that follows the
// change goes on.
func TestResidentUnderAWalk(t *testing.T) {
	h := resident(t)
	path := h.paths[0]
	one := h.scan(t, path)
	write(t, path, "a/three")
	var looks, current atomic.Int32
	_, err := h.Scan(t.Context(), "list", path, h.roots[path], walk.Rules{}, nil, func(files *rootdir.Files, at rootdir.Place, was walk.File) (rootdir.Meta, uint32, bool) {
		looks.Add(1)
		if h.Current(path, one) {
			current.Add(1)
		}
		return lengths(files, at, was)
	})
	if err != nil || looks.Load() == 0 || current.Load() > 0 {
		t.Errorf("%v; current in %d of %d looks", err, current.Load(), looks.Load())
	}
}

// TestResidentTurns: whoever waits gets its turn, or its own deadline.
func TestResidentTurns(t *testing.T) {
	h := resident(t)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 20 {
				path := h.paths[(n+i)%2]
				_ = os.WriteFile(filepath.Join(path, "a", fmt.Sprint("f", n)), []byte(strings.Repeat("x", i)), 0o644)
				h.Current(path, h.scan(t, path))
				h.Changed()
			}
		})
	}
	all.Wait()
	for _, path := range h.paths {
		if got, want := picture(h.scan(t, path)), picture(scan(t, h.roots[path], nil, nil, lengths)); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	end, err := h.Turn(t.Context(), "list")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := h.Turn(ctx, "list"); model.KindOf(err) != model.Timeout {
		t.Errorf("a turn of another's: %v", err)
	}
}
