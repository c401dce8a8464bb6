package operator

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"memdesk/model"
)

// teller is a watcher that reports given changes.
type teller struct{ changes chan model.Change }

func (w teller) Watch(context.Context) (<-chan model.Change, error) { return w.changes, nil }

// TestStampsTellChanges: a watched store's stamp changes by its watcher's reports, a file store's by the
// file, and any other has no stamp. A listener must be told when watching ends, and can start it again.
func TestStampsTellChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewChanges(t.Context())
		w := teller{make(chan model.Change)}
		st := model.Store{Name: "s", Watcher: w}
		if early := c.Stamp(st); early != "" {
			t.Errorf("before the watcher has begun: stamp %q; want none", early)
		}
		synctest.Wait()
		before := c.Stamp(st)
		var told []model.Change
		ended := false
		if !c.hear(st, func(ch model.Change, last bool) { told, ended = append(told, ch), last }) {
			t.Fatal("a watched store is not heard")
		}
		if again := c.Stamp(st); before == "" || again != before {
			t.Errorf("stamps %q and %q; want the same, and some", before, again)
		}
		w.changes <- model.Change{ID: "a"}
		synctest.Wait()
		if after := c.Stamp(st); after == before || len(told) != 1 || told[0].ID != "a" || ended {
			t.Errorf("after a change: stamp %q, was %q; told %v, ended %v", after, before, told, ended)
		}
		close(w.changes)
		synctest.Wait()
		if !ended || len(told) != 2 || !told[1].Lost {
			t.Errorf("at the end: told %v, ended %v; want one that says that changes were lost", told, ended)
		}
		c.Stamp(st)
		synctest.Wait()
		if anew := c.Stamp(st); anew == before {
			t.Errorf("watched anew: stamp %q, as before what was missed", anew)
		}
	})
	c, file := NewChanges(t.Context()), filepath.Join(t.TempDir(), "db")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "one")
	first := c.Stamp(model.Store{Name: "db", Location: file})
	write(file+"-wal", "a write")
	if second := c.Stamp(model.Store{Name: "db", Location: file}); first == "" || second == first {
		t.Errorf("a file: stamps %q, %q; want two", first, second)
	}
	for _, st := range []model.Store{{Name: "dir", Location: filepath.Dir(file)}, {Name: "far", Location: "https://example.test"}, {Name: "gone", Location: file + "x"}} {
		if got := c.Stamp(st); got != "" {
			t.Errorf("%s: stamp %q; want none", st.Name, got)
		}
	}
}
