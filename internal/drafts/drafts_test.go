package drafts_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/drafts"
)

var now = time.Now()

func folder(t *testing.T, dir string, at time.Time) *drafts.Folder {
	t.Helper()
	return drafts.New(dir, clock.Fixed(at), func() error { return nil })
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDraftIsPrivateAndGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	f := folder(t, dir, now)
	d, err := f.Open("../\x1b[31m/notes.md", "body\n")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(filepath.Base(d.Path()), "\x1b/") || !strings.HasPrefix(d.Path(), dir) {
		t.Errorf("path %q", d.Path())
	}
	for path, want := range map[string]os.FileMode{d.Path(): 0o600, dir: 0o700, filepath.Dir(d.Path()): 0o700} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, st.Mode(), err)
		}
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if kept, err := f.Close(); err != nil || len(kept) > 0 {
		t.Errorf("kept %q, %v", kept, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

// Typed text must survive the end of the session, a crash and the sweep after it; unchanged text must
// be removed.
func TestChangedTextSurvives(t *testing.T) {
	for _, how := range []string{"close", "crash"} {
		t.Run(how, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "edit")
			f := folder(t, dir, now)
			same, err := f.Open("same.md", "as it was")
			if err != nil {
				t.Fatal(err)
			}
			other, err := f.Open("other.md", "as it was")
			if err != nil {
				t.Fatal(err)
			}
			// An editor writes a new file and renames it, and leaves a backup.
			if err := os.WriteFile(other.Path()+"~", []byte("older"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(other.Path()+".new", []byte("typed"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(other.Path()+".new", other.Path()); err != nil {
				t.Fatal(err)
			}
			var kept []string
			if how == "close" {
				kept, err = f.Close()
			} else {
				if kept, err := folder(t, dir, now).Sweep(); err != nil || len(kept) > 0 {
					t.Fatalf("a session that lives was swept: %q, %v", kept, err)
				}
				if read(t, other.Path()) != "typed" {
					t.Fatal("a session that lives has lost its draft")
				}
				f.Abandon()
				kept, err = folder(t, dir, now).Sweep()
			}
			if err != nil || len(kept) != 1 || read(t, kept[0]) != "typed" {
				t.Fatalf("kept %q, %v", kept, err)
			}
			if st, _ := os.Stat(kept[0]); st.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", st.Mode())
			}
			if _, err := os.Stat(same.Path()); err == nil {
				t.Error("an untouched draft is still there")
			}
			if _, err := folder(t, dir, now).Sweep(); err != nil || read(t, kept[0]) != "typed" {
				t.Errorf("a second sweep: %v", err)
			}
			ahead := folder(t, dir, now.Add(400*24*time.Hour))
			ahead.Believed = func(time.Time) time.Time { return now.Add(24 * time.Hour) }
			if _, err := ahead.Sweep(); err != nil || read(t, kept[0]) != "typed" {
				t.Errorf("a sweep by a clock that leapt ahead: %v", err)
			}
			if _, err := folder(t, dir, now.Add(drafts.Keep+2*time.Hour)).Sweep(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(kept[0]); err == nil {
				t.Error("it is kept for ever")
			}
		})
	}
}

func TestKeepNamesDoNotCollide(t *testing.T) {
	f := folder(t, filepath.Join(t.TempDir(), "edit"), now)
	seen := map[string]string{}
	for _, text := range []string{"one", "two", "three"} {
		d, err := f.Open("a.md", text)
		if err != nil {
			t.Fatal(err)
		}
		path, err := d.Keep()
		if err != nil {
			t.Fatal(err)
		}
		seen[path] = text
	}
	if len(seen) != 3 {
		t.Fatalf("kept %v", seen)
	}
	for path, text := range seen {
		if read(t, path) != text {
			t.Errorf("%s holds %q", path, read(t, path))
		}
	}
}

func TestSweepMakesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	if kept, err := folder(t, dir, now).Sweep(); err != nil || len(kept) > 0 {
		t.Errorf("%q, %v", kept, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made")
	}
}

// TestAWriteLeavesTheEarlierTextWhole: the file must not be written in place, and what a cut-off write leaves must not
// be offered as a text.
func TestAWriteLeavesTheEarlierTextWhole(t *testing.T) {
	f := folder(t, filepath.Join(t.TempDir(), "edit"), now)
	d, err := f.Open("a.md", "as it was")
	if err != nil {
		t.Fatal(err)
	}
	earlier, err := os.Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer earlier.Close()
	if err := d.Write("typed"); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(earlier); string(b) != "as it was" || err != nil {
		t.Errorf("the earlier file holds %q, %v", b, err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(d.Path()), ".a.md.tmp.0123456789abcdef"), []byte("ty"), 0o600); err != nil {
		t.Fatal(err)
	}
	if kept, err := f.Close(); err != nil || len(kept) != 1 || read(t, kept[0]) != "typed" {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// TestErase: texts that name a subject must go from the kept ones, even those of an interrupted
// session; a text being edited must stay.
func TestErase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	f := folder(t, dir, now)
	put := func(f *drafts.Folder, name, text string) *drafts.Draft {
		d, err := f.Open(name, "before\n")
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Write(text); err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, text := range map[string]string{"a.md": "about hers", "b.md": "about his", "hers.md": "nothing"} {
		if _, err := put(f, name, text).Keep(); err != nil {
			t.Fatal(err)
		}
	}
	live := put(f, "live.md", "hers, being edited")
	about := func(name string, text []byte) bool {
		return strings.Contains(name, "hers") || strings.Contains(string(text), "hers")
	}
	if n, err := folder(t, dir, now).Erase(about); err != nil || n != 2 {
		t.Errorf("erased %d, %v; want 2", n, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "kept", "*"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], "b.md") {
		t.Errorf("left %v, %v", left, err)
	}
	if text := read(t, live.Path()); text != "hers, being edited" {
		t.Errorf("the open draft holds %q", text)
	}
	if n, err := folder(t, filepath.Join(dir, "absent"), now).Erase(about); n != 0 || err != nil {
		t.Errorf("without a folder: %d, %v", n, err)
	}
}

// TestATextOfAnyNameSurvives: a text whose own name looks like an editor's backup is no backup.
func TestATextOfAnyNameSurvives(t *testing.T) {
	for _, name := range []string{"plan.bak", "plan~", "lock"} {
		f := folder(t, filepath.Join(t.TempDir(), "edit"), now)
		d, err := f.Open(name, "as it was")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.Path(), []byte("typed"), 0o600); err != nil {
			t.Fatal(err)
		}
		kept, err := f.Close()
		if err != nil || len(kept) != 1 || read(t, kept[0]) != "typed" {
			t.Errorf("%s: kept %q, %v", name, kept, err)
		}
	}
}

// TestAnOldTextIsKeptFromTheDayOnWhichItIsPutAside: the time of its last change does not count.
func TestAnOldTextIsKeptFromTheDayOnWhichItIsPutAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	f := folder(t, dir, now)
	d, err := f.Open("notes.md", "as it was")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Path(), []byte("typed"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := now.Add(-drafts.Keep - time.Hour)
	if err := os.Chtimes(d.Path(), old, old); err != nil {
		t.Fatal(err)
	}
	if err := f.Leave(); err != nil { // the operator is gone
		t.Fatal(err)
	}
	next := folder(t, dir, now)
	kept, err := next.Sweep()
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %q, %v", kept, err)
	}
	if text := read(t, kept[0]); text != "typed" {
		t.Errorf("it is %q", text)
	}
	if all, err := next.Kept(); err != nil || len(all) != 1 {
		t.Errorf("listed %v, %v", all, err)
	}
}
