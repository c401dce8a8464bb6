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
	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// TestKindsAreKept: a second process must open only one note of each class, and the changed ones; it
// must list the same, and the kept data must identify no subject.
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
	known := KnownFile(dir, func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	open := func() (opened int64, tiers []model.TierCount, page model.Page) {
		tree, err := seam.OpenDir(dir, seam.DirOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Open(t.Context(), Config{Name: "v", Kind: "vault", Path: dir, Tree: tree, Known: known})
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
	data, err := os.ReadFile(known)
	if err != nil || bytes.Contains(data, []byte("jane")) {
		t.Fatalf("kept: %v", err)
	}
	second, again, paged := open()
	if fmt.Sprint(again) != fmt.Sprint(tiers) || fmt.Sprint(paged.Total, len(paged.Items)) != fmt.Sprint(page.Total, len(page.Items)) {
		t.Errorf("%v, %v\nbefore: %v, %v", again, paged.Total, tiers, page.Total)
	}
	if second > 6*readers { // at most one note of each class per reader
		t.Errorf("the second process opened %d notes", second)
	}
	write(0, "jane-doe", "live")
	third, _, changed := open()
	if third > 6*readers+1 || changed.Total.N != page.Total.N+1 {
		t.Errorf("after a change it opened %d and lists %v, before %v", third, changed.Total, page.Total)
	}
}

// TestResident: a store that stays open must show others' writes at once, and read only the directories
// that changed.
func TestResident(t *testing.T) {
	dir := t.TempDir()
	write := func(id, text string) {
		at := filepath.Join(dir, filepath.FromSlash(id))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 {
		write(fmt.Sprintf("d%d/n%02d.md", i%4, i), "---\nkind: idea\n---\nharbour\n")
	}
	tree, err := seam.OpenDir(dir, seam.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(t.Context(), Config{Name: "v", Kind: "vault", Path: dir, Tree: tree})
	if err != nil {
		t.Fatal(err)
	}
	s := m.Provider.(*store)
	walk.StaysOpen = 0
	t.Cleanup(func() { walk.StaysOpen = time.Second })
	s.changed() // so that the next check walks
	total := func() int64 {
		t.Helper()
		page, err := m.Browser.List(t.Context(), model.PageRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return page.Total.N
	}
	if n := total(); n != 40 {
		t.Fatal(n)
	}
	if !s.follows() {
		t.Skipf("it is not followed here: %v", s.resident.Walked())
	}
	before := s.snap
	if total(); s.snap != before {
		t.Error("nothing changed, and it walked")
	}
	recalls := func(word string) int {
		t.Helper()
		res, err := m.Provider.Recall(t.Context(), model.RecallRequest{Query: word})
		if err != nil {
			t.Fatal(err)
		}
		return len(res.Hits)
	}
	if n := recalls("harbour"); n != 20 {
		t.Errorf("%d hits", n)
	}
	for _, f := range s.snap.tree.All() {
		if sign := f.Sign(linesearch.GramWords); sign == nil || sign[0].Load() == 0 || texts.Dismissed(f, linesearch.Whole("harbour")) || !texts.Dismissed(f, linesearch.Whole("zebra")) {
			t.Fatalf("nothing was learned of %s", f.Path())
		}
	}
	write("d1/new.md", "---\nkind: fix\n---\nlighthouse\n")
	if n, hits := total(), recalls("lighthouse"); n != 41 || hits != 1 || s.snap.opened != 1 {
		t.Errorf("after a write: %d items, %d hits, %d notes opened", n, hits, s.snap.opened)
	}
	write("d1/new.md", "---\nkind: fix\n---\nlighter bar\n") // of equal length, at the same time
	if recalls("lighthouse") != 0 || recalls("lighter bar") != 1 {
		t.Error("a search goes by what a text was")
	}
	page, err := m.Browser.List(t.Context(), model.PageRequest{Query: "LIGHTER"})
	if err != nil || page.Total.N != 1 {
		t.Errorf("the filter finds %v, %v", page.Total, err)
	}
	write("d1/new.md", "---\nstatus: deleted\n---\nlighthouse\n")
	if n := total(); n != 40 {
		t.Errorf("after a status: %d items", n)
	}
	write("d9/e/f.md.tmp.0123456789abcdef", "what was cut off")
	write("d9/e/f.md", "deep")
	if n := total(); n != 41 || len(s.snap.tree.Aside) != 1 {
		t.Errorf("after a new directory: %d items, %q aside", n, s.snap.tree.Aside)
	}
	if total(); len(s.snap.tree.Aside) != 1 {
		t.Errorf("what is aside was lost: %q", s.snap.tree.Aside)
	}
	if _, err := m.Provider.Forget(t.Context(), model.ForgetRequest{ID: "d9/e/f.md"}); err != nil || total() != 40 {
		t.Errorf("after a forget: %d items, %v", total(), err)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil { // another directory: the system drops events
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(dir+"-away")); err != nil {
		t.Fatal(err)
	}
	if write("d2/late.md", "late"); total() != 41 || s.follows() || len(s.resident.Walked()) == 0 {
		t.Errorf("unfollowed: %d items; %v", total(), s.resident.Walked())
	}
	if st := s.observe(t.Context()); len(st) == 0 || st[0].Kind != "walked" || st[0].State != model.HealthOK {
		t.Errorf("health says nothing of it: %+v", st)
	}
	if write("d2/later.md", "late"); total() != 42 {
		t.Errorf("walked: %d items", total())
	}
	if total() != 42 || m.Close() != nil || s.follows() {
		t.Error("it is followed after it was closed")
	}
}
