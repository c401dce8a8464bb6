package gdpr_test

import (
	"path/filepath"

	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
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
	swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, nil)
	if err != nil || len(swept) > 0 {
		t.Errorf("%+v, %q, %v; want nobody", swept, problems, err)
	}
	execFile(t, past, `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('t2', 'called `+name+` once', 'ADD')`)
	swept, problems, err = w.desk.Sweep(t.Context(), w.fleet, nil)
	if err != nil || len(swept) != 1 || swept[0].Outcome.Status != gdpr.StateInScope {
		t.Errorf("%+v, %q, %v; want her once", swept, problems, err)
	}
}
