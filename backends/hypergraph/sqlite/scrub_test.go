package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
	"memdesk/model"
)

const (
	hers = "qxzcanaryhers"
	his  = "qxzcanaryhis"
)

// naming is a request for the subject whose word is the constant hers.
func naming(removed ...string) model.ScrubRequest {
	return model.ScrubRequest{
		Removed:  removed,
		Concerns: func(b []byte) bool { return bytes.Contains(b, []byte(hers)) },
		Redact:   func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(hers), []byte("[erased]")) },
	}
}

func verdicts(t *testing.T, res []model.LayerResult, err error) map[string]model.Verdict {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]model.Verdict{}
	for _, r := range res {
		out[r.Layer] = r.Verdict
		if (r.Reason == "") != (r.Verdict == model.VerdictClean) {
			t.Errorf("%+v: a reason belongs to every verdict but clean", r)
		}
	}
	return out
}

// bytesHolding counts a word in every byte of the layers, copies beside the database included.
func bytesHolding(t *testing.T, m model.Maintainer, word string) map[string]int {
	t.Helper()
	layers, err := m.Layers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, l := range layers {
		r, err := m.OpenLayer(t.Context(), l.ID)
		if err != nil {
			t.Fatal(l.ID, err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(l.ID, err)
		}
		if n := bytes.Count(data, []byte(word)); n > 0 {
			found[l.ID] = n
		}
		_ = r.Close()
	}
	return found
}

// TestScrubLeavesNoByte deletes the subject's nodes among many of a bystander's: the scrub must also
// remove the words of the text index, which VACUUM alone leaves.
func TestScrubLeavesNoByte(t *testing.T) {
	eachSchema(t, func(t *testing.T, s *sqlite.Store) {
		m := s.Maintainer()
		var removed []string
		err := s.WithTx(t.Context(), func(tx hypergraph.Ops) error {
			for i := range 400 {
				word, id := his, fmt.Sprintf("b%d", i)
				if i%10 == 0 {
					word, id = hers, fmt.Sprintf("a%d", i)
					removed = append(removed, id)
				}
				if err := tx.CreateNode(t.Context(), fact(id, fmt.Sprintf("%s%d met %s at the harbour %s", word, i, word, strings.Repeat("x ", i)))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range removed {
			if err := s.DeleteNode(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if len(bytesHolding(t, m, hers)) == 0 {
			t.Fatal("a plain delete left nothing: the test proves nothing")
		}
		res, err := m.Scrub(t.Context(), naming(removed...))
		for layer, v := range verdicts(t, res, err) {
			if v != model.VerdictClean {
				t.Errorf("%s: %s", layer, v)
			}
		}
		if left := bytesHolding(t, m, hers); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if len(bytesHolding(t, m, his)) == 0 {
			t.Error("the other person's words are gone")
		}
		if n, err := s.GetNode(t.Context(), "b1"); err != nil || !strings.Contains(n.Content, his) {
			t.Errorf("bystander = %+v, %v", n, err)
		}
		again, err := m.Scrub(t.Context(), naming(removed...))
		verdicts(t, again, err) // idempotent
	})
}

// TestScrubCleansTheSideTables covers the rows that DeleteNode leaves in a recurse file.
func TestScrubCleansTheSideTables(t *testing.T) {
	s, path := newRecurse(t,
		`CREATE TABLE retrieval_outcomes (id INTEGER PRIMARY KEY AUTOINCREMENT, node_id TEXT, was_used BOOLEAN DEFAULT 0)`,
		`CREATE TABLE proposals (id TEXT PRIMARY KEY, type TEXT NOT NULL, title TEXT NOT NULL, rationale TEXT)`,
		`INSERT INTO evolution_log (id, operation, node_ids, reasoning, metadata) VALUES (901, 'decay', '["gone","stays"]', 'because `+hers+` asked', x''),
			(902, 'decay', '["gone"]', 'x', NULL), (903, 'decay', '["stays"]', 'about `+his+`', NULL)`,
		`INSERT INTO retrieval_outcomes (id, node_id) VALUES (901, 'gone'), (902, 'stays')`,
		`INSERT INTO proposals (id, type, title, rationale) VALUES ('p', 'decay_adjust', 'for `+hers+`', 'r'), ('q', 'decay_adjust', 'for `+his+`', 'r')`)
	res, err := s.Maintainer().Scrub(t.Context(), naming("gone"))
	verdicts(t, res, err)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for query, want := range map[string]string{
		`SELECT group_concat(id || node_ids || reasoning, ' ') FROM evolution_log WHERE id > 900`: `901["stays"]because [erased] asked 903["stays"]about ` + his,
		`SELECT group_concat(id, ' ') FROM retrieval_outcomes WHERE id > 900`:                     `902`,
		`SELECT group_concat(id || title, ' ') FROM proposals WHERE id IN ('p', 'q')`:             `pfor [erased] qfor ` + his,
	} {
		var got string
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s\n got %q, %v\nwant %q", query, got, err, want)
		}
	}
}

// TestScrubGoesOnBesideRowsThatStay: a row of another program that refers to a tied row keeps that one, and nothing else.
func TestScrubGoesOnBesideRowsThatStay(t *testing.T) {
	s, path := newRecurse(t,
		`CREATE TABLE retrieval_outcomes (id INTEGER PRIMARY KEY, node_id TEXT, before REFERENCES retrieval_outcomes (id))`,
		`CREATE TABLE notes (outcome REFERENCES retrieval_outcomes (id), said TEXT)`,
		`INSERT INTO retrieval_outcomes VALUES (901, 'gone', NULL), (902, 'gone', NULL), (903, 'gone', 902), (904, 'stays', NULL)`,
		`INSERT INTO notes VALUES (901, 'for `+hers+`')`)
	res, err := s.Maintainer().Scrub(t.Context(), naming("gone"))
	got := verdicts(t, res, err)
	outcomes := res[slices.IndexFunc(res, func(r model.LayerResult) bool { return strings.HasSuffix(r.Layer, ":retrieval_outcomes") })]
	if outcomes.Verdict != model.VerdictFailed || outcomes.Rows != 2 || !strings.HasPrefix(outcomes.Reason, "1 rows cannot") {
		t.Errorf("%+v", outcomes)
	}
	if len(got) < 3 {
		t.Errorf("%+v: the other layers are missing", got)
	}
	if left := peek(t, path, `SELECT id FROM retrieval_outcomes ORDER BY 1`); !slices.Equal(left, []string{"901", "904"}) {
		t.Errorf("left: %q", left)
	}
	if said := peek(t, path, `SELECT said FROM notes`); !slices.Equal(said, []string{"for [erased]"}) {
		t.Errorf("the other program's row: %q", said)
	}
}

// TestScrubOfANodeAndAnEdgeOfOneName: the rows of a node stay when the edge of the same name goes, and the
// other way round.
func TestScrubOfANodeAndAnEdgeOfOneName(t *testing.T) {
	s, path := newRecurse(t, `CREATE TABLE ties (n INTEGER PRIMARY KEY, node_id TEXT, hyperedge_id TEXT)`,
		`INSERT INTO ties VALUES (1, 'ada', NULL), (2, NULL, 'ada'), (3, 'bo', NULL), (4, NULL, 'bo'), (5, 'edge/c', NULL)`)
	res, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{Removed: []string{"edge/ada", "bo", "node/edge/c"}})
	verdicts(t, res, err)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRow(`SELECT group_concat(n, ' ') FROM ties`).Scan(&got); err != nil || got != "1 4" {
		t.Errorf("rows %q, %v are left, want 1 and 4", got, err)
	}
}

// TestScrubLeavesListsOfOtherPrograms: a list in a column that is none of the store's is no list of its items, whatever it
// holds.
func TestScrubLeavesListsOfOtherPrograms(t *testing.T) {
	s, path := newRecurse(t, `CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, tags TEXT, node_ids TEXT)`,
		`INSERT INTO orders VALUES (1, 'Ben', '["tea"]', NULL), (2, 'Ida', '["tea","rye"]', NULL), (3, 'Tom', '["rye"]', '["tea","edge/tea"]')`)
	res, err := s.Maintainer().Scrub(t.Context(), naming("tea"))
	verdicts(t, res, err)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRow(`SELECT group_concat(customer || tags || COALESCE(node_ids, ''), ' ') FROM orders`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := `Ben["tea"] Ida["tea","rye"] Tom["rye"]["edge/tea"]`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestScrubAsksForSideTables: rows that nobody has seen as they are now stay and are a residue; rows tied to a
// removed item go all the same.
func TestScrubAsksForSideTables(t *testing.T) {
	s, path := newRecurse(t,
		`CREATE TABLE proposals (id TEXT PRIMARY KEY, node_ids TEXT, title TEXT NOT NULL)`,
		`INSERT INTO proposals (id, node_ids, title) VALUES ('p', '["gone","stays"]', 'for `+hers+`'), ('q', '["gone"]', 'for `+his+`')`)
	req := naming("gone")
	req.May = func(layer string, _ []byte) bool { return !strings.Contains(layer, "proposals") }
	res, err := s.Maintainer().Scrub(t.Context(), req)
	refused := 0
	for layer, v := range verdicts(t, res, err) {
		if v == model.VerdictResidue && strings.Contains(layer, "proposals") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%+v: the refused table is no residue", res)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRow(`SELECT group_concat(id || node_ids || title, '; ') FROM proposals`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := `p["stays"]for ` + hers; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestScrubOfANodeWithoutAnID: recurse's column takes NULL and bytes for an id. No item is named by them, so
// only the scrub can clean such a row.
func TestScrubOfANodeWithoutAnID(t *testing.T) {
	s, path := newRecurse(t, `INSERT INTO nodes (id, type, content) VALUES (NULL, 'fact', 'ask `+hers+`'), (x'00ff', 'fact', 'ask `+hers+` again'), (NULL, 'fact', 'ask `+his+`'), ('named', 'fact', 'ask `+hers+`')`)
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming())
	verdicts(t, res, err)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var got string
	if err := db.QueryRow(`SELECT group_concat(COALESCE(hex(id), 'NULL') || ' ' || content, '; ') FROM nodes WHERE content LIKE 'ask%'`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := " ask [erased]; 00FF ask [erased] again;  ask " + his + "; 6E616D6564 ask " + hers; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestScrubIsPendingWhileAReaderLooks holds an old snapshot in another connection.
func TestScrubIsPendingWhileAReaderLooks(t *testing.T) {
	s, _, path := newStore(t)
	if err := s.CreateNode(t.Context(), fact("a", hers)); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM nodes`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteNode(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming("a"))
	if v := verdicts(t, res, err)["store.db"]; v != model.VerdictPending {
		t.Errorf("verdict with a reader = %q, want pending", v)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	res, err = m.Scrub(t.Context(), naming("a"))
	if v := verdicts(t, res, err)["store.db"]; v != model.VerdictClean {
		t.Errorf("verdict after the reader left = %q", v)
	}
	if left := bytesHolding(t, m, hers); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestScrubOfAKeptJournal: another program's database may keep its journal.
func TestScrubOfAKeptJournal(t *testing.T) {
	s, path := newRecurse(t, `PRAGMA journal_mode = PERSIST`)
	if err := s.CreateNode(t.Context(), fact("a", hers)); err != nil {
		t.Fatal(err)
	}
	runSQL(t, path, `PRAGMA journal_mode = PERSIST`, `UPDATE nodes SET content = 'y' WHERE id = 'a'`)
	if err := s.DeleteNode(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming("a"))
	verdicts(t, res, err)
	if left := bytesHolding(t, m, hers); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestScrubOfSamples: the samples of key text that another program's ANALYZE has made leave no byte either.
func TestScrubOfSamples(t *testing.T) {
	s, _ := newRecurse(t, `ANALYZE`, `PRAGMA writable_schema = ON; CREATE TABLE sqlite_stat4 (tbl, idx, neq, nlt, ndlt, sample)`,
		`INSERT INTO sqlite_stat4 VALUES ('nodes', 'i', '1', '1', '1', CAST('`+hers+`' AS BLOB))`)
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming("a"))
	verdicts(t, res, err)
	if left := bytesHolding(t, m, hers); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestScrubOfOlderIndexes: dead words of FTS3 and FTS4 are merged away as those of FTS5.
func TestScrubOfOlderIndexes(t *testing.T) {
	for _, kind := range []string{"fts3", "fts4", "FTS5"} {
		t.Run(kind, func(t *testing.T) {
			s, _ := newRecurse(t, `CREATE VIRTUAL TABLE said USING `+kind+` (body)`, `INSERT INTO said VALUES ('`+hers+` and more')`, `INSERT INTO said VALUES ('`+his+`')`,
				`DELETE FROM said WHERE body LIKE '`+hers+`%'`)
			m := s.Maintainer()
			res, err := m.Scrub(t.Context(), naming("a"))
			verdicts(t, res, err)
			if left := bytesHolding(t, m, hers[4:]); len(left) > 0 { // a word without the beginning that it shares with another
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestScrubBesideAnIndex: a table is part of a text index by what it is, not by how its name begins.
func TestScrubBesideAnIndex(t *testing.T) {
	s, path := newRecurse(t, `CREATE VIRTUAL TABLE memory USING fts5 (body)`, `INSERT INTO memory VALUES ('`+hers+`')`, `DELETE FROM memory`,
		`CREATE TABLE memory_log (said TEXT)`, `INSERT INTO memory_log VALUES ('`+hers+` said so')`)
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming("a"))
	verdicts(t, res, err)
	if left := bytesHolding(t, m, hers); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if got := peek(t, path, `SELECT said FROM memory_log`); len(got) != 1 {
		t.Errorf("the log has %q", got)
	}
}

// TestScrubBesideAVirtualTable: an ordinary table whose name begins like a virtual table's is cleaned where the
// virtual table's own tables are known, and named where they are not.
func TestScrubBesideAVirtualTable(t *testing.T) {
	for module, want := range map[string]model.Verdict{"vec0": model.VerdictClean, "rtree9": model.VerdictUnaudited} {
		t.Run(module, func(t *testing.T) {
			s, _ := newRecurse(t, `PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('table', 'memory', 'memory', 0,
				'CREATE VIRTUAL TABLE memory USING `+module+`(v float[4])'); PRAGMA writable_schema = RESET`,
				`CREATE TABLE memory_people (said TEXT)`, `INSERT INTO memory_people VALUES ('`+hers+` said so')`,
				`CREATE TABLE memory_chunks (n)`, `INSERT INTO memory_chunks VALUES (7)`)
			m := s.Maintainer()
			res, err := m.Scrub(t.Context(), naming("a"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(res, func(r model.LayerResult) bool {
				return strings.HasSuffix(r.Layer, ":memory_people") && r.Verdict == want
			}) {
				t.Errorf("results: %v", res)
			}
			if left := bytesHolding(t, m, hers); want == model.VerdictClean && len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestScrubOfAnIndexOverItsNamesake: the table that a text index reads may be called as its own would be.
func TestScrubOfAnIndexOverItsNamesake(t *testing.T) {
	s, path := newRecurse(t, `CREATE TABLE said_content (id INTEGER PRIMARY KEY, body TEXT)`, `CREATE VIRTUAL TABLE said USING fts5 (body, content='said_content', content_rowid='id')`,
		`INSERT INTO said_content VALUES (1, '`+hers+` said so')`, `INSERT INTO said (said) VALUES ('rebuild')`)
	m := s.Maintainer()
	res, err := m.Scrub(t.Context(), naming("a"))
	verdicts(t, res, err)
	if left := bytesHolding(t, m, hers); len(left) > 0 {
		t.Errorf("left: %v, table %q", left, peek(t, path, `SELECT body FROM said_content`))
	}
}

func TestLayersNameCopiesBeside(t *testing.T) {
	s, path := newRecurse(t)
	dir := filepath.Dir(path)
	for _, name := range []string{"rlm.db.bak", "rlm copy.db", "memory.db", "rlm_trace.db", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	layers, err := s.Maintainer().Layers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var external []string
	for _, l := range layers {
		if l.Kind == model.LayerExternal {
			external = append(external, l.ID)
			if l.Reason == "" {
				t.Errorf("%s has no reason", l.ID)
			}
		}
	}
	slices.Sort(external)
	if want := []string{"memory.db", "rlm copy.db", "rlm.db.bak", "rlm_trace.db"}; !slices.Equal(external, want) {
		t.Errorf("external layers = %v, want %v", external, want)
	}
	for _, id := range []string{"notes.txt", "../rlm.db", "", "absent"} {
		if _, err := s.Maintainer().OpenLayer(t.Context(), id); err == nil {
			t.Errorf("OpenLayer(%q) opened", id)
		}
	}
}

// TestAScanKeepsTheLocks: reading the bytes of an open database and closing the reader must not drop
// the lock of a transaction in this process.
func TestAScanKeepsTheLocks(t *testing.T) {
	s, path := newRecurse(t)
	err := s.WithTx(t.Context(), func(tx hypergraph.Ops) error {
		if err := tx.CreateNode(t.Context(), fact("a", "x")); err != nil {
			return err
		}
		r, err := s.Maintainer().OpenLayer(t.Context(), "rlm.db")
		if err != nil {
			return err
		}
		_ = r.Close()
		out, err := otherProgram(path)
		if err == nil || !strings.Contains(out, "locked") {
			t.Errorf("another program wrote during the transaction: %s, %v", out, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestScrubOfTheFixture erases a subject from a real recurse database by hand and checks every byte by
// the rule of its expected.json.
func TestScrubOfTheFixture(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "..", "shared", "fixtures", "recurse")
	data, err := os.ReadFile(filepath.Join(dir, "rlm.db"))
	if err != nil {
		t.Skip("the fixtures are not here")
	}
	var expected struct {
		Subjects map[string]struct{ Tokens []string }
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rlm.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, subject := range expected.Subjects {
		var quoted []string
		for _, tok := range subject.Tokens {
			quoted = append(quoted, regexp.QuoteMeta(tok))
		}
		names := regexp.MustCompile(`(^|[^A-Za-z0-9_])(` + strings.Join(quoted, "|") + `)($|[^A-Za-z0-9_-])`)
		redact := func(b []byte) []byte {
			for names.Match(b) {
				b = names.ReplaceAll(b, []byte("${1}[erased]$3"))
			}
			return b
		}
		for n, err := range s.AllNodes(t.Context(), hypergraph.NodeFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			n.Content, n.Metadata, n.Provenance = string(redact([]byte(n.Content))), string(redact([]byte(n.Metadata))), string(redact([]byte(n.Provenance)))
			if err := s.UpdateNode(t.Context(), n); err != nil {
				t.Fatal(n.ID, err)
			}
		}
		res, err := s.Maintainer().Scrub(t.Context(), model.ScrubRequest{Concerns: names.Match, Redact: redact})
		verdicts(t, res, err)
	}
	for _, table := range []string{"evolution_log", "proposals", "retrieval_outcomes"} {
		db, err := sql.Open("sqlite3", path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(`SELECT * FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			cells := make([]sql.RawBytes, len(columns))
			dest := make([]any, len(columns))
			for i := range cells {
				dest[i] = &cells[i]
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			for _, subject := range expected.Subjects {
				for _, tok := range subject.Tokens {
					if line := bytes.Join(bytesOf(cells), []byte(" ")); regexp.MustCompile(`(^|[^A-Za-z0-9_])` + regexp.QuoteMeta(tok) + `($|[^A-Za-z0-9_-])`).Match(line) {
						t.Errorf("%s still names %s: %s", table, tok, line)
					}
				}
			}
		}
		_ = rows.Close()
		_ = db.Close()
	}
}

func bytesOf(cells []sql.RawBytes) [][]byte {
	out := make([][]byte, len(cells))
	for i, c := range cells {
		out[i] = c
	}
	return out
}

// otherProgram writes to the database from another process.
func otherProgram(path string) (string, error) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestOtherProgram$")
	cmd.Env = append(os.Environ(), "MEMDESK_OTHER_PROGRAM="+path)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestOtherProgram is that other process when the environment names a database.
func TestOtherProgram(t *testing.T) {
	path := os.Getenv("MEMDESK_OTHER_PROGRAM")
	if path == "" {
		t.Skip("it is run by another test")
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`PRAGMA busy_timeout = 50`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`UPDATE nodes SET confidence = 0.5`); err != nil {
		t.Fatal(err)
	}
}
