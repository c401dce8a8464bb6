package drafts_test

import (
	"errors"
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

// A note must accompany its text: it must be put aside with it, even after an interrupted session, and
// be removed with it.
func TestNotes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	c := clock.Fixed(time.Now())
	open := func() *drafts.Folder { return drafts.New(dir, c, func() error { return nil }) }
	f := open()
	write := func(f *drafts.Folder, note, text string) *drafts.Draft {
		t.Helper()
		d, err := f.Open("name.md", "as it was")
		if err != nil {
			t.Fatal(err)
		}
		if note != "" {
			if err := d.Note(note); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Write(text); err != nil {
			t.Fatal(err)
		}
		return d
	}
	keep := func(d *drafts.Draft) {
		t.Helper()
		if _, err := d.Keep(); err != nil {
			t.Fatal(err)
		}
	}
	keep(write(f, "of a", "one"))
	keep(write(f, "", "two"))
	if err := write(f, "of nothing", "thrown away").Discard(); err != nil {
		t.Fatal(err)
	}
	write(f, "of c", "three") // the session is interrupted
	if err := f.Leave(); err != nil {
		t.Fatal(err)
	}
	f = open()
	if _, err := f.Sweep(); err != nil {
		t.Fatal(err)
	}
	notes := map[string]string{}
	all := func() map[string]string {
		t.Helper()
		got, err := f.Kept()
		if err != nil {
			t.Fatal(err)
		}
		clear(notes)
		for _, k := range got {
			text, _ := f.ReadKept(k.Name)
			notes[text] = k.Note
			if text == "three" && len(got) == 3 {
				if err := f.Drop(k.Name); err != nil {
					t.Fatal(err)
				}
				if _, err := f.ReadKept(k.Name); !errors.Is(err, drafts.ErrGone) { // a list may still show it
					t.Errorf("a dropped text: %v", err)
				}
			}
		}
		return notes
	}
	if got := all(); len(got) != 3 || got["one"] != "of a" || got["two"] != "" || got["three"] != "of c" {
		t.Fatalf("%q", got)
	}
	if got := all(); len(got) != 2 || got["three"] != "" {
		t.Fatalf("after the drop %q", got)
	}
	for _, name := range []string{"../lock", "/etc/passwd", "."} {
		if err := f.Drop(name); err == nil {
			t.Errorf("%s was dropped", name)
		}
	}
	// A note alone may name a subject.
	n, err := f.Erase(func(_ string, text []byte) bool { return string(text) == "of a" })
	if err != nil || n != 1 {
		t.Fatalf("erased %d, %v", n, err)
	}
	left, _ := os.ReadDir(filepath.Join(dir, "notes"))
	if got := all(); len(got) != 1 || len(left) != 0 {
		t.Fatalf("left %q, notes %v", got, left)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes", "orphan"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Sweep(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "notes")); len(left) != 0 {
		t.Errorf("a note without a text stays: %v", left)
	}
}

// TestKeptTextsAreForThoseWhoMayRead: a refused reader gets neither the list nor a text.
func TestKeptTextsAreForThoseWhoMayRead(t *testing.T) {
	f := folder(t, t.TempDir(), time.Now())
	d, err := f.Open("a.md", "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write("mine"); err != nil {
		t.Fatal(err)
	}
	path, err := d.Keep()
	if err != nil {
		t.Fatal(err)
	}
	no := errors.New("your role does not read texts")
	f.May = func() error { return no }
	if all, err := f.Kept(); !errors.Is(err, no) || len(all) > 0 {
		t.Errorf("Kept: %v, %v", all, err)
	}
	if text, err := f.ReadKept(filepath.Base(path)); !errors.Is(err, no) || text != "" {
		t.Errorf("ReadKept: %q, %v", text, err)
	}
}
