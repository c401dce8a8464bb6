package seam_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memdesk/backends/seam"
	"memdesk/backends/seam/seamtest"
	"memdesk/model"
)

// dirSubject gives the suite everything that it needs of a Dir.
func dirSubject(t *testing.T) seamtest.Subject {
	t.Helper()
	dir := t.TempDir()
	var at seam.Step
	var with error
	opt := seam.DirOptions{Fault: func(s seam.Step) error {
		if s == at {
			return with
		}
		return nil
	}}
	return seamtest.Subject{
		Tree:   openDir(t, dir, opt),
		Second: func(t *testing.T) seam.Tree { return openDir(t, dir, seam.DirOptions{}) },
		Dir:    dir,
		Fail:   func(s seam.Step, err error) { at, with = s, err },
	}
}

func openDir(t *testing.T, path string, opt seam.DirOptions) *seam.Dir {
	t.Helper()
	d, err := seam.OpenDir(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDirKeepsTheSeam(t *testing.T) { seamtest.RunSubject(t, dirSubject) }

func TestDirKeepsTheSeamWithoutARoot(t *testing.T) {
	seamtest.Run(t, func(t *testing.T) seam.Tree {
		return openDir(t, filepath.Join(t.TempDir(), "made", "later"), seam.DirOptions{CreateRoot: true})
	})
}

func TestSuiteNamesARuleInEveryCase(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range seamtest.Names() {
		if !strings.HasPrefix(name, "S") || seen[name] {
			t.Errorf("case %q has no rule number or stands twice", name)
		}
		seen[name] = true
	}
	for n := 1; n <= 9; n++ {
		found := false
		for name := range seen {
			found = found || strings.HasPrefix(name, "S23."+string(rune('0'+n))+" ")
		}
		if !found {
			t.Errorf("the universal check S23.%d is missing", n)
		}
	}
}

func TestOpenDirErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(t.TempDir(), "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Skip(err)
	}
	tests := []struct {
		name, path string
		create     bool
		want       model.Kind
	}{
		{"no path", "", false, model.InvalidInput},
		{"missing", filepath.Join(t.TempDir(), "none"), false, model.Unavailable},
		{"a file", file, false, model.InvalidInput},
		{"a file, creating", file, true, model.InvalidInput},
		{"a dangling link, creating", dangling, true, model.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := seam.OpenDir(tt.path, seam.DirOptions{CreateRoot: tt.create})
			if !errors.Is(err, tt.want) || strings.Contains(err.Error(), filepath.Dir(file)) {
				t.Errorf("err = %v (%s), want %s", err, model.KindOf(err), tt.want)
			}
		})
	}
}

func TestRootIsMadeByTheFirstWriteOnly(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	d := openDir(t, root, seam.DirOptions{CreateRoot: true})
	l, _ := d.Resolve("x.md")
	if list, err := d.List(t.Context(), seam.Locator{}); err != nil || len(list) != 0 {
		t.Errorf("List = %v, %v", list, err)
	}
	if gone, err := d.Remove(t.Context(), l, ""); gone || err != nil {
		t.Errorf("Remove = %v, %v", gone, err)
	}
	if _, err := os.Lstat(filepath.Dir(root)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("reading made the root: %v", err)
	}
	if _, err := d.Write(t.Context(), l, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "x.md")); err != nil {
		t.Error(err)
	}
}

func TestAVanishedRootIsNotAnEmptyTree(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, root, seam.DirOptions{})
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if list, err := d.List(t.Context(), seam.Locator{}); !errors.Is(err, model.Unavailable) {
		t.Errorf("List = %v, %v", list, err)
	}
	l, _ := d.Resolve("x.md")
	if _, err := d.Write(t.Context(), l, "x"); !errors.Is(err, model.Unavailable) {
		t.Errorf("Write: %v", err)
	}
}

func TestModeOfAnExistingFileIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f.md")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil { // more than any umask leaves
		t.Fatal(err)
	}
	owned := os.Geteuid() == 0
	if owned {
		if err := os.Chown(path, 1001, 1002); err != nil {
			t.Fatal(err)
		}
	}
	d := openDir(t, dir, seam.DirOptions{})
	l, _ := d.Resolve("f.md")
	if _, err := d.Write(t.Context(), l, "new"); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if uid, gid := ownerOf(fi); owned && (uid != 1001 || gid != 1002) {
		t.Errorf("owner is %d:%d", uid, gid)
	}
}

// TestNoPathCrossesTheSeam checks every exported signature of the Tree (provider-contract.md S2): only
// contexts, text, locators and the family's own values may pass.
func TestNoPathCrossesTheSeam(t *testing.T) {
	allowed := map[string]bool{
		"context.Context": true, "string": true, "[]string": true, "seam.Locator": true, "[]seam.Locator": true,
		"seam.Info": true, "seam.Capabilities": true, "model.Revision": true, "bool": true, "error": true,
	}
	tree := reflect.TypeFor[seam.Tree]()
	for i := range tree.NumMethod() {
		m := tree.Method(i)
		for j := range m.Type.NumIn() {
			if name := m.Type.In(j).String(); !allowed[name] {
				t.Errorf("%s takes a %s", m.Name, name)
			}
		}
		for j := range m.Type.NumOut() {
			if name := m.Type.Out(j).String(); !allowed[name] {
				t.Errorf("%s returns a %s", m.Name, name)
			}
		}
	}
	for _, v := range []reflect.Type{reflect.TypeFor[seam.Info](), reflect.TypeFor[seam.Locator]()} {
		for i := range v.NumField() {
			if f := v.Field(i); f.IsExported() && f.Type.Kind() == reflect.String && f.Name != "Stamp" {
				t.Errorf("%s.%s is a bare string", v, f.Name)
			}
		}
	}
}

func FuzzLocator(f *testing.F) {
	for _, s := range []string{"a/b", "..", "/./a//b/", `a\b`, "a\x00", "\xff", "..."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := seam.Resolve(s)
		if err != nil {
			if !errors.Is(err, seam.ErrInvalidLocator) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		again, err := seam.Resolve(l.Key())
		if err != nil || again != l || strings.HasPrefix(l.Key(), "/") || strings.Contains("/"+l.Key()+"/", "/../") {
			t.Fatalf("%q → %q → %q, %v", s, l, again, err)
		}
		if built, err := seam.Resolve(l.Parts()...); err != nil || built != l {
			t.Fatalf("%q does not come back from its parts", s)
		}
	})
}
