package notes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"memdesk/backends/seam"
	"memdesk/model"
)

// TestKindsAreKept: a second process opens a note of each class alone, and those that changed; what
// it lists is the same, and what was kept says nothing of anybody.
func TestKindsAreKept(t *testing.T) {
	defer func(d time.Duration) { settles = d }(settles)
	settles = -time.Hour // the notes are new
	dir, state := t.TempDir(), t.TempDir()
	note := func(i int) string { return filepath.Join(dir, fmt.Sprintf("%02d", i/100), fmt.Sprintf("n%04d.md", i)) }
	write := func(i int, kind, status string) {
		if err := os.WriteFile(note(i), []byte("---\nkind: "+kind+"\nstatus: "+status+"\n---\ntext\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const n = keepFrom + 100
	readers := int64(runtime.GOMAXPROCS(0))
	for i := range n {
		if err := os.MkdirAll(filepath.Dir(note(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		write(i, []string{"idea", "jane-doe"}[i%2], []string{"live", "deleted", "x"}[i%3])
	}
	index, why := OpenIndex(dir, func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	if index == nil {
		t.Fatal(why)
	}
	open := func() (opened int64, tiers []model.TierCount, page model.Page) {
		tree, err := seam.OpenDir(dir, seam.DirOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Open(t.Context(), Config{Name: "v", Kind: "vault", Path: dir, Tree: tree, Index: index})
		if err != nil {
			t.Fatal(err)
		}
		opened = m.Provider.(*store).snap.opened
		if tiers, err = m.Browser.Tiers(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err = m.Browser.List(t.Context(), model.PageRequest{Tier: "jane-doe"})
		if err != nil {
			t.Fatal(err)
		}
		return opened, tiers, page
	}
	first, tiers, page := open()
	if first != n {
		t.Fatalf("the first process opened %d of %d notes", first, n)
	}
	data, err := os.ReadFile(index.known())
	if err != nil || bytes.Contains(data, []byte("jane")) {
		t.Fatalf("kept: %v", err)
	}
	second, again, paged := open()
	if fmt.Sprint(again) != fmt.Sprint(tiers) || fmt.Sprint(paged.Total, len(paged.Items)) != fmt.Sprint(page.Total, len(page.Items)) {
		t.Errorf("%v, %v\nbefore: %v, %v", again, paged.Total, tiers, page.Total)
	}
	if second > 6*readers { // a note of each class, by each reader at most
		t.Errorf("the second process opened %d notes", second)
	}
	write(0, "jane-doe", "live")
	third, _, changed := open()
	if third > 6*readers+1 || changed.Total.N != page.Total.N+1 {
		t.Errorf("after a change it opened %d and lists %v, before %v", third, changed.Total, page.Total)
	}
}
