package drafts_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/drafts"
)

func TestKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	c := clock.Fixed(time.Now())
	f := drafts.New(dir, c, func() error { return nil })
	if got, err := f.Kept(); err != nil || len(got) != 0 {
		t.Fatalf("of nothing: %v, %v", got, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("looking has made a directory")
	}
	for i, text := range []string{"old", "one", "two"} {
		d, err := f.Open("name.md", text)
		if err != nil {
			t.Fatal(err)
		}
		path, err := d.Keep()
		if err != nil {
			t.Fatal(err)
		}
		at := c.Now().Add(time.Duration(i) * time.Minute)
		if text == "old" {
			at = c.Now().Add(-drafts.Keep - time.Minute)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	got, err := f.Kept()
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	for i, want := range []string{"two", "one"} {
		if text, err := f.ReadKept(got[i].Name); err != nil || text != want {
			t.Errorf("%s: %q, %v", got[i].Name, text, err)
		}
	}
	for _, name := range []string{"../lock", "/etc/passwd", "none"} {
		if text, err := f.ReadKept(name); err == nil {
			t.Errorf("%s: %q", name, text)
		}
	}
}
