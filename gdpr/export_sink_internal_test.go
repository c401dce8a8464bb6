package gdpr

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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
		if _, err := s.copy("documents/1.txt", strings.NewReader("text")); err != nil {
			t.Fatal(err)
		}
		if err := s.commit(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: flushed %q, %v; want %q", name, got, err, want)
		}
	}
}
