package gdpr_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
)

// TestARenamedNoteStaysPrivate: a note that only its owner may read is kept so under an id that names nobody.
func TestARenamedNoteStaysPrivate(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	plant(t, vault, map[string]string{"memory/idea/about " + name + ".md": "# Tea\n\nasked by " + name + "\n", "memory/idea/rain.md": "# Rain\n"})
	if err := os.Chmod(filepath.Join(vault, "memory/idea/about "+name+".md"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	r := w.file()
	w.complete(w.plan(r.ID))
	made := 0
	err := filepath.WalkDir(filepath.Join(vault, "memory"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "rain.md" {
			return err
		}
		made++
		if fi, err := e.Info(); err != nil || fi.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", e.Name(), fi.Mode(), err)
		}
		return nil
	})
	if err != nil || made != 1 {
		t.Errorf("%d notes, %v", made, err)
	}
}
