package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

const greedyTrigger = `CREATE TRIGGER greedy AFTER DELETE ON nodes BEGIN DELETE FROM nodes WHERE type = 'fact'; END`

// A foreign trigger would run with every write, so the file must open read-only.
func TestAForeignTriggerMakesAStoreReadOnly(t *testing.T) {
	for name, c := range map[string]struct {
		own      bool
		trigger  string
		readOnly bool
	}{
		"recurse without more":            {trigger: ``},
		"recurse, a greedy delete":        {trigger: greedyTrigger, readOnly: true},
		"own schema, a greedy delete":     {own: true, trigger: greedyTrigger, readOnly: true},
		"own schema without more":         {own: true},
		"on a table beside":               {trigger: `CREATE TRIGGER m BEFORE DELETE ON membership BEGIN DELETE FROM hyperedges; END`, readOnly: true},
		"recurse's name and other deeds":  {trigger: `DROP TRIGGER update_node_timestamp; CREATE TRIGGER update_node_timestamp AFTER UPDATE ON nodes BEGIN UPDATE nodes SET updated_at = CURRENT_TIMESTAMP; END`, readOnly: true},
		"two statements, the first known": {trigger: `CREATE TRIGGER two AFTER UPDATE ON nodes BEGIN UPDATE nodes SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; DELETE FROM nodes; END`, readOnly: true},
		"recurse's under another name":    {trigger: `CREATE TRIGGER again AFTER UPDATE OF content ON nodes FOR EACH ROW BEGIN UPDATE nodes SET updated_at = CURRENT_TIMESTAMP WHERE id = NEW.id; END`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			if c.own {
				db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
				must(t, err)
				must(t, db.Close())
			} else {
				runSQL(t, path, recurseDDL(t))
			}
			for _, id := range []string{"a", "b", "c"} {
				plantNode(t, path, id, c.own)
			}
			if c.trigger != "" {
				runSQL(t, path, c.trigger)
			}
			s := openStore(t, path, false)
			defer s.Close()
			if s.ReadOnly != c.readOnly {
				t.Fatalf("read-only: %v, %q", s.ReadOnly, s.ReadOnlyReason)
			}
			_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "a"})
			left := peek(t, path, `SELECT count(*) FROM nodes`)[0]
			switch {
			case c.readOnly && (!errors.Is(err, model.PermissionDenied) || left != "3"):
				t.Errorf("forget: %v, %s nodes are left", err, left)
			case c.readOnly && !strings.Contains(s.ReadOnlyReason, "trigger"):
				t.Errorf("the reason is %q", s.ReadOnlyReason)
			case !c.readOnly && (err != nil || left != "2"):
				t.Errorf("forget: %v, %s nodes are left", err, left)
			}
		})
	}
}

func plantNode(t *testing.T, path, id string, own bool) {
	t.Helper()
	if !own {
		runSQL(t, path, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('%s', 'fact', 'text of %s')`, id, id))
		return
	}
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	must(t, err)
	must(t, db.CreateNode(t.Context(), fact(id, "text of "+id)))
	must(t, db.Close())
}

func TestATriggerThatComesLaterIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	runSQL(t, path, recurseDDL(t))
	plantNode(t, path, "a", false)
	plantNode(t, path, "b", false)
	s := openStore(t, path, false)
	defer s.Close()
	retain := model.RetainRequest{ID: "a", Content: "new", Mode: model.Replace}
	if _, err := s.Provider.Retain(t.Context(), retain); err != nil {
		t.Fatal(err)
	}
	runSQL(t, path, greedyTrigger)
	_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "a"})
	if left := peek(t, path, `SELECT count(*) FROM nodes`)[0]; !errors.Is(err, model.PermissionDenied) || left != "2" {
		t.Errorf("forget: %v, %s nodes are left", err, left)
	}
	runSQL(t, path, `DROP TRIGGER greedy`)
	if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "a"}); err != nil || res.Removed != 1 {
		t.Errorf("without the trigger: %+v, %v", res, err)
	}
}

// A row too large for memory must be listed, named and forgotten, but never read.
func TestARowTooLargeToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	runSQL(t, path, recurseDDL(t),
		fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('big', 'fact', 'needle' || CAST(zeroblob(%d) AS TEXT)), ('small', 'fact', 'a needle')`, hypergraph.MaxText),
		`INSERT INTO hyperedges (id, type, label, metadata) VALUES ('wide', 'relation', 'label', CAST(zeroblob(70000000) AS TEXT))`)
	s := openStore(t, path, false)
	defer s.Close()
	page, err := s.Browser.List(t.Context(), model.PageRequest{Order: model.OrderID, Limit: 10})
	must(t, err)
	sizes := map[string]int64{}
	for _, h := range page.Items {
		if sizes[h.ID] = h.Bytes; h.Has(model.FlagUnreadable) != (h.Bytes > hypergraph.MaxText) {
			t.Errorf("%s has %d bytes and the flags %v", h.ID, h.Bytes, h.Flags)
		}
	}
	if sizes["big"] != hypergraph.MaxText+6 || sizes["small"] != 8 || sizes["edge/wide"] != 70000005 {
		t.Errorf("sizes %v", sizes)
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "needle"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != "small" || !res.Bounded || !strings.Contains(res.BoundNote, "1 nodes of more than 64 MiB") {
		t.Errorf("recall: %+v, %v", res, err)
	}
	refused := map[string]bool{}
	_, err = s.Texts.EachText(t.Context(), func(x model.Text, err error) bool {
		refused[x.ID] = errors.Is(err, model.Unsupported)
		return true
	})
	if err != nil || !refused["big"] || refused["small"] || !refused["edge/wide"] {
		t.Errorf("texts: refused %v, %v", refused, err)
	}
	for _, id := range []string{"big", "edge/wide"} {
		if _, err := s.Browser.Read(t.Context(), id); !errors.Is(err, model.Unsupported) {
			t.Errorf("read %s: %v", id, err)
		}
		if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: id, Content: "x", Mode: model.Append}); !errors.Is(err, model.Unsupported) {
			t.Errorf("retain %s: %v", id, err)
		}
		if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); err != nil || res.Removed != 1 {
			t.Errorf("forget %s: %+v, %v", id, res, err)
		}
	}
}

// The best match of a search scores 1 in a store of any size.
func TestScoresAreRelativeToTheBest(t *testing.T) {
	s, _, _ := newStore(t)
	must(t, s.CreateNode(context.Background(), fact("only", "the harbour opens at six")))
	for _, query := range []string{"harbour opens at six", "harbour"} {
		res, err := s.SearchByContent(t.Context(), query, hypergraph.SearchOptions{})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Score != 1 {
			t.Errorf("%q: %+v, %v", query, res.Hits, err)
		}
	}
	must(t, s.CreateNode(context.Background(), fact("long", "harbour "+strings.Repeat("and much else ", 40))))
	res, err := s.SearchByContent(t.Context(), "harbour", hypergraph.SearchOptions{})
	if err != nil || len(res.Hits) != 2 || res.Hits[0].Node.ID != "only" || res.Hits[0].Score != 1 || res.Hits[1].Score <= 0 || res.Hits[1].Score >= 1 {
		t.Errorf("%+v, %v", res.Hits, err)
	}
}

func TestHealthNamesAForeignTrigger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rlm.db")
	runSQL(t, path, recurseDDL(t))
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	if found := db.Look(t.Context()); len(found) > 0 {
		t.Errorf("a file of recurse as it is: %+v", found)
	}
	runSQL(t, path, greedyTrigger)
	if found := db.Look(t.Context()); len(found) != 1 || found[0].Ref != "trigger" || !strings.Contains(found[0].Message, `"greedy"`) {
		t.Errorf("a trigger that came later: %+v", found)
	}
}
