package gdpr_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/model"
)

// TestASweepBesideWhatIsOnHold: rows and index lines of an item on hold stay with it, so they bring nobody back; a line of another item does.
func TestASweepBesideWhatIsOnHold(t *testing.T) {
	w := newWorld(t)
	const below = "projects/-a/memory/"
	dir := filepath.Join(w.dir, "claude")
	plant(t, dir, map[string]string{below + "MEMORY.md": "- [Ana Zxribeiro](ana-zxribeiro.md) — her " + mail + "\n- [Tea](tea.md) — green\n", below + "ana-zxribeiro.md": "likes rye", below + "tea.md": "is hot"})
	path := liteStore(t, w, "mem0", `CREATE TABLE vectors (id TEXT PRIMARY KEY, vector BLOB, payload TEXT NOT NULL)`,
		`ALTER TABLE vectors ADD note TEXT`,
		`INSERT INTO vectors VALUES ('t1', x'00', '{"data":"likes rye","user_id":"`+ana+`"}', 'said by `+name+`')`)
	past := filepath.Join(filepath.Dir(path), "past.db")
	execFile(t, past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('t1', 'called `+name+` once', 'ADD')`)
	w.more = append(w.more, backends.StoreConfig{Name: "claude", Kind: "claude", Path: dir})
	w.open()
	r := w.file()
	w.hold(r.ID, "claude", below+"ana-zxribeiro.md")
	w.hold(r.ID, "mem0", "t1")
	w.inScope(w.plan(r.ID))
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) > 0 {
		t.Errorf("%+v, %q, %v; want nobody", swept, problems, err)
	}
	execFile(t, past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('t2', 'called `+name+` once', 'ADD')`)
	swept, problems, err = w.desk.Sweep(t.Context(), w.fleet, "", nil)
	if err != nil || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateInScope {
		t.Errorf("%+v, %q, %v; want her once", swept, problems, err)
	}
}

// TestAHoldCostsNoSearch: what is on hold in one store says nothing of a name in another one, so that a person who is back
// there is erased by the plan of the request alone; where it is in the same store, the plan that says so is carried out.
func TestAHoldCostsNoSearch(t *testing.T) {
	t.Parallel()
	var searches []int
	for _, hold := range []string{"", "db", "vault"} {
		w := newWorld(t)
		dir := filepath.Join(w.dir, "vault")
		plant(t, dir, map[string]string{"memory/idea/rye.md": "# Rye\n"})
		w.more = append(w.more, backends.StoreConfig{Name: "vault", Kind: "vault", Path: dir})
		w.open()
		ids := map[string]string{"db": w.put("db", model.RetainRequest{Tier: "longterm", Key: "rye", Content: "likes rye"}), "vault": "memory/idea/rye.md"}
		if hold != "" {
			w.hold(w.fileFor(other).ID, hold, ids[hold])
		}
		w.complete(w.plan(w.file().ID))
		plant(t, dir, map[string]string{"memory/idea/tea.md": "# Tea of " + name + "\n"})
		n := 0
		w.extra = append(w.extra, func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			if c.Op == model.OpTexts && c.Store.Name == "db" {
				n++
			}
			return next(ctx)
		})
		w.open()
		if swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(swept) != 1 {
			t.Errorf("%+v, %q, %v; want her once", swept, problems, err)
		}
		searches = append(searches, n)
	}
	if searches[0] == 0 || searches[0] != searches[1] || searches[0] != searches[2] {
		t.Errorf("db is read %d times without a hold, and %d times with one", searches[0], searches[1:])
	}
}

// TestASpellingPutAsideIsNoTermMore: a spelling in a store, and one put aside that the same search finds, are one term.
func TestASpellingPutAsideIsNoTermMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open()
	w.complete(w.plan(w.file().ID))
	dir := filepath.Join(w.dir, "vault")
	plant(t, dir, map[string]string{"memory/idea/tea.md": "# Tea of " + name + "\n"})
	w.more = append(w.more, backends.StoreConfig{Name: "vault", Kind: "vault", Path: dir})
	w.open()
	plant(t, w.desk.State, map[string]string{filepath.Join("edit", "kept", "20260527-083015-tea.md"): "a draft for " + strings.ToUpper(name) + "\n"})
	_, _, err := w.desk.Sweep(t.Context(), w.fleet, "", func(p gdpr.Plan) error {
		r, err := w.desk.Get(p.Request)
		if err == nil && len(r.Terms()) != 1 {
			t.Errorf("the request is for %q; want one spelling", r.Terms())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
