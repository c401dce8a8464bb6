package mem0_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/records/mem0"
	"memdesk/backends/records/recordstest"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// Ids of the collection's rows.
const (
	adas  = "00000000-0000-4000-8000-000000000001"
	brins = "00000000-0000-4000-8000-000000000002"
	rye   = "00000000-0000-4000-8000-0000000000e1"
	gone  = "00000000-0000-4000-8000-00000000000f"
)

// tables are a collection with its entity store; vectors is the SQL type of a vector.
func tables(vectors string) []string {
	return []string{
		`CREATE TABLE memories (id uuid PRIMARY KEY, vector ` + vectors + `, payload jsonb)`,
		`CREATE TABLE memories_entities (id uuid PRIMARY KEY, vector ` + vectors + `, payload jsonb)`,
	}
}

func rows(vector string) []string {
	return []string{
		`INSERT INTO memories VALUES ('` + adas + `', '` + vector + `', '{"user_id":"ada","data":"Ada likes rye","hash":"x","n":1.50,"text_lemmatized":"ada like rye","created_at":"2026-01-01T00:00:00Z"}'),
			('` + brins + `', '` + vector + `', '{"user_id":"brin","data":"Brin met Ada at the pier","hash":"x","created_at":"2026-01-02T00:00:00Z"}')`,
		`INSERT INTO memories_entities VALUES ('` + rye + `', '` + vector + `', '{"data":"rye","linkedMemoryIds":["` + adas + `"],"user_id":"ada"}')`,
	}
}

// database makes a collection; the server has no pgvector, so its vectors are lists.
func database(t *testing.T, more ...string) string {
	t.Helper()
	dsn := testpg.DSN(t)
	for _, text := range append(tables("real[]"), more...) {
		testpg.Exec(t, dsn, text)
	}
	return dsn
}

// pythonHistory makes a history as Python writes it.
func pythonHistory(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "history.db")
	exec(t, path, `CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)`,
		`INSERT INTO history VALUES ('1', '`+adas+`', NULL, 'Ada likes rye', 'ADD', '2026-01-01 00:00:00', NULL, 0, 'a', 'user'), ('2', '`+gone+`', NULL, 'Ada was here', 'ADD', '2026-01-01 00:00:00', NULL, 0, NULL, NULL),
			('3', '`+brins+`', NULL, 'Brin met Ada at the pier', 'ADD', '2026-01-02 00:00:00', NULL, 0, NULL, NULL), ('5', NULL, NULL, 'Ada of no memory', 'ADD', NULL, NULL, 0, NULL, NULL), ('4', 'nobody', NULL, 'rain', 'ADD', '2026-01-02 00:00:00', NULL, 0, NULL, NULL)`)
	return path
}

func collection(t *testing.T, c mem0.Config, dsn string) model.Store {
	t.Helper()
	c.DSN = model.NewSecret(dsn)
	s, err := mem0.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestCollectionConformance runs the suite over a collection in PostgreSQL.
func TestCollectionConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Harness{
		Open: func(t *testing.T) model.Store {
			s, err := mem0.Open(t.Context(), mem0.Config{DSN: model.NewSecret(database(t))})
			must(t, err)
			return s
		},
		OpenReadOnly: func(t *testing.T) model.Store {
			s, err := mem0.Open(t.Context(), mem0.Config{DSN: model.NewSecret(database(t, rows("{1,0.5}")...)), ReadOnly: true})
			must(t, err)
			return s
		},
		NotByRetain:  map[string]string{"memory": recordstest.Made},
		BrokenReason: "a server that is down is the postgres kind's test",
	})
}

// TestCollection: the same items and verbs as for files, with Python's keys and a separate history.
func TestCollection(t *testing.T) { useCollection(t, database(t, rows("{1,0.5}")...)) }

// TestPgvector is TestCollection on a server with pgvector and its vector type.
func TestPgvector(t *testing.T) {
	dsn := testpg.PGlite(t)
	for _, text := range append(append([]string{`CREATE EXTENSION vector`}, tables("vector(2)")...), rows("[1,0.5]")...) {
		testpg.Exec(t, dsn, text)
	}
	s := useCollection(t, dsn)
	if b, err := s.Beside(t.Context(), adas); err != nil || len(b.Vector) != 2 || b.Vector[1] != 0.5 {
		t.Errorf("the vector is %v, %v", b.Vector, err)
	}
}

func useCollection(t *testing.T, dsn string) model.Store {
	history := pythonHistory(t)
	s := collection(t, mem0.Config{History: history}, dsn)
	it, err := s.Browser.Read(t.Context(), adas)
	if err != nil || it.Body != "Ada likes rye" || it.Scope != "user_id=ada" {
		t.Fatalf("%+v, %v", it, err)
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "PIER"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != brins {
		t.Errorf("%+v, %v", res, err)
	}
	var hits []string
	must(t, s.Subjects.Concerning(t.Context(), []string{"ada"}, func(h model.SubjectHit) bool { hits = append(hits, h.ID); return true }))
	if len(hits) != 1 || hits[0] != adas {
		t.Errorf("of the subject are %q", hits)
	}
	payload := func() string { return payloadOf(t, s, adas) }
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: adas, Mode: model.Replace, Content: "likes bread"}); err != nil {
		t.Fatal(err)
	}
	if got := payload(); !strings.Contains(got, `hash=`) || strings.Contains(got, "emmatized") || !strings.Contains(got, "n=1.50") || !strings.Contains(got, "updated_at=20") || strings.Contains(got, "updatedAt") {
		t.Errorf("the edited payload is %s", got)
	}
	if got := cell(t, history, `SELECT old_memory || '>' || new_memory FROM history WHERE event = 'UPDATE'`); got != "Ada likes rye>likes bread" {
		t.Errorf("the history has %q", got)
	}
	it, err = s.Browser.Read(t.Context(), adas)
	must(t, err)
	kept, err := s.Keep(t.Context(), adas)
	must(t, err)
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: adas, IfMatch: it.Revision}); err != nil {
		t.Fatal(err)
	}
	if n := cell(t, history, `SELECT count(*) FROM history WHERE memory_id = '`+adas+`'`); n != "0" {
		t.Errorf("%s rows of history stay", n)
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: adas, Mode: model.Replace, Content: it.Body, Meta: it.Meta, IfMatch: model.Absent, Restore: true, Beside: &model.Beside{Rows: kept}})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := s.Browser.Read(t.Context(), adas); err != nil || back.Revision != it.Revision {
		t.Errorf("put back as %+v, %v", back, err)
	}
	if n := cell(t, history, `SELECT count(*) FROM history WHERE memory_id = '`+adas+`'`); n != "2" {
		t.Errorf("%s rows of history came back, want 2", n)
	}
	if _, err := s.Browser.Read(t.Context(), "not-a-uuid"); !errors.Is(err, model.NotFound) {
		t.Errorf("an id that is none: %v", err)
	}
	return s
}

// payloadOf is an item's metadata in one line.
func payloadOf(t *testing.T, s model.Store, id string) string {
	t.Helper()
	it, err := s.Browser.Read(t.Context(), id)
	must(t, err)
	var out []string
	for _, f := range it.Meta {
		out = append(out, f.Name+"="+f.Value)
	}
	return strings.Join(out, ";")
}

// TestCollectionScrub must remove the subject's entities, and the history of deleted memories that
// names the subject; a bystander's history is redacted (M06).
func TestCollectionScrub(t *testing.T) {
	history, dsn := pythonHistory(t), database(t, rows("{1,0.5}")...)
	s := collection(t, mem0.Config{History: history}, dsn)
	_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: adas, KeepHistory: true})
	must(t, err)
	testpg.Exec(t, dsn, `INSERT INTO memories_entities VALUES ('`+rye+`', '{1}', '{"data":"Ada","user_id":"ada"}'), ('`+gone+`', '{1}', '{"data":"Ada","user_id":"brin"}')`)
	req := model.ScrubRequest{Subjects: []string{"ada"}, May: func(string, []byte) bool { return false },
		Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") },
		Redact:   func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "Ada", "[erased]")) }}
	dump := func() string {
		return cell(t, history, `SELECT group_concat(id || new_memory, ';') FROM (SELECT * FROM history ORDER BY id)`)
	}
	before := dump()
	_, err = s.Maintainer.Scrub(t.Context(), req)
	if after := dump(); err != nil || after != before {
		t.Errorf("a scrub that was refused left %q, %v", after, err)
	}
	req.Removed, req.May = []string{adas}, nil
	results, err := s.Maintainer.Scrub(t.Context(), req)
	must(t, err)
	for _, r := range results {
		if r.Verdict != model.VerdictClean && r.Layer != "statistics" {
			t.Errorf("%+v", r)
		}
	}
	if got := dump(); got != "3Brin met [erased] at the pier;4rain" {
		t.Errorf("the history is %q", got)
	}
	layers, err := s.Maintainer.Layers(t.Context())
	must(t, err)
	unknown := false
	for _, l := range layers {
		unknown = unknown || l.ID == "history, owner unknown" && strings.HasPrefix(l.Reason, "1 rows ")
		if l.ID != "memories_entities" {
			continue
		}
		r, err := s.Maintainer.OpenLayer(t.Context(), l.ID)
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		if strings.Contains(string(text), "Ada") || strings.Contains(string(text), `"ada"`) || !strings.Contains(string(text), "[erased]") {
			t.Errorf("the entities hold %s", text)
		}
	}
	if !unknown {
		t.Errorf("the rows without an owner are not named: %+v", layers)
	}
}

// TestCollectionScrubOfEdited: what a payload of an edited memory says beside its text goes too, value by value, and only
// as it was planned.
func TestCollectionScrubOfEdited(t *testing.T) {
	dsn := database(t, rows("{1}")...)
	testpg.Exec(t, dsn, `UPDATE memories SET payload = payload || '{"agent_id":"Ada","by":{"Ada":1.50},"n":1.50}' WHERE id = '`+brins+`'`)
	s := collection(t, mem0.Config{}, dsn)
	asked := 0
	req := model.ScrubRequest{Edited: []string{brins, gone}, Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") },
		Redact:  func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "Ada", "[erased]")) },
		MayEdit: func(model.RecordEdit) bool { asked++; return false }}
	residue := func(results []model.LayerResult) bool {
		return slices.ContainsFunc(results, func(r model.LayerResult) bool { return r.Layer == "memories" && r.Verdict == model.VerdictResidue })
	}
	results, err := s.Maintainer.Scrub(t.Context(), req)
	if got := payloadOf(t, s, brins); err != nil || !residue(results) || asked != 3 || !strings.Contains(got, "agent_id=Ada") {
		t.Errorf("refused %d values: %s, %+v, %v", asked, got, results, err)
	}
	req.MayEdit = nil
	results, err = s.Maintainer.Scrub(t.Context(), req)
	if got := testpg.Value(t, dsn, `SELECT payload::text FROM memories WHERE id = '`+brins+`'`); err != nil || residue(results) ||
		got != `{"n": 1.50, "by": {"[erased]": 1.50}, "data": "Brin met [erased] at the pier", "hash": "x", "user_id": "brin", "agent_id": "[erased]", "created_at": "2026-01-02T00:00:00Z"}` {
		t.Errorf("%s, %+v, %v", got, results, err)
	}
}

// TestCollectionOpen refuses an ambiguous database, and a file that is no history.
func TestCollectionOpen(t *testing.T) {
	dsn := database(t)
	if s := collection(t, mem0.Config{}, dsn); s.History != nil || s.Location == "" {
		t.Error("a store without a history file has a history")
	}
	testpg.Exec(t, dsn, `CREATE TABLE other (id uuid, vector real[], payload jsonb)`)
	_, err := mem0.Open(t.Context(), mem0.Config{DSN: model.NewSecret(dsn)})
	if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), "memories, other") {
		t.Errorf("two collections: %v", err)
	}
	collection(t, mem0.Config{Collection: "memories"}, dsn)
	none := filepath.Join(t.TempDir(), "none.db")
	must(t, os.WriteFile(none, []byte("no database"), 0o600))
	for name, c := range map[string]mem0.Config{"no such collection": {Collection: "nobody"}, "no such history": {Collection: "memories", History: none}} {
		c.DSN = model.NewSecret(dsn)
		if _, err := mem0.Open(t.Context(), c); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
