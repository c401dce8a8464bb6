package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/backendtest"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

// TestHealthIsOfWhatTheStoreIsFor: a file that answers a ping but cannot search, cannot be read in part
// or counts wrong is unhealthy.
func TestHealthIsOfWhatTheStoreIsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		harm  []string
		kind  string // of the finding; empty: no finding
		ref   string
		state model.HealthState
	}{
		"in order":          {nil, "", "", model.HealthOK},
		"no index":          {[]string{`DROP TABLE nodes_fts`}, model.FindingIndex, "nodes_fts", model.HealthDown},
		"index damaged":     {[]string{`DELETE FROM nodes_fts_data`}, model.FindingIndex, "nodes_fts", model.HealthDown},
		"not in the index":  {[]string{`INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata) SELECT 'delete', seq, content, metadata FROM nodes WHERE id = 'n7'`}, model.FindingIndex, "nodes_fts", model.HealthDegraded},
		"index of no node":  {[]string{`INSERT INTO nodes_fts (rowid, content, metadata) VALUES (9999, 'stray', '')`}, model.FindingIndex, "nodes_fts", model.HealthDegraded},
		"counter off":       {[]string{`UPDATE counters SET items = items + 1`}, model.FindingCounters, "counters", model.HealthDegraded},
		"counter of nobody": {[]string{`INSERT INTO counters VALUES ('session', 'fact', '', 2, 9)`}, model.FindingCounters, "counters", model.HealthDegraded},
		"other schema":      {[]string{`PRAGMA user_version = 1`}, model.FindingSchema, "", model.HealthDown},
		"no table":          {[]string{`PRAGMA foreign_keys = off`, `DROP TABLE nodes`}, model.FindingUnreachable, "", model.HealthDown},
	} {
		t.Run(name, func(t *testing.T) {
			path, s := filled(t)
			if len(tt.harm) > 0 {
				runSQL(t, path, tt.harm...)
			}
			got := backendtest.Examined(t, s)
			if got.State != tt.state || got.OK != tt.state.Serves() || tt.kind == "" != (len(got.Findings) == 0) ||
				tt.kind != "" && (got.Findings[0].Kind != tt.kind || got.Findings[0].Ref != tt.ref) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func filled(t *testing.T) (string, model.Store) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.db")
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
	must(t, err)
	for i := range 60 {
		must(t, db.CreateNode(t.Context(), hypergraph.Node{ID: fmt.Sprintf("n%d", i), Type: "fact", Tier: "longterm",
			Content: fmt.Sprintf("berth %d of a harbour, %0512d", i, i)}))
	}
	must(t, db.Close())
	s := openStore(t, path, false)
	t.Cleanup(func() { _ = s.Close() })
	return path, s
}

// TestHealthReadsEveryPage, and its answer after a restart must come from the file.
func TestHealthReadsEveryPage(t *testing.T) {
	path, s := filled(t)
	must(t, s.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	const page = 4096
	at := bytes.Index(b, []byte("berth 50 of a harbour")) / page * page // the file still opens and answers a ping
	for i := at; i < at+16; i++ {
		b[i] ^= 0x5a
	}
	must(t, os.WriteFile(path, b, 0o600))
	broken := openStore(t, path, false)
	defer broken.Close()
	got := backendtest.Examined(t, broken)
	if got.OK || got.Findings[0].Kind != model.FindingPage {
		t.Errorf("%+v", got)
	}
}

// TestHealthLeavesNoTrace: neither Look nor Deep creates or changes a file.
func TestHealthLeavesNoTrace(t *testing.T) {
	path, s := filled(t)
	must(t, s.Close())
	before, err := os.ReadFile(path)
	must(t, err)
	again := openStore(t, path, true)
	if st := backendtest.Examined(t, again); st.State != model.HealthOK || st.DeepCheckedAt.IsZero() {
		t.Errorf("%+v", st)
	}
	must(t, again.Close())
	after, err := os.ReadFile(path)
	must(t, err)
	names, err := filepath.Glob(path + "*")
	must(t, err)
	if d := cmp.Diff([]string{path}, names); d != "" || string(before) != string(after) {
		t.Error("health has left something behind: ", d)
	}
}

// TestADamagedIndexIsMadeAnew by the command that the finding names.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	for _, harm := range []string{
		`DROP TABLE nodes_fts`, `DROP TABLE nodes_fts_data`, `DELETE FROM nodes_fts_data`, `DROP TABLE nodes_fts_idx`, `DROP TABLE nodes_fts_docsize`,
		`DROP TABLE nodes_fts_config`, `UPDATE nodes_fts_config SET v = 99`, `DELETE FROM nodes_fts_config`,
		`PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'nodes_fts'`,
	} {
		path, s := filled(t)
		must(t, s.Close())
		runSQL(t, path, harm)
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		must(t, err)
		if found := append(db.Look(t.Context()), db.Deep(t.Context())...); len(found) == 0 || !strings.Contains(found[0].Message, "`memdesk reindex`") {
			t.Errorf("%s: %+v", harm, found)
		}
		if n, err := db.Reindex()(t.Context()); n == 0 || err != nil {
			t.Errorf("%s: %d nodes in the index, %v", harm, n, err)
		}
		must(t, db.Close())
		again := openStore(t, path, false)
		if st := backendtest.Examined(t, again); st.State != model.HealthOK {
			t.Errorf("%s: %+v", harm, st)
		}
		must(t, again.Close())
	}
}

// TestWrongTotalsStandInNoWay: nodes are edited and removed beside counters that are gone or too small, and the command
// that the finding names sets these right.
func TestWrongTotalsStandInNoWay(t *testing.T) {
	for _, wrong := range []string{`DELETE FROM counters`, `UPDATE counters SET items = 0, bytes = 0`} {
		s, _, path := newStore(t)
		for _, id := range []string{"a", "b", "c"} {
			must(t, s.CreateNode(t.Context(), fact(id, "a lamp")))
		}
		runSQL(t, path, wrong)
		must(t, s.DeleteNode(t.Context(), "a"))
		must(t, s.UpdateNode(t.Context(), fact("b", "a longer lamp")))
		if found := s.Deep(t.Context()); len(found) != 1 || !strings.Contains(found[0].Message, "`memdesk reindex`") {
			t.Errorf("%s: %+v", wrong, found)
		}
		if n, err := s.Reindex()(t.Context()); n != 2 || err != nil {
			t.Errorf("%s: %d, %v", wrong, n, err)
		}
		if found := s.Deep(t.Context()); len(found) > 0 {
			t.Errorf("%s, after the reindex: %+v", wrong, found)
		}
		counts, err := s.Counts(t.Context())
		if err != nil || len(counts) == 0 || counts[0].Items != 2 {
			t.Errorf("%s: %+v, %v", wrong, counts, err)
		}
		must(t, s.Close())
	}
}

// TestHealthReadsTheIndexAsItIsNow: an index of words that another process merged since the last check
// is healthy. SQLite's check alone reads the index by its former parts.
func TestHealthReadsTheIndexAsItIsNow(t *testing.T) {
	path, _ := filled(t)
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	must(t, err)
	defer s.Close()
	if found := s.Deep(t.Context()); len(found) > 0 {
		t.Fatalf("at first: %+v", found)
	}
	other, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	must(t, err)
	must(t, other.CreateNode(t.Context(), hypergraph.Node{ID: "late", Type: "fact", Tier: "longterm", Content: "a lamp"}))
	must(t, other.Close())
	runSQL(t, path, `INSERT INTO nodes_fts (nodes_fts) VALUES ('optimize')`)
	if found := s.Deep(t.Context()); len(found) > 0 {
		t.Errorf("after another process merged the index: %+v", found)
	}
}

// TestReindexer: the facet takes its one derived tier, and tells what changed since a time, with every edge.
func TestReindexer(t *testing.T) {
	db, clk, _ := newStore(t)
	s := hypergraph.Adapt(hypergraph.Config{Backend: db, Vocabulary: db.Vocabulary(), Reindex: db.Reindex()})
	must(t, db.CreateNode(t.Context(), fact("old", "a lamp")))
	must(t, db.CreateEdge(t.Context(), hypergraph.Edge{ID: "e", Type: "relation", Members: []hypergraph.Membership{{NodeID: "old", Role: "subject"}}}))
	clk.Advance(time.Hour)
	must(t, db.CreateNode(t.Context(), fact("new", "a lamp")))
	var changed []string
	must(t, s.Reindexer.ChangedSince(t.Context(), float64(clk.Now().Unix()), func(id string) bool {
		changed = append(changed, id)
		return true
	}))
	if d := cmp.Diff([]string{"new", "edge/e"}, changed); d != "" {
		t.Error(d)
	}
	for tier, want := range map[string]error{"": nil, "words": nil, "session": model.InvalidInput} {
		if _, err := s.Reindexer.Reindex(t.Context(), tier); !errors.Is(err, want) {
			t.Errorf("%q: %v", tier, err)
		}
	}
}
