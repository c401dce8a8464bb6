package seamtest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/model"
)

// HugeIDs tries impossible ids: of megabytes, and of thousands of directories. Each must be
// InvalidInput and not be repeated in the error, and nothing may be made in dir, the store's directory.
// Every id of the store begins with prefix.
func HugeIDs(t *testing.T, s model.Store, dir, prefix string) {
	t.Helper()
	before := count(t, dir)
	for name, id := range map[string]string{
		"20,000 directories": prefix + strings.Repeat("d/", 20_000) + "x.md",
		"100 directories":    prefix + strings.Repeat("d/", 100) + "x.md",
		"8 MB":               prefix + strings.Repeat("x", 8<<20) + ".md",
	} {
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Mode: model.Replace, Content: "x\n"})
		refusedShortly(t, name+": retain", err)
		if len(id) < 4096 {
			continue
		}
		_, err = s.Browser.Read(t.Context(), id)
		refusedShortly(t, name+": read", err)
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		refusedShortly(t, name+": forget", err)
	}
	if after := count(t, dir); after != before {
		t.Errorf("%d files and directories before, %d after", before, after)
	}
	ordinary := prefix + strings.Repeat("d/", 10) + "x.md"
	if s.Kind == "curated" { // its ids are entries of two files
		return
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: ordinary, Mode: model.Replace, Content: "x\n"}); err != nil {
		t.Errorf("ten directories are refused: %v", err)
	}
}

func refusedShortly(t *testing.T, name string, err error) {
	t.Helper()
	if !errors.Is(err, model.InvalidInput) {
		t.Errorf("%s: %s, want invalid input", name, model.KindOf(err))
	} else if len(err.Error()) > 1000 {
		t.Errorf("%s: the error holds %d bytes", name, len(err.Error()))
	}
}

func count(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, _ fs.DirEntry, err error) error {
		n++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
