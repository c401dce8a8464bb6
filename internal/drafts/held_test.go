package drafts_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/internal/drafts"
)

// heldFiles are the files of one held write, by hand: a kill can leave any of them.
func heldFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, "written", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEraseReachesWhatAKilledHoldLeft: a text without its note, and a note under its temporary name.
func TestEraseReachesWhatAKilledHoldLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	heldFiles(t, dir, map[string]string{"w1/note.md": "about Anna", "w2/note.md": "about Ben", ".w2.note.tmp.0123456789abcdef": "about Anna"})
	n, err := folder(t, dir, now).Erase(func(_ string, text []byte) bool { return string(text) == "about Anna" })
	if n != 1 || err != nil {
		t.Errorf("%d erased, %v", n, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "written"))
	if err != nil || len(left) != 1 || left[0].Name() != "w2" {
		t.Errorf("left %v, %v", left, err)
	}
	later := folder(t, dir, now.Add(2*drafts.Keep))
	if _, err := later.Sweep(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "written")); len(left) != 0 {
		t.Errorf("after its time stay %v", left)
	}
}

// TestALossIsFinishedAfterAKill: a write marked as lost whose text is not put aside yet must not count as lost.
func TestALossIsFinishedAfterAKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	heldFiles(t, dir, map[string]string{"w1/note.md": "typed", "w1.lost": "{}"})
	f := folder(t, dir, now)
	all, err := f.Held()
	if err != nil || len(all) != 1 || all[0].Lost {
		t.Fatalf("%+v, %v", all, err)
	}
	if first, err := f.Lose(all[0]); first || err != nil {
		t.Errorf("first %v, %v", first, err)
	}
	kept, err := f.Kept()
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if text, err := f.ReadKept(kept[0].Name); text != "typed" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if all, err := f.Held(); err != nil || len(all) != 1 || !all[0].Lost {
		t.Errorf("afterwards %+v, %v", all, err)
	}
}

// TestHeldOfOneThing: the writes of one thing are found without reading those of others, and those of a memdesk that did not
// name what a write is of are among them.
func TestHeldOfOneThing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "edit")
	heldFiles(t, dir, map[string]string{"w1.note": "old", "bb-2.note/unreadable": ""})
	f := folder(t, dir, now)
	for _, of := range []string{"aa", "cc"} {
		if err := f.Hold(of, "note.md", "new", "typed"); err != nil {
			t.Fatal(err)
		}
	}
	all, err := f.Held("aa")
	if err != nil || len(all) != 2 || all[0].Note != "new" || all[1].Note != "old" {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := f.Held("aa", "cc"); err != nil || len(all) != 3 {
		t.Errorf("of two: %+v, %v", all, err)
	}
	if _, err := f.Held(); err == nil {
		t.Error("one that cannot be read is told by nothing")
	}
}
