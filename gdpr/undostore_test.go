package gdpr_test

import (
	"path/filepath"
	"testing"

	"memdesk/backends"
	"memdesk/model"
)

// TestUndoEntriesBelongToTheStore: an entry of a forgotten item goes although its store has another name now, and an
// entry of another store stays, which once had that name.
func TestUndoEntriesBelongToTheStore(t *testing.T) {
	w := newWorld(t)
	open := func(store, file string) {
		t.Helper()
		w.more = []backends.StoreConfig{{Name: store, Kind: "sqlite", Path: filepath.Join(w.dir, file)}}
		w.open()
	}
	rewrite := func(store, was, is string) string {
		t.Helper()
		w.put(store, model.RetainRequest{Tier: "longterm", Key: "n1", Content: was})
		_, e, err := w.desk.Undo.Retain(t.Context(), w.store(store), model.RetainRequest{Tier: "longterm", Key: "n1", Content: is, Mode: model.Replace})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	kind, _ := backends.Builtin().Kind("sqlite")
	for _, file := range []string{"x.sqlite", "y.sqlite"} {
		if err := kind.Create(t.Context(), backends.StoreConfig{Name: "new", Kind: "sqlite", Path: filepath.Join(w.dir, file)}, backends.Env{Clock: w.clock}); err != nil {
			t.Fatal(err)
		}
	}
	open("a", "x.sqlite")
	nobodys := rewrite("a", "rain", "snow")
	open("b", "y.sqlite")
	hers := rewrite("b", "her shoe size is 39", name+" has shoe size 39")
	open("a", "y.sqlite")
	w.complete(w.plan(w.file().ID))
	if _, _, err := w.desk.Undo.Read(hers); model.KindOf(err) != model.NotFound {
		t.Errorf("the entry from before the store had its name: %v; want NotFound", err)
	}
	if _, _, err := w.desk.Undo.Read(nobodys); err != nil {
		t.Errorf("the entry of another store: %v", err)
	}
}
