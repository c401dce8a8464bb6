package attributes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"memdesk/backends/internal/attributes"
	"memdesk/model"
)

// files is a maintainer of a directory's files that counts opened files.
type files struct {
	model.Maintainer
	dir    string
	names  []string
	opened map[string]int
}

func (f files) Layers(context.Context) (out []model.Layer, err error) {
	f.opened["(list)"]++
	for _, n := range f.names {
		out = append(out, model.Layer{ID: n, Kind: model.LayerItem, ItemID: n, Readable: true, File: filepath.Join(f.dir, n)})
	}
	return out, nil
}

func (f files) OpenLayer(_ context.Context, id string) (io.ReadCloser, error) {
	if !slices.Contains(f.names, id) {
		return nil, model.Errorf(model.NotFound, "open", "no layer %q", id)
	}
	f.opened[id]++
	return os.Open(filepath.Join(f.dir, id))
}

// TestFilesWithoutAttributesStayClosed: hardly any of many files has an attribute; the others must not
// be opened to find out.
func TestFilesWithoutAttributesStayClosed(t *testing.T) {
	f := files{dir: t.TempDir(), names: []string{"plain.md", "tagged.md", "gone.md"}, opened: map[string]int{}}
	for _, n := range f.names[:2] {
		if err := os.WriteFile(filepath.Join(f.dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	switch err := unix.Setxattr(filepath.Join(f.dir, "tagged.md"), "user.author", []byte("ana"), 0); {
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
		t.Skip("the file system of the temporary directory keeps no extended attributes of users")
	case err != nil:
		t.Fatal(err)
	}
	layers, err := attributes.Of(f).Layers(t.Context())
	if err != nil || len(layers) != 4 || layers[3].ID != "tagged.md/user.author" || layers[3].ItemID != "tagged.md" {
		t.Errorf("%+v, %v", layers, err)
	}
	if len(f.opened) != 2 || f.opened["tagged.md"] != 1 {
		t.Errorf("opened %v", f.opened)
	}
}

// TestDirectoriesAreListedOnce: Samba keeps an attribute on every directory of a share.
func TestDirectoriesAreListedOnce(t *testing.T) {
	f := files{dir: t.TempDir(), opened: map[string]int{}}
	for i := range 10 {
		dir := fmt.Sprintf("d%d", i)
		f.names = append(f.names, dir+"/note.md")
		if err := os.MkdirAll(filepath.Join(f.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		switch err := unix.Setxattr(filepath.Join(f.dir, dir), "user.author", []byte("ana"), 0); {
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
			t.Skip("the file system of the temporary directory keeps no extended attributes of users")
		case err != nil:
			t.Fatal(err)
		}
	}
	m := attributes.Of(f)
	for i := range 10 { // also without a listing before
		r, err := m.OpenLayer(t.Context(), fmt.Sprintf("d%d/user.author", i))
		if err != nil {
			t.Fatal(err)
		}
		if value, err := io.ReadAll(r); err != nil || string(value) != "ana" {
			t.Errorf("%q, %v", value, err)
		}
	}
	if f.opened["(list)"] != 1 {
		t.Errorf("listed %d times", f.opened["(list)"])
	}
}

// TestDryScrubTakesTheListedLayers: a plan has just listed them, so 100,000 files must not be listed twice.
func TestDryScrubTakesTheListedLayers(t *testing.T) {
	dir := t.TempDir()
	f := files{dir: dir, names: []string{"tagged.md"}, opened: map[string]int{}}
	if err := os.WriteFile(filepath.Join(dir, "tagged.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	switch err := unix.Setxattr(filepath.Join(dir, "tagged.md"), "user.author", []byte("ana"), 0); {
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
		t.Skip("the file system of the temporary directory keeps no extended attributes of users")
	case err != nil:
		t.Fatal(err)
	}
	var asked []string
	req := model.ScrubRequest{Dry: true, Listed: []model.Layer{},
		Concerns: func(b []byte) bool { return string(b) == "ana" },
		May:      func(layer string, _ []byte) bool { asked = append(asked, layer); return true }}
	if _, err := attributes.Of(f).Scrub(t.Context(), req); err != nil || len(asked) != 0 {
		t.Errorf("asked about %q, %v", asked, err)
	}
	req.Listed = nil
	if _, err := attributes.Of(f).Scrub(t.Context(), req); err != nil || len(asked) != 1 || asked[0] != "tagged.md/user.author" {
		t.Errorf("not listed: asked about %q, %v", asked, err)
	}
}

func (f files) Scrub(context.Context, model.ScrubRequest) ([]model.LayerResult, error) {
	return nil, nil
}
