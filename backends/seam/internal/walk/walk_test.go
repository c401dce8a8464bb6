package walk_test

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
)

func open(t *testing.T, dir string) *rootdir.Dir {
	t.Helper()
	root, err := rootdir.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func write(t *testing.T, dir string, paths ...string) {
	t.Helper()
	for _, p := range paths {
		at := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// lengths is an examination whose tag is the file's size.
func lengths(files *rootdir.Files, at rootdir.Place, _ walk.File) (rootdir.Meta, uint32, bool) {
	m, ok := walk.Stat(files, at)
	return m, uint32(m.Size), ok && !strings.HasSuffix(at.Name, ".left")
}

// TestScan: paths must be ordered as strings, whatever is beside a directory.
func TestScan(t *testing.T) {
	dir := t.TempDir()
	want := []string{
		"a-b/c", "a-b/x.md", "a.md", "a/b", "a/b-c", "a/z/1", "a0", "A", "a!", "b/c/d/e/f.md", "b/c/d.md", "b/c.md", "z", "b/c0/x", "b/c-/x", "ab/x", "a/\xff",
	}
	write(t, dir, append([]string{"a/gone.left", "q/only.left"}, want...)...)
	slices.Sort(want)
	tree, err := walk.Scan(t.Context(), "list", open(t, dir), walk.Rules{}, nil, nil, lengths)
	if err != nil || len(tree.Problems) > 0 || tree.Len() != len(want) {
		t.Fatal(tree.Len(), tree.Problems, err)
	}
	for i, f := range tree.All() {
		if f.Path() != want[i] || tree.At(i).Path() != want[i] || int(f.Tag()) != len(want[i]) || f.Size() != int64(len(want[i])) {
			t.Errorf("%d: %q and %q of %d, want %q", i, f.Path(), tree.At(i).Path(), f.Tag(), want[i])
		}
		fi, err := os.Lstat(filepath.Join(dir, f.Path()))
		if m := f.Meta(); err != nil || !m.Modified.Equal(fi.ModTime()) || m.Kind != rootdir.File {
			t.Errorf("%q: %+v, %v", f.Path(), m, err)
		}
	}
	var names []string
	if _, err := walk.Names(t.Context(), "names", open(t, dir), walk.Rules{Take: func(_ string, name []byte) bool { return !bytes.HasSuffix(name, []byte(".left")) }}, func(p string) bool {
		names = append(names, p)
		return true
	}); err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestScanKnowsTheTreeBefore: every file must be passed with its former state, or none.
func TestScanKnowsTheTreeBefore(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a-b/c", "a/b", "a/c/d", "a/c-d/e", "x")
	old, err := walk.Scan(t.Context(), "list", open(t, dir), walk.Rules{}, nil, nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "a/c/new", "n/n")
	_, err = walk.Scan(t.Context(), "list", open(t, dir), walk.Rules{}, old, nil, func(_ *rootdir.Files, at rootdir.Place, was walk.File) (rootdir.Meta, uint32, bool) {
		isNew := strings.HasPrefix(at.Name, "n")
		if was.Exists() == isNew || !isNew && (was.Path() != at.Path() || int(was.Tag()) != len(at.Path())) {
			t.Errorf("%q was there: %v", at.Path(), was.Exists())
		}
		return rootdir.Meta{}, 0, true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamesOfTheTreeBefore: the names of a directory must come from the earlier tree when it has long been
// unchanged, and from no other one.
func TestNamesOfTheTreeBefore(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/b", "a/c/d", "a/c/gone", "still/x", "still/not taken", "z")
	for _, d := range []string{"a/c", "a", "still", "."} {
		touch(t, filepath.Join(dir, d), time.Now().Add(-time.Hour))
	}
	names := func(old *walk.Tree, want ...string) {
		t.Helper()
		var got []string
		tree, err := walk.Scan(t.Context(), "names", open(t, dir), walk.Rules{}, old, nil, nil)
		for _, f := range tree.All() {
			got = append(got, f.Path())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, want %q, %v", got, want, err)
		}
	}
	scan := func() *walk.Tree {
		t.Helper()
		taken := walk.Rules{Take: func(_ string, name []byte) bool { return string(name) != "not taken" }}
		tree, err := walk.Scan(t.Context(), "list", open(t, dir), taken, nil, nil, lengths)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	old := scan()
	write(t, dir, "a/c/new", "n/m")
	if err := os.Remove(filepath.Join(dir, "a/c/gone")); err != nil {
		t.Fatal(err)
	}
	names(old, "a/b", "a/c/d", "a/c/new", "n/m", "still/x", "z")
	touch(t, filepath.Join(dir, "still"), time.Now()) // it may change again unseen
	names(scan(), "a/b", "a/c/d", "a/c/new", "n/m", "still/not taken", "still/x", "z")
	touch(t, filepath.Join(dir, "still"), time.Now().Add(-time.Hour))
	old = scan()
	old.Began = time.Now().Add(-time.Minute) // too long ago
	names(old, "a/b", "a/c/d", "a/c/new", "n/m", "still/not taken", "still/x", "z")
}

func touch(t *testing.T, path string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestKnown: kept facts must hold for an unchanged file, and for no other.
func TestKnown(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, n := range []string{"same", "rewritten", "moved", "touched", "gone"} {
		paths = append(paths, "person/"+n+".md")
	}
	write(t, dir, paths...)
	at := filepath.Join(t.TempDir(), "kept")
	scan := func() *walk.Tree {
		tree, err := walk.Scan(t.Context(), "list", open(t, dir), walk.Rules{}, nil, nil, lengths)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	classes := func(tree *walk.Tree, class uint32) iter.Seq2[walk.File, uint32] {
		return func(yield func(walk.File, uint32) bool) {
			for _, f := range tree.All() {
				if !yield(f, class) {
					return
				}
			}
		}
	}
	keep := func(settled time.Time, class uint32) {
		tree := scan()
		if err := walk.KeepKnown(at, settled, tree.Len(), classes(tree, class)); err != nil {
			t.Fatal(err)
		}
	}
	known := func() map[string]uint16 {
		k, out := walk.OpenKnown(at), map[string]uint16{}
		root, err := rootdir.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		_, err = walk.Scan(t.Context(), "list", root, walk.Rules{}, nil, nil, func(files *rootdir.Files, at rootdir.Place, _ walk.File) (rootdir.Meta, uint32, bool) {
			m, ok := walk.Stat(files, at) // as a walk sees it, with its device
			if class, known := k.Class(at, m); known {
				out[at.Path()] = class
			}
			return m, 0, ok
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if got := known(); len(got) != 0 {
		t.Errorf("known before anything was kept: %v", got)
	}
	later := time.Now().Add(time.Hour)
	if keep(later, 7); len(known()) != len(paths) || known()[paths[0]] != 7 {
		if _, ok := mustMeta(t, dir, paths[0]).Known(1, rootdir.PlaceOf(paths[0])); !ok {
			t.Skip("this system does not tell of changes")
		}
		t.Fatalf("known: %v", known())
	}
	data, err := os.ReadFile(at)
	if st, serr := os.Stat(at); err != nil || serr != nil || st.Mode().Perm() != 0o600 || bytes.Contains(data, []byte("person")) || bytes.Contains(data, []byte("same")) {
		t.Errorf("the kept file names something, or is open to others: %v %v", err, serr)
	}
	// Only the change time (ctime) reveals a rewrite of equal length whose modification time was set
	// back.
	full := func(n string) string { return filepath.Join(dir, "person", n+".md") }
	fi, err := os.Stat(full("rewritten"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(full("rewritten"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; { // until the file system's clock has advanced
		if _, err := f.WriteAt([]byte("P"), 0); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(full("rewritten"), fi.ModTime(), fi.ModTime()); err != nil {
			t.Fatal(err)
		}
		if _, still := known()["person/rewritten.md"]; !still || time.Now().After(deadline) {
			break
		}
	}
	_ = f.Close()
	for _, err := range []error{
		os.Rename(full("moved"), full("moved2")), os.Chtimes(full("touched"), fi.ModTime(), fi.ModTime().Add(time.Hour)), os.Remove(full("gone")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := known(); len(got) != 1 || got["person/same.md"] != 7 {
		t.Errorf("after changes: %v", got)
	}
	if keep(time.Now().Add(-time.Hour), 7); len(known()) != 0 {
		t.Errorf("files that changed just now are known: %v", known())
	}
	if keep(later, 1<<16); len(known()) != 0 {
		t.Errorf("a class that has no place is known: %v", known())
	}
	for name, broken := range map[string]func([]byte) []byte{
		"cut": func(b []byte) []byte { return b[:len(b)-1] }, "empty": func([]byte) []byte { return nil },
		"another program": func(b []byte) []byte { b[8]++; return b }, "a bit": func(b []byte) []byte { b[len(b)-3]++; return b },
		"another format": func(b []byte) []byte { b[0]++; return b },
	} {
		keep(later, 7)
		data, err := os.ReadFile(at)
		if err != nil || len(known()) == 0 {
			t.Fatal(err, len(known()))
		}
		if err := os.WriteFile(at, broken(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := known(); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := os.Remove(at); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := walk.KeepKnown(filepath.Join(at, "x", "y"), later, 0, func(func(walk.File, uint32) bool) {}); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("kept where nothing can be: %v", err)
	}
}

func mustMeta(t *testing.T, dir, path string) rootdir.Meta {
	t.Helper()
	m, err := open(t, dir).Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRepositories: git's own directory is one thing, whatever its name. Files that are only called like parts of one hide
// nothing.
func TestRepositories(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "bare/HEAD", "bare/objects/pack/a.pack", "bare/refs/heads/main", "bare/x.md")
	notes := []string{"files/HEAD", "files/objects", "files/refs", "files/x.md", "head/HEAD/y", "head/objects/y", "head/refs/y", "some/HEAD", "some/refs/y"}
	write(t, dir, notes...)
	tree, err := walk.Scan(t.Context(), "list", open(t, dir), walk.Rules{}, nil, nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range tree.All() {
		names = append(names, f.Path())
	}
	if !slices.Equal(names, notes) {
		t.Errorf("listed %q; want %q", names, notes)
	}
	var found []string
	err = walk.Everything(t.Context(), "layers", open(t, dir), nil, func(f walk.Found) {
		if f.Repository != (f.Path == "bare") {
			t.Errorf("%s: a repository: %v", f.Path, f.Repository)
		}
		found = append(found, f.Path)
	})
	if slices.Sort(found); err != nil || !slices.Equal(found, append([]string{"bare"}, notes...)) {
		t.Errorf("%q, %v", found, err)
	}
}
