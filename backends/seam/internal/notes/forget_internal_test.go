package notes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends/seam"
	"memdesk/model"
)

// TestForgetNamesADisplacedText: a text that another writer wrote meanwhile stays in a copy, and the answer must name it.
func TestForgetNamesADisplacedText(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "note.md")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(file, []byte("old"), 0o600))
	done := make(chan error, 1)
	first := true
	tree, err := seam.OpenDir(dir, seam.DirOptions{RootMode: 0o700, FileMode: 0o600, Fault: func(s seam.Step) error {
		if s != seam.StepRemove || !first {
			return nil
		}
		first = false
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		go func() { // while the removal waits for this handle: writes to the old file, and makes a new one
			for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(time.Millisecond) {
				if _, err := os.Lstat(file); err != nil {
					break
				}
			}
			_, err := f.WriteString(" and late")
			if err == nil {
				err = os.WriteFile(file, []byte("new"), 0o600)
			}
			_ = f.Close()
			done <- err
		}()
		return nil
	}})
	must(err)
	s, err := Open(t.Context(), Config{Name: "n", Kind: "vault", Path: dir, Tree: tree})
	must(err)
	defer s.Close()
	res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "note.md"})
	must(err)
	must(<-done)
	if kept, _ := filepath.Glob(filepath.Join(dir, "note (conflict *.md")); res.Removed != 1 || len(kept) != 1 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], filepath.Base(kept[0])) {
		t.Errorf("%+v; copies %q", res, kept)
	}
}
