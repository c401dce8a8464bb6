package langgraph_test

import (
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/backendtest"
	"memdesk/backends/records/langgraph"
	"memdesk/backends/records/recordstest"
	"memdesk/internal/testpg"
	"memdesk/model"
)

var must = recordstest.Must

// database makes a database with one package's tables and runs statements in it.
func database(t *testing.T, whose string, statements ...string) string {
	t.Helper()
	schema, err := os.ReadFile("testdata/" + whose + ".sql")
	must(t, err)
	dsn := testpg.DSN(t)
	for _, text := range append([]string{string(schema)}, statements...) {
		testpg.Exec(t, dsn, text)
	}
	return dsn
}

func open(t *testing.T, c langgraph.Config, dsn string) model.Store {
	t.Helper()
	c.DSN = model.NewSecret(dsn)
	s, err := langgraph.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

const seed = `
INSERT INTO store (namespace_path, key, value, expires_at) VALUES
	('users:ada:memories', 'k/1 50%', '{"text":"Ada likes rye","n":12345678901234567890,"f":1.50,"h":"<b>&"}', NULL),
	('users:brin', 'p', '{"user_id":"ada","list":[],"empty":{}}', NULL), ('thread', 'x', '{"text":"trap"}', NULL), ('users:ada2', 'p', '{}', '2020-01-01');
INSERT INTO store_vectors (namespace_path, key, text_content) VALUES ('users:ada:memories', 'k/1 50%', 'Ada likes rye');
INSERT INTO checkpoints VALUES ('t/1', '', '1', NULL, 'json', '{"ts":"2026-01-01T00:00:00Z","channel_versions":{"messages":"1"}}', '{"user_id":"ada"}'),
	('t/1', '', '2', '1', 'json', '{"ts":"2026-01-02T00:00:00Z","channel_versions":{"messages":"2"}}', '{}'), ('t2', '', '1', NULL, 'json', '{"channel_versions":{"messages":"1"}}', '{}');
INSERT INTO checkpoint_blobs VALUES ('t/1', '', 'messages', '1', 'json', '[]'), ('t/1', '', 'messages', '2', 'json', convert_to('[{"lc":1,"type":"constructor","id":["x","HumanMessage"],"kwargs":{"content":"Hello"}},{"role":"ai","content":[{"type":"text","text":"Hi"}]}]', 'UTF8')),
	('t2', '', 'messages', '1', 'msgpack', '\x9000'), ('gone', '', 'messages', '1', 'json', '[]');
INSERT INTO checkpoint_writes VALUES ('t/1', '', '2', 'a', 0, 'messages', 'json', '[]');`

// TestItems: rows and threads as items (LG1, LG2, LG4, LG5).
func TestItems(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed))
	for typed, body := range map[string]string{
		"users/ada/memories/k%2F1 50%25": "{\n  \"f\": 1.50,\n  \"h\": \"<b>&\",\n  \"n\": 12345678901234567890,\n  \"text\": \"Ada likes rye\"\n}",
		"users/brin/p":                   "{\n  \"list\": [],\n  \"empty\": {},\n  \"user_id\": \"ada\"\n}",
		"%74hread/x":                     "{\n  \"text\": \"trap\"\n}",
		"thread/t%2F1":                   "human\nHello\n\nai\nHi",
		"thread/t2":                      "channel messages is msgpack, 2 bytes: not shown",
	} {
		id, err := model.DecodeID(typed)
		must(t, err)
		it, err := s.Browser.Read(t.Context(), id)
		if err != nil || it.Body != body || model.EncodeID(it.ID) != typed {
			t.Errorf("%s reads as %q under %q, %v", typed, it.Body, model.EncodeID(it.ID), err)
		}
	}
	it, err := s.Browser.Read(t.Context(), "users/brin/p")
	must(t, err)
	for _, f := range it.Meta { // what a list shows is found
		if f.Name == "created_at" {
			page, err := s.Browser.List(t.Context(), model.PageRequest{Query: f.Value[:10], Tier: "store"})
			if err != nil || len(page.Items) == 0 {
				t.Errorf("%s finds %d items, %v", f.Value[:10], len(page.Items), err)
			}
		}
	}
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || len(page.Items) != 5 {
		t.Errorf("%d items without the expired one, %v", len(page.Items), err)
	}
}

// TestOddLabels: the id of every listed row leads to it, whatever its namespace and key contain.
func TestOddLabels(t *testing.T) {
	dsn := database(t, "python", `INSERT INTO store (prefix, key, value) VALUES (E'users.a\x1fb', 'k2', '{"text":"Ada one"}'), ('users.a', E'b\x1fk2', '{"text":"Ada two"}'),
		(E'users.\uFDD0c', 'k', '{"text":"Ada three"}'), ('hread', E'\uFDD0/', '{"text":"Ada four"}'), (E'users.a\x1f\x01b', E'\x02', '{"text":"Ada five"}'), ('thread.users', 'k', '{"text":"Ada six"}')`)
	s := open(t, langgraph.Config{}, dsn)
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || len(page.Items) != 6 {
		t.Fatalf("%+v, %v", page, err)
	}
	scopes := map[string]bool{}
	for _, h := range page.Items { // a scope is typed, as an id is
		scopes[h.Scope] = true
		one, err := s.Browser.List(t.Context(), model.PageRequest{Scope: h.Scope})
		if err != nil || len(one.Items) != 1 || one.Items[0].ID != h.ID {
			t.Errorf("scope %q: %+v, %v", h.Scope, one.Items, err)
		}
	}
	for _, other := range []string{"thread/users", "%68read"} { // another spelling of a scope that is there
		if one, err := s.Browser.List(t.Context(), model.PageRequest{Scope: other}); !errors.Is(err, model.InvalidInput) {
			t.Errorf("scope %q: %+v, %v", other, one.Items, err)
		}
	}
	for _, want := range []string{"users/a%1Fb", "users/%EF%B7%90%63", "users/a%1F%01b"} {
		if !scopes[want] {
			t.Errorf("no scope %s among %v", want, scopes)
		}
	}
	concern := map[string]bool{}
	must(t, s.Subjects.Concerning(t.Context(), []string{"users"}, func(h model.SubjectHit) bool { concern[h.ID] = true; return true }))
	for _, h := range page.Items {
		if concern[h.ID] != (h.Title != "Ada four") {
			t.Errorf("%q: concerns the subject %v", h.ID, concern[h.ID])
		}
		res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: h.Title})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != h.ID {
			t.Errorf("%q, listed as %q, is found as %+v, %v", h.Title, h.ID, res.Hits, err)
		}
		id, err := model.DecodeID(model.EncodeID(h.ID))
		must(t, err)
		if it, err := s.Browser.Read(t.Context(), id); err != nil || it.Title != h.Title {
			t.Errorf("%q reads as %q, %v", h.Title, it.Title, err)
		}
		if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id}); err != nil || res.Removed != 1 {
			t.Errorf("%q: removed %d, %v", h.Title, res.Removed, err)
		}
	}
}

// TestEdit removes the vectors of the old text, and accepts only an object (LG3, LG7).
func TestEdit(t *testing.T) {
	for whose, where := range map[string]string{"javascript": "namespace_path = 'users:ada'", "python": "prefix = 'users.ada'"} {
		t.Run(whose, func(t *testing.T) {
			column := strings.Split(where, " ")[0]
			dsn := database(t, whose, `INSERT INTO store (`+column+`, key, value) VALUES (`+strings.Split(where, " = ")[1]+`, 'k', '{"text":"old"}')`)
			if whose == "javascript" {
				testpg.Exec(t, dsn, `INSERT INTO store_vectors VALUES ('users:ada', 'k', 'text', 'old')`)
			}
			before := testpg.Value(t, dsn, `SELECT updated_at::text FROM store`)
			s := open(t, langgraph.Config{}, dsn)
			it, err := s.Browser.Read(t.Context(), "users/ada/k")
			must(t, err)
			_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: it.ID, Mode: model.Replace, Content: `{"text":"new","n":1.50}`, IfMatch: it.Revision})
			must(t, err)
			if got := testpg.Value(t, dsn, `SELECT value::text FROM store`); got != `{"n": 1.50, "text": "new"}` {
				t.Errorf("the value is %s", got)
			}
			if after := testpg.Value(t, dsn, `SELECT updated_at::text FROM store`); after == before {
				t.Error("updated_at did not move")
			}
			if whose == "javascript" {
				if got := testpg.Value(t, dsn, `SELECT count(*)::text FROM store_vectors`); got != "0" {
					t.Error("a vector of the old text is left")
				}
			}
			const slashes = `{"text":"a \\\\u0000 b"}` // a backslash and letters, and no NUL
			if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: it.ID, Mode: model.Replace, Content: slashes}); err != nil {
				t.Errorf("%s: %v", slashes, err)
			}
			for _, bad := range []string{"no JSON", "[]", `{"a":"\u0000"}`} {
				if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: it.ID, Mode: model.Replace, Content: bad}); !errors.Is(err, model.InvalidInput) {
					t.Errorf("%s: %v", bad, err)
				}
			}
		})
	}
}

// TestForgetOfAThread clears all tables of the thread and of no other (LG6).
func TestForgetOfAThread(t *testing.T) {
	dsn := database(t, "javascript", seed)
	s := open(t, langgraph.Config{}, dsn)
	res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "thread/t" + model.Inner + "/1"})
	if err != nil || res.Removed != 1 {
		t.Fatalf("removed %d, %v", res.Removed, err)
	}
	if got := testpg.Value(t, dsn, `SELECT (SELECT count(*) FROM checkpoints) || ' ' || (SELECT count(*) FROM checkpoint_blobs) || ' ' || (SELECT count(*) FROM checkpoint_writes)`); got != "1 2 0" {
		t.Errorf("left: %s", got)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "thread/t2", Mode: model.Replace, Content: "x"}); !errors.Is(err, model.Unsupported) {
		t.Errorf("a thread took an edit: %v", err)
	}
}

// TestConcerning compares whole labels and top-level keys (LG10).
func TestConcerning(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed))
	var got []string
	must(t, s.Subjects.Concerning(t.Context(), []string{"ada"}, func(h model.SubjectHit) bool {
		got = append(got, model.EncodeID(h.ID))
		return true
	}))
	slices.Sort(got)
	if want := []string{"thread/t%2F1", "users/ada/memories/k%2F1 50%25", "users/brin/p"}; !slices.Equal(got, want) {
		t.Errorf("concerning %q, want %q", got, want)
	}
}

// TestHealthAndLayers: leftovers are reported, and a table's bytes can be read, blobs too (LG9).
func TestHealthAndLayers(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed))
	text := ""
	for _, f := range backendtest.Examined(t, s).Findings {
		text += f.Message + "\n"
	}
	if !strings.Contains(text, "expired rows still on disk: 1") || !strings.Contains(text, "1 rows of checkpoint_blobs have no checkpoint") {
		t.Errorf("health: %s", text)
	}
	r, err := s.Maintainer.OpenLayer(t.Context(), "checkpoint_blobs")
	must(t, err)
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(data), "Hello") {
		t.Errorf("the layer reads %q, %v", data, err)
	}
}

// TestLargeThreads: a thread with many checkpoints is reported with its bytes.
func TestLargeThreads(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed, `INSERT INTO checkpoints SELECT 'long', '', n::text, NULL, 'json', '{}', '{}' FROM generate_series(1, 150) n`))
	var got []string
	for _, f := range backendtest.Examined(t, s).Findings {
		if f.Kind == "large" {
			got = append(got, f.Ref+": "+f.Message)
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "thread/long: the thread holds 150 checkpoints in ") {
		t.Errorf("large threads: %q", got)
	}
}

// TestHistory: the versions of a thread are its checkpoints, the newest first; values have none.
func TestHistory(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed, `UPDATE checkpoints SET metadata = '{"source":"loop"}' WHERE checkpoint_id = '2'`))
	id := "thread/t" + model.Inner + "/1"
	v, err := s.History.Revisions(t.Context(), id)
	if err != nil || v.State != model.Recorded || len(v.Versions) != 2 || v.Versions[0].ID != "2" || v.Versions[0].By != "loop" || v.Versions[0].Bytes < 50 || v.Versions[0].At.IsZero() {
		t.Errorf("%+v, %v", v, err)
	}
	for version, want := range map[string]string{"2": "human\nHello\n\nai\nHi", "1": ""} {
		if it, err := s.History.ReadRevision(t.Context(), id, version); err != nil || it.Body != want {
			t.Errorf("checkpoint %s reads %q, %v", version, it.Body, err)
		}
	}
	if _, err := s.History.ReadRevision(t.Context(), id, "3"); !errors.Is(err, model.NotFound) {
		t.Errorf("a checkpoint that is not there: %v", err)
	}
	if v, err := s.History.Revisions(t.Context(), "users/brin/p"); err != nil || v.State != model.Unrecorded {
		t.Errorf("a value's history: %+v, %v", v, err)
	}
}

// TestLive: a thread whose graph is writing is reported, since it comes back after a forget; so is one dated ahead of
// the clock, in other words, unless another one runs.
func TestLive(t *testing.T) {
	const far = `INSERT INTO checkpoints VALUES ('far', '', '1', NULL, 'json', '{"ts":"2999-01-01T00:00:00.000Z"}', '{}')`
	for ahead, want := range map[string]string{"0s": "is younger than a minute", "2 days": "is dated in the future"} {
		other := `SELECT 1`
		if ahead == "0s" {
			other = far
		}
		s := open(t, langgraph.Config{}, database(t, "javascript", seed, other, `INSERT INTO checkpoints VALUES ('now', '', '1', NULL, 'json', jsonb_build_object('ts', to_char((now() + interval '`+ahead+`') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), '{}')`))
		var got []string
		for _, f := range backendtest.Examined(t, s).Findings {
			if f.Kind == "live" && strings.Contains(f.Message, want) {
				got = append(got, f.Ref)
			}
		}
		if !slices.Equal(got, []string{"thread/now"}) {
			t.Errorf("%s: live threads: %q", ahead, got)
		}
	}
}

// TestOlderTables: a store without a column that both packages have is shown without it, read-only.
func TestOlderTables(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed, `ALTER TABLE store DROP COLUMN expires_at`, `ALTER TABLE checkpoint_blobs DROP COLUMN version`))
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "lacks") {
		t.Errorf("read-only %v: %s", s.ReadOnly, s.ReadOnlyReason)
	}
	if page, err := s.Browser.List(t.Context(), model.PageRequest{}); err != nil || len(page.Items) != 6 {
		t.Errorf("%d items, %v", len(page.Items), err)
	}
	s = open(t, langgraph.Config{}, database(t, "javascript", seed, `ALTER TABLE store_vectors RENAME COLUMN namespace_path TO space`))
	if !strings.Contains(s.ReadOnlyReason, "store_vectors is of a version that is not known: it lacks namespace_path") {
		t.Errorf("read-only for %q", s.ReadOnlyReason)
	}
	if page, err := s.Browser.List(t.Context(), model.PageRequest{}); err != nil || len(page.Items) == 0 {
		t.Errorf("%d items, %v", len(page.Items), err)
	}
}

// TestAnotherStoreTable: a foreign table with the store's name does not hide the checkpoints.
func TestAnotherStoreTable(t *testing.T) {
	s := open(t, langgraph.Config{}, database(t, "javascript", seed, `DROP TABLE store CASCADE`, `CREATE TABLE store (id int, address text)`))
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	if err != nil || s.ReadOnly || len(page.Items) == 0 || page.Items[0].Tier != "thread" {
		t.Errorf("read-only %v for %q, items %+v, %v", s.ReadOnly, s.ReadOnlyReason, page.Items, err)
	}
}

// TestOpen refuses a database that has neither package's tables.
func TestOpen(t *testing.T) {
	dsn := testpg.DSN(t)
	testpg.Exec(t, dsn, `CREATE TABLE store (key text, value jsonb)`)
	if _, err := langgraph.Open(t.Context(), langgraph.Config{DSN: model.NewSecret(dsn)}); !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), "key, value") {
		t.Errorf("another store: %v", err)
	}
	s := open(t, langgraph.Config{}, database(t, "javascript", `INSERT INTO store_migrations VALUES (9)`))
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "migration 9") {
		t.Errorf("read-only %v: %s", s.ReadOnly, s.ReadOnlyReason)
	}
	s = open(t, langgraph.Config{}, database(t, "javascript", `CREATE TABLE IF NOT EXISTS checkpoint_migrations (v int); INSERT INTO checkpoint_migrations VALUES (9)`))
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "the checkpoints are at migration 9") {
		t.Errorf("read-only %v: %s", s.ReadOnly, s.ReadOnlyReason)
	}
}

// TestConformance runs the cases that fit a store whose texts are JSON objects.
func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Harness{
		Open: func(t *testing.T) model.Store {
			s, err := langgraph.Open(t.Context(), langgraph.Config{DSN: model.NewSecret(database(t, "javascript"))})
			must(t, err)
			return s
		},
		OpenReadOnly: func(t *testing.T) model.Store {
			s, err := langgraph.Open(t.Context(), langgraph.Config{DSN: model.NewSecret(database(t, "javascript", seed)), ReadOnly: true})
			must(t, err)
			return s
		},
		NotByRetain:  map[string]string{"store": "a text is one JSON object under an id of labels and a key"},
		BrokenReason: "a server that is down is the postgres kind's test",
	})
}

// TestForgetBesideAWriter: what another program wrote after the revision was compared is not removed.
func TestForgetBesideAWriter(t *testing.T) {
	dsn := database(t, "javascript", seed)
	s := open(t, langgraph.Config{}, dsn)
	it, err := s.Browser.Read(t.Context(), "users/brin/p")
	must(t, err)
	writer, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer writer.Close(t.Context())
	tx, err := writer.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE store SET value = '{"text":"newer"}' WHERE namespace_path = 'users:brin'`)
	must(t, err)
	forgot := make(chan error, 1)
	go func() {
		_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: it.ID, IfMatch: it.Revision})
		forgot <- err
	}()
	for testpg.Value(t, dsn, `SELECT count(*)::text FROM pg_stat_activity WHERE wait_event_type = 'Lock'`) == "0" {
		time.Sleep(10 * time.Millisecond)
	}
	must(t, tx.Commit(t.Context()))
	if err := <-forgot; !errors.Is(err, model.Conflict) {
		t.Errorf("forgetting a changed value: %v", err)
	}
	if got := testpg.Value(t, dsn, `SELECT count(*)::text FROM store WHERE namespace_path = 'users:brin'`); got != "1" {
		t.Error("the newer value is gone")
	}
}

// TestScrubOfOrphans: rows of a thread whose deletion stopped half-way are no item, and name the subject.
func TestScrubOfOrphans(t *testing.T) {
	dsn := database(t, "javascript", seed, `UPDATE checkpoint_blobs SET blob = convert_to('[{"content":"Ada was here"}]', 'UTF8') WHERE thread_id = 'gone'`,
		`INSERT INTO checkpoint_blobs VALUES ('gone', '', 'other', '1', 'json', '[]'), ('left', '', 'messages', '1', 'json', '[]')`,
		`INSERT INTO checkpoint_writes VALUES ('Ada/gone', '', '2', 'a', 0, 'messages', 'json', '[]'), ('gone', '', '2', 'a', 0, 'messages', 'json', '[]')`)
	testpg.Exec(t, dsn, `INSERT INTO store_vectors (namespace_path, key, text_content) VALUES ('users:x', 'k', 'Ada likes tea'), ('users:y', 'k', 'tea')`)
	s := open(t, langgraph.Config{}, dsn)
	req := model.ScrubRequest{Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") }}
	const all = `SELECT ((SELECT count(*) FROM checkpoint_blobs) + (SELECT count(*) FROM checkpoint_writes) + (SELECT count(*) FROM store_vectors))::text`
	before := testpg.Value(t, dsn, all)
	for _, dry := range []bool{true, false} { // each table is asked about, and stays where it is refused
		asked := map[string]bool{}
		refusing := req
		refusing.Dry, refusing.May = dry, func(layer string, _ []byte) bool { asked[layer] = true; return false }
		res, err := s.Maintainer.Scrub(t.Context(), refusing)
		must(t, err)
		if got := testpg.Value(t, dsn, all); got != before || len(asked) != 3 {
			t.Errorf("dry %v: %s rows of %s, asked %v", dry, got, before, asked)
		}
		for _, r := range res {
			if dry || asked[r.Layer] && r.Verdict != model.VerdictResidue {
				t.Errorf("dry %v: %+v", dry, r)
			}
		}
	}
	res, err := s.Maintainer.Scrub(t.Context(), req)
	must(t, err)
	for _, r := range res {
		if r.Layer == "statistics" && r.Verdict == model.VerdictOutOfScope && strings.Contains(r.Reason, "VACUUM FULL pg_catalog.pg_statistic") {
			continue
		}
		if r.Verdict != model.VerdictClean || r.Layer == "checkpoint_blobs" && r.Rows != 2 {
			t.Errorf("%+v", r)
		}
	}
	if got := testpg.Value(t, dsn, `SELECT (SELECT string_agg(DISTINCT thread_id, ' ' ORDER BY thread_id) FROM checkpoint_blobs) || '; ' || (SELECT string_agg(thread_id, ' ') FROM checkpoint_writes) || '; ' || (SELECT string_agg(namespace_path, ' ' ORDER BY 1) FROM store_vectors)`); got != "left t/1 t2; t/1; users:ada:memories users:y" {
		t.Errorf("left: %s", got)
	}
}

// TestScrubNamesConversations: a text in msgpack, an older version and a pending write are in no item's text,
// so the scrub says whose rows hold them. A longer name is somebody else's.
func TestScrubNamesConversations(t *testing.T) {
	dsn := database(t, "javascript", seed,
		`INSERT INTO checkpoint_blobs VALUES ('t2', '', 'other', '9', 'msgpack', convert_to('told Ada', 'UTF8') || '\xdc'::bytea), ('t2', '', 'other', '8', 'msgpack', convert_to('told Adam', 'UTF8'))`,
		`INSERT INTO checkpoint_writes VALUES ('t2', '', '9', 'a', 0, 'other', 'msgpack', convert_to('told Adam', 'UTF8'))`)
	s := open(t, langgraph.Config{}, dsn)
	word := regexp.MustCompile(`told Ada(\\|$)`)
	res, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Concerns: word.Match})
	must(t, err)
	for _, r := range res {
		if named := strings.Contains(r.Reason, "thread/t2"); named != (r.Layer == "checkpoint_blobs") || named && r.Verdict != model.VerdictClean {
			t.Errorf("%+v", r)
		}
	}
}

// TestValuesThatCannotBeRead: an encrypted or compressed value must be a layer that nobody has looked at, and
// a blob that is missing must not look like an empty conversation.
func TestValuesThatCannotBeRead(t *testing.T) {
	dsn := database(t, "javascript", seed, `
INSERT INTO checkpoints SELECT v, '', '1', NULL, 'json', '{"channel_versions":{"messages":"1"}}', '{}' FROM unnest(ARRAY['enc', 'zip', 'none']) v;
INSERT INTO checkpoint_blobs VALUES ('enc', '', 'messages', '1', 'msgpack+aes', '\x9317'), ('zip', '', 'messages', '1', 'bytes', '\x1f8b0800')`)
	s := open(t, langgraph.Config{}, dsn)
	unread := func() (out []string) {
		layers, err := s.Maintainer.Layers(t.Context())
		must(t, err)
		for _, l := range layers {
			if !l.Readable && l.Kind != model.LayerExternal {
				out = append(out, l.ID+": "+l.Reason)
			}
		}
		return out
	}
	if got := unread(); len(got) != 1 || !strings.HasPrefix(got[0], "checkpoint_blobs (unread values): ") || !strings.Contains(got[0], "serialisation: 2;") {
		t.Errorf("not looked at are %q", got)
	}
	testpg.Exec(t, dsn, `DELETE FROM checkpoint_blobs WHERE thread_id IN ('enc', 'zip')`)
	if got := unread(); len(got) > 0 {
		t.Errorf("of readable values %q is said", got)
	}
	if it, err := s.Browser.Read(t.Context(), "thread/none"); err != nil || !strings.Contains(it.Body, "no blob of the version") {
		t.Errorf("a conversation without its blob reads as %q, %v", it.Body, err)
	}
}

// TestEditOfWhatIsNoObject: a row made by hand with another value must stay erasable; an object stays one.
func TestEditOfWhatIsNoObject(t *testing.T) {
	dsn := database(t, "javascript", `INSERT INTO store (namespace_path, key, value) VALUES ('a', 'list', '[1, "Ada"]')`)
	s := open(t, langgraph.Config{}, dsn)
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "a/list", Mode: model.Replace, Content: `[1, "[erased]"]`}); err != nil {
		t.Error(err)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "a/list", Mode: model.Replace, Content: `[1, `}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("no JSON: %v", err)
	}
	if got := testpg.Value(t, dsn, `SELECT value::text FROM store`); got != `[1, "[erased]"]` {
		t.Errorf("the value is %s", got)
	}
}

// TestEditOfARowWithoutATime: a row that another program wrote without updated_at is unchanged since it was read, too.
func TestEditOfARowWithoutATime(t *testing.T) {
	dsn := database(t, "javascript", `INSERT INTO store (namespace_path, key, value, created_at, updated_at) VALUES ('a', 'k', '{"text":"old"}', NULL, NULL);`)
	s := open(t, langgraph.Config{}, dsn)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "a/k", Mode: model.Replace, Content: `{"text":"new"}`})
	must(t, err)
	if got := testpg.Value(t, dsn, `SELECT value->>'text' FROM store`); got != "new" {
		t.Errorf("the row has %q", got)
	}
}

// TestRowsThatLangGraphRefusesComeBack: another program's row is restored as it was, though a new one like it is refused.
func TestRowsThatLangGraphRefusesComeBack(t *testing.T) {
	dsn := database(t, "javascript", `INSERT INTO store (namespace_path, key, value) VALUES ('a_b', 'k', '{"n":1}'), ('', 'k', '{"n":1}'), ('a', 'list', '[1]');`)
	s := open(t, langgraph.Config{}, dsn)
	for _, id := range []string{"a_b/k", "/k", "a/list"} {
		it, err := s.Browser.Read(t.Context(), id)
		must(t, err)
		kept, err := s.Keep(t.Context(), id)
		must(t, err)
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
		again := model.RetainRequest{ID: id, Mode: model.Replace, Content: it.Body, IfMatch: model.Absent}
		if _, err := s.Provider.Retain(t.Context(), again); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%q as a new row: %v", id, err)
		}
		again.Restore, again.Beside = true, &model.Beside{Rows: kept}
		_, err = s.Provider.Retain(t.Context(), again)
		must(t, err)
	}
	if n := testpg.Value(t, dsn, `SELECT count(*)::text FROM store`); n != "3" {
		t.Errorf("%s of 3 rows came back", n)
	}
}
