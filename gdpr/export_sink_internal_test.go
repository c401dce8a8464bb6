package gdpr

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memdesk/model"
)

// TestAnExportIsFlushed: an export that was reported must be there after a power cut, so the directories that
// list its files are flushed too, the outer one after the move.
func TestAnExportIsFlushed(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string][]string{"out": {"out.tmp/documents", "out.tmp", "."}, "out.zip": {"."}} {
		s, err := newSink(filepath.Join(dir, name), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		flush := s.syncDir
		s.syncDir = func(path string) error {
			rel, _ := filepath.Rel(dir, path)
			if at := strings.Index(rel, tempMark); at >= 0 {
				rel = rel[:at] + ".tmp" + strings.TrimLeft(rel[at+len(tempMark):], "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")
			}
			got = append(got, rel)
			return flush(path)
		}
		if err := s.copy("documents/1.txt", strings.NewReader("text")); err != nil {
			t.Fatal(err)
		}
		if err := s.commit(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: flushed %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestAnExportReplacesNothing: another export that came to the same place meanwhile must stay.
func TestAnExportReplacesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.zip")
	var both [2]*sink
	for i := range both {
		s, err := newSink(out, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.copy(strconv.Itoa(i), strings.NewReader("text")); err != nil {
			t.Fatal(err)
		}
		both[i] = s
	}
	if err := both[0].commit(); err != nil {
		t.Fatal(err)
	}
	if err := both[1].commit(); !errors.Is(err, model.AlreadyExists) {
		t.Errorf("the second one: %v; want %s", err, model.AlreadyExists)
	}
	if err := both[1].drop(); err != nil {
		t.Error(err)
	}
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) != 1 || z.File[0].Name != "0" {
		t.Errorf("%v, %v, the first file is %q; want only the first export", left, err, z.File[0].Name)
	}
}
