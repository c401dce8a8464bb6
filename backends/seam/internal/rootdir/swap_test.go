package rootdir_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

var day = time.Date(2026, 5, 21, 10, 11, 12, 0, time.UTC)

func seen(text string) rootdir.Seen { return rootdir.Seen{Exists: true, Data: []byte(text)} }

// swapDir is a directory in which fn runs at a step of a change.
func swapDir(t *testing.T, content map[string]string, at rootdir.Step, fn func(dir string) error) (*rootdir.Dir, string) {
	t.Helper()
	if !rootdir.CanExchange {
		t.Skip("this system cannot exchange two files")
	}
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	done := false
	d, err := rootdir.Open(dir, func(s rootdir.Step) error {
		if s != at || fn == nil || done {
			return nil
		}
		done = true
		return fn(dir)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, dir
}

// contents are a directory's files by name; unfinished ones have the name "temp".
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		name := e.Name()
		if strings.Contains(name, ".tmp.") {
			name = "temp"
		}
		out[name] = string(data)
	}
	return out
}

func wantContents(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := contents(t, dir)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

func replaceFile(dir, name, text string) error {
	temp := filepath.Join(dir, "foreign")
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, name))
}

func TestSwapAgainstAWriterWithoutLocks(t *testing.T) {
	const copyName = "f (conflict 2026-05-21-10-11-12).md"
	tests := []struct {
		name    string
		at      rootdir.Step
		meddle  func(dir string) error
		changed bool
		want    map[string]string
	}{
		{"nobody", "", nil, false, map[string]string{"f.md": "new"}},
		{"renamed over before", rootdir.StepRename, func(dir string) error { return replaceFile(dir, "f.md", "foreign") }, true, map[string]string{"f.md": "foreign"}},
		{"written in place before", rootdir.StepRename, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "f.md"), []byte("foreign"), 0o644)
		}, true, map[string]string{"f.md": "foreign"}},
		{"the same bytes by another", rootdir.StepRename, func(dir string) error { return replaceFile(dir, "f.md", "old") }, false, map[string]string{"f.md": "new"}},
		{"removed before", rootdir.StepRename, func(dir string) error { return os.Remove(filepath.Join(dir, "f.md")) }, true, map[string]string{}},
		{"overtaken at once", rootdir.StepSyncDir, func(dir string) error { return replaceFile(dir, "f.md", "later") }, false, map[string]string{"f.md": "later", copyName: "new"}},
		{"added to at once", rootdir.StepSyncDir, func(dir string) error { return replaceFile(dir, "f.md", "new and more") }, false, map[string]string{"f.md": "new and more"}},
		{"dead after the exchange", rootdir.StepExchange, func(string) error { return rootdir.ErrCrash }, false, map[string]string{"f.md": "new", "temp": "old"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, dir := swapDir(t, map[string]string{"f.md": "old"}, tt.at, tt.meddle)
			_, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o644}, day, nil)
			if errors.Is(err, rootdir.ErrChanged) != tt.changed || tt.changed && !errors.Is(err, model.Conflict) {
				t.Errorf("err = %v", err)
			}
			wantContents(t, dir, tt.want)
		})
	}
}

// TestSwapSyncsTheRemoval: the old text is removed after the new one is durable, and the directory is synced
// once more, or the old text is back after a power loss.
func TestSwapSyncsTheRemoval(t *testing.T) {
	if !rootdir.CanExchange {
		t.Skip("this system cannot exchange two files")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.md"), []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	var synced []map[string]string
	d, err := rootdir.Open(dir, func(s rootdir.Step) error {
		if s == rootdir.StepSyncDir {
			synced = append(synced, contents(t, dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o640}, day, nil); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{{"f.md": "new", "temp": "old"}, {"f.md": "new"}}
	if fmt.Sprint(synced) != fmt.Sprint(want) {
		t.Errorf("synced with %q, want %q", synced, want)
	}
}

// TestSwapTwoForeignWrites: a second foreign write happens between the exchange and the exchange back.
// The file is changed by then, so an undo of the change has to stay possible.
func TestSwapWithoutRoomForTheCopyIsNotUnchanged(t *testing.T) {
	if !rootdir.CanExchange {
		t.Skip("this system cannot exchange two files")
	}
	for _, full := range []rootdir.Step{rootdir.StepCreate, rootdir.StepWrite, rootdir.StepSync} {
		dir := t.TempDir()
		if err := replaceFile(dir, "f.md", "old"); err != nil {
			t.Fatal(err)
		}
		over := false
		d, err := rootdir.Open(dir, func(s rootdir.Step) error {
			switch {
			case s == rootdir.StepSyncDir && !over:
				over = true
				return replaceFile(dir, "f.md", "foreign")
			case s == full && over:
				return syscall.ENOSPC
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		got, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o600}, day, nil)
		if !errors.Is(err, syscall.ENOSPC) || !got.Overtaken || model.Unchanged(err) {
			t.Errorf("%s: %+v, %v, unchanged %v: want a change of unknown outcome", full, got, err, model.Unchanged(err))
		}
	}
}

func TestSwapTwoForeignWrites(t *testing.T) {
	d, dir := swapDir(t, map[string]string{"f.md": "first foreign"}, rootdir.StepExchange, func(dir string) error {
		return replaceFile(dir, "f.md", "second foreign")
	})
	res, err := d.Swap("f.md", seen("what was seen"), []byte("new"), rootdir.New{Mode: 0o644}, day, nil)
	if !errors.Is(err, rootdir.ErrChanged) || len(res.Copies) != 1 {
		t.Errorf("swap: %+v, %v", res, err)
	}
	wantContents(t, dir, map[string]string{"f.md": "first foreign", "f (conflict 2026-05-21-10-11-12).md": "second foreign"})
}

// TestSwapWrittenIntoTheNewFile: a writer appends to the new file before it is exchanged back.
func TestSwapWrittenIntoTheNewFile(t *testing.T) {
	d, dir := swapDir(t, map[string]string{"f.md": "foreign"}, rootdir.StepExchange, func(dir string) error {
		return appendTo(filepath.Join(dir, "f.md"), " and more")
	})
	if _, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o644}, day, nil); !errors.Is(err, rootdir.ErrChanged) {
		t.Errorf("err = %v", err)
	}
	wantContents(t, dir, map[string]string{"f.md": "foreign", "f (conflict 2026-05-21-10-11-12).md": "new and more"})
}

// TestSwapHeldOpen: a writer that keeps the old file open writes to a copy.
func TestSwapHeldOpen(t *testing.T) {
	d, dir := swapDir(t, map[string]string{"f.md": "old"}, "", nil)
	f, err := os.OpenFile(filepath.Join(dir, "f.md"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o644}, day, nil)
	if err != nil || len(res.Copies) != 1 {
		t.Fatalf("swap: %+v, %v", res, err)
	}
	if _, err := f.WriteString(" and late"); err != nil {
		t.Fatal(err)
	}
	wantContents(t, dir, map[string]string{"f.md": "new", "f (conflict 2026-05-21-10-11-12).md": "old and late"})
}

func TestTakeAgainstAWriterWithoutLocks(t *testing.T) {
	d, dir := swapDir(t, map[string]string{"f.md": "old"}, rootdir.StepRemove, func(dir string) error { return replaceFile(dir, "f.md", "foreign") })
	if _, err := d.Take("f.md", seen("old"), day, nil); !errors.Is(err, rootdir.ErrChanged) {
		t.Errorf("err = %v", err)
	}
	wantContents(t, dir, map[string]string{"f.md": "foreign"})
	if _, err := d.Take("f.md", seen("foreign"), day, nil); err != nil {
		t.Error(err)
	}
	wantContents(t, dir, map[string]string{})

	d, dir = swapDir(t, map[string]string{"f.md": "old"}, "", nil)
	f, err := os.OpenFile(filepath.Join(dir, "f.md"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := d.Take("f.md", seen("old"), day, nil); !errors.Is(err, model.Locked) {
		t.Errorf("a file that is open for writing: %v", err)
	}
	wantContents(t, dir, map[string]string{"f.md": "old"})
}

func TestSwapKeepsModeAndGuards(t *testing.T) {
	d, dir := swapDir(t, map[string]string{"f.md": "old"}, "", nil)
	must(t, os.Chmod(filepath.Join(dir, "f.md"), 0o640)) // whatever the umask is
	no := model.Errorf(model.Locked, "lock", "gone")
	if _, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o600}, day, func() error { return no }); !errors.Is(err, model.Locked) {
		t.Errorf("a guard that refuses: %v", err)
	}
	wantContents(t, dir, map[string]string{"f.md": "old"})
	if _, err := d.Swap("f.md", seen("old"), []byte("new"), rootdir.New{Mode: 0o600}, day, nil); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Join(dir, "f.md")); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}

func TestSwapMakesOnlyWhatIsAbsent(t *testing.T) {
	d, dir := swapDir(t, nil, rootdir.StepRename, func(dir string) error { return replaceFile(dir, "f.md", "foreign") })
	if _, err := d.Swap("f.md", rootdir.Seen{}, []byte("new"), rootdir.New{Mode: 0o644}, day, nil); !errors.Is(err, rootdir.ErrChanged) {
		t.Errorf("err = %v", err)
	}
	wantContents(t, dir, map[string]string{"f.md": "foreign"})
}

func TestCopyName(t *testing.T) {
	long := strings.Repeat("\u00e9", 120) + ".md"
	for _, tt := range []struct {
		base string
		n    int
		want string
	}{
		{"note.md", 0, "note (conflict 2026-05-21-10-11-12).md"},
		{"note.md", 2, "note (conflict 2026-05-21-10-11-12) (2).md"},
		{"note", 0, "note (conflict 2026-05-21-10-11-12)"},
		{".hidden", 0, ".hidden (conflict 2026-05-21-10-11-12)"},
		{"a.b.md", 0, "a.b (conflict 2026-05-21-10-11-12).md"},
	} {
		if got := rootdir.CopyName(tt.base, day, tt.n); got != tt.want {
			t.Errorf("CopyName(%q, %d) = %q", tt.base, tt.n, got)
		}
	}
	if got := rootdir.CopyName(long, day, 0); len(got) > 255 || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("a long name becomes %d bytes: %q", len(got), got)
	}
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestNothingIsLost: writers append in place, without locks, to a file that two others exchange; every
// line of all of them must be in the file or in a copy.
func TestNothingIsLost(t *testing.T) {
	rounds := 150
	if os.Getenv("MEMDESK_SOAK") != "" {
		rounds = 10_000
	}
	d, dir := swapDir(t, map[string]string{"f.md": "start\n"}, "", nil)
	path := filepath.Join(dir, "f.md")
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for n := range rounds {
				line := fmt.Sprintf("swap %d %d\n", w, n)
				for {
					old, _, err := d.Read("f.md", 0)
					if errors.Is(err, model.NotFound) {
						continue
					}
					if err == nil {
						_, err = d.Swap("f.md", seen(string(old)), append(old, line...), rootdir.New{Mode: 0o644}, day, nil)
					}
					if err == nil {
						break
					}
					if !errors.Is(err, model.Conflict) {
						t.Errorf("swap: %v", err)
						return
					}
				}
			}
		})
		wg.Go(func() {
			for n := range rounds {
				for {
					err := appendTo(path, fmt.Sprintf("append %d %d\n", w, n))
					if err == nil {
						break
					}
					if !errors.Is(err, os.ErrNotExist) {
						t.Errorf("append: %v", err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	all := ""
	for name, text := range contents(t, dir) {
		if name == "temp" {
			t.Error("an unfinished write is left")
		}
		all += text
	}
	lost := 0
	for w := range 2 {
		for n := range rounds {
			for _, who := range []string{"swap", "append"} {
				if !strings.Contains(all, fmt.Sprintf("%s %d %d\n", who, w, n)) {
					lost++
				}
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d lines are lost", lost, 4*rounds)
	}
}

func TestNamesAreThoseOfTheDirectory(t *testing.T) {
	d, dir := swapDir(t, nil, "", nil)
	want := map[string]bool{}
	for n := range 3000 { // more than one buffer
		name := fmt.Sprintf("%s-%d", strings.Repeat("n", n%90+1), n)
		want[name] = n%7 == 0
		var err error
		if want[name] {
			err = os.Mkdir(filepath.Join(dir, name), 0o755)
		} else {
			err = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	want["link"] = false
	seen := 0
	if err := d.Names(".", func(name []byte, isDir bool) bool {
		if is, ok := want[string(name)]; !ok || is != isDir {
			t.Errorf("%q: %v, known %v", name, isDir, ok)
		}
		seen++
		return true
	}); err != nil || seen != len(want) {
		t.Errorf("%d of %d names, %v", seen, len(want), err)
	}
	seen = 0
	if err := d.Names(".", func([]byte, bool) bool { seen++; return seen < 5 }); err != nil || seen != 5 {
		t.Errorf("the walk went on: %d, %v", seen, err)
	}
}

// TestANameThatLeavesNoRoom: other programs make names as long as the file system takes, and these are written
// and removed too.
func TestANameThatLeavesNoRoom(t *testing.T) {
	for _, name := range []string{strings.Repeat("n", 252) + ".md", "n" + strings.Repeat("é", 127)} {
		d, dir := swapDir(t, map[string]string{name: "old"}, "", nil)
		if _, err := d.Swap(name, seen("old"), []byte("new"), rootdir.New{Mode: 0o644}, day, nil); err != nil {
			t.Errorf("swap: %v", err)
		}
		wantContents(t, dir, map[string]string{name: "new"})
		must(t, d.Write(name, []byte("newer"), rootdir.New{Mode: 0o644}))
		wantContents(t, dir, map[string]string{name: "newer"})
		if _, err := d.Take(name, seen("newer"), day, nil); err != nil {
			t.Errorf("take: %v", err)
		}
		wantContents(t, dir, nil)
	}
}
