package mem0_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"memdesk/backends/backendtest"
	"memdesk/backends/internal/litefile"
	"memdesk/backends/records/mem0"
	"memdesk/backends/records/recordstest"
	"memdesk/model"
)

var must, exec, cell, schema = recordstest.Must, recordstest.Exec, recordstest.Cell, recordstest.Schema

// folder makes the files of a store with three memories of two users.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	exec(t, filepath.Join(dir, "v.db"), schema(t, "mem0"),
		`INSERT INTO vectors VALUES ('m1', x'0000803f', '{"n":1.50,"user_id":"ada","agent_id":"desk","data":"Ada likes rye","hash":"x","textLemmatized":"ada like rye","createdAt":"2026-01-01T00:00:00.000Z"}')`,
		`INSERT INTO vectors VALUES ('m2', x'0000803f', '{"user_id":"brin","data":"Brin met Ada at the pier","hash":"x","textLemmatized":"brin meet ada pier","createdAt":"2026-01-02T00:00:00.000Z"}')`,
		`INSERT INTO vectors VALUES ('m3', x'0000803f', '{"user_id":"brin","data":"old","hash":"x","expiration_date":"2020-01-01"}')`)
	exec(t, filepath.Join(dir, "h.db"), schema(t, "mem0-history"),
		`INSERT INTO memory_history (memory_id, new_value, action) VALUES ('m1', 'Ada likes rye', 'ADD'), ('m2', 'Brin met Ada at the pier', 'ADD'), ('gone', 'Ada was here', 'ADD'), ('gone2', 'nobody', 'ADD')`,
		`INSERT INTO messages VALUES ('s1', 'agent_id=desk&user_id=ada', 'user', 'hello', NULL, '2026-01-01T00:00:00.000Z'), ('s2', 'user_id=ada2', 'user', 'hi', NULL, '2026-01-01T00:00:00.000Z')`)
	exec(t, filepath.Join(dir, "v_entities.db"), schema(t, "mem0"),
		`INSERT INTO vectors VALUES ('e1', x'00', '{"data":"rye","linkedMemoryIds":["m1"],"user_id":"ada"}'), ('e2', x'00', '{"data":"pier","linkedMemoryIds":["m1","m2"],"user_id":"brin"}')`)
	return dir
}

func open(t *testing.T, path string) model.Store {
	t.Helper()
	s, err := mem0.Open(t.Context(), mem0.Config{Path: path})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestConformance runs the cases without a new item: only mem0 makes memories.
func TestConformance(t *testing.T) {
	backendtest.Run(t, recordstest.Harness(func(t *testing.T, items bool) (string, string) {
		dir := t.TempDir()
		if items {
			dir = folder(t)
		} else {
			exec(t, filepath.Join(dir, "v.db"), schema(t, "mem0"))
		}
		return dir, filepath.Join(dir, "v.db")
	}, func(ctx context.Context, path string, readOnly bool) (model.Store, error) {
		return mem0.Open(ctx, mem0.Config{Path: path, ReadOnly: readOnly})
	}))
}

// TestEdit must set text and hash, drop the lemmatized copy, keep the rest byte for byte and write one
// row of history; an erasure's redaction writes none (M02).
func TestEdit(t *testing.T) {
	dir := folder(t)
	s := open(t, dir)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "m1", Mode: model.Replace, Content: "likes bread"})
	must(t, err)
	got := cell(t, dir+"/v.db", `SELECT payload FROM vectors WHERE id = 'm1'`)
	if want := `{"n":1.50,"user_id":"ada","agent_id":"desk","data":"likes bread","hash":"f0443a6ec2a85c1f3e6dfa4f71327e9d","createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"`; !strings.HasPrefix(got, want) && !strings.Contains(got, `"data":"likes bread","hash":"`) || strings.Contains(got, "Lemmatized") || !strings.Contains(got, `"n":1.50`) {
		t.Errorf("the payload is %s", got)
	}
	if got := cell(t, dir+"/h.db", `SELECT group_concat(previous_value || '>' || new_value) FROM memory_history WHERE action = 'UPDATE'`); got != "Ada likes rye>likes bread" {
		t.Errorf("the history has %q", got)
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "m2", Mode: model.Replace, Content: "Brin met [erased] at the pier"})
	must(t, err)
	if got := cell(t, dir+"/h.db", `SELECT count(*) FROM memory_history WHERE action = 'UPDATE'`); got != "1" {
		t.Errorf("a redaction wrote the old text into the history")
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "message/s1", Mode: model.Replace, Content: "x"}); !errors.Is(err, model.Unsupported) {
		t.Errorf("a message took an edit: %v", err)
	}
}

// TestForget must remove history rows and entity links, and keep the history on request (M04).
func TestForget(t *testing.T) {
	for name, c := range map[string]struct {
		keep          bool
		history, ents string
	}{
		"whole":        {false, "0", `{"data":"pier","linkedMemoryIds":["m2"],"user_id":"brin"}`},
		"keep history": {true, "1", `{"data":"pier","linkedMemoryIds":["m2"],"user_id":"brin"}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			res, err := open(t, dir).Provider.Forget(t.Context(), model.ForgetRequest{ID: "m1", KeepHistory: c.keep})
			if err != nil || res.Removed != 1 {
				t.Fatalf("removed %d, %v", res.Removed, err)
			}
			if got := cell(t, dir+"/h.db", `SELECT count(*) FROM memory_history WHERE memory_id = 'm1'`); got != c.history {
				t.Errorf("%s rows of history, want %s", got, c.history)
			}
			if got := cell(t, dir+"/v_entities.db", `SELECT group_concat(payload) FROM vectors`); got != c.ents {
				t.Errorf("the entities are %s, want %s", got, c.ents)
			}
		})
	}
}

// TestUndo must restore what a forget removed, byte for byte: vector, payload, history and links; an
// existing entity keeps links added meanwhile (M04).
func TestUndo(t *testing.T) {
	dir := folder(t)
	exec(t, filepath.Join(dir, "h.db"), `ALTER TABLE messages ADD COLUMN "order" DATETIME`, `UPDATE messages SET "order" = '2026-05-01'`,
		`ALTER TABLE memory_history ADD COLUMN "group" TEXT`, `UPDATE memory_history SET "group" = 'a'`) // columns of a newer version
	for _, name := range []string{"v.db", "v_entities.db"} {
		exec(t, filepath.Join(dir, name), `ALTER TABLE vectors ADD COLUMN seen TIMESTAMP`, `ALTER TABLE vectors ADD COLUMN pinned BOOLEAN`, `UPDATE vectors SET seen = '2026-01-02 03:04:05', pinned = 1`)
	}
	s := open(t, dir)
	dump := func() string {
		return cell(t, dir+"/v.db", `SELECT group_concat(id || hex(vector) || payload || seen || typeof(pinned), ';') FROM (SELECT * FROM vectors ORDER BY id)`) +
			cell(t, dir+"/h.db", `SELECT group_concat(id || memory_id || coalesce(new_value, '-') || action || coalesce(created_at, '-') || is_deleted || coalesce("group", '-'), ';') FROM (SELECT * FROM memory_history ORDER BY id)`) +
			cell(t, dir+"/h.db", `SELECT group_concat(id || session_scope || content || coalesce("order", '-'), ';') FROM (SELECT * FROM messages ORDER BY id)`) +
			cell(t, dir+"/v_entities.db", `SELECT group_concat(id || hex(vector) || payload || seen || typeof(pinned), ';') FROM (SELECT * FROM vectors ORDER BY id)`)
	}
	want := strings.Replace(dump(), `["m1","m2"]`, `["m2","m1"]`, 1) // the link is added at the end
	for _, id := range []string{"m1", "message/s1"} {
		it, err := s.Browser.Read(t.Context(), id)
		must(t, err)
		rows, err := s.Keep(t.Context(), id)
		must(t, err)
		_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		must(t, err)
		req := model.RetainRequest{ID: id, Mode: model.Replace, Content: it.Body, Meta: it.Meta, IfMatch: model.Absent}
		if _, err := s.Provider.Retain(t.Context(), req); !errors.Is(err, model.Unsupported) {
			t.Errorf("%s was made without its rows: %v", id, err)
		}
		req.Restore, req.Beside = true, &model.Beside{Rows: rows}
		req.Content += "!"
		if _, err := s.Provider.Retain(t.Context(), req); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%s was put back with another text: %v", id, err)
		}
		req.Content = it.Body
		res, err := s.Provider.Retain(t.Context(), req)
		if err != nil || res.Revision != it.Revision {
			t.Fatalf("%s is not put back as it was: %+v, %v", id, res, err)
		}
	}
	if got := dump(); got != want {
		t.Errorf("after the undo\n%s\nwant\n%s", got, want)
	}
}

// TestIDWithASlash: an erasure takes the memory with a slash in its id, its history and what its row says, and not the message
// of another person whose address its id would be unescaped.
func TestIDWithASlash(t *testing.T) {
	dir := folder(t)
	exec(t, dir+"/v.db", `ALTER TABLE vectors ADD COLUMN more TEXT`,
		`INSERT INTO vectors VALUES ('message/zz', x'00', '{"user_id":"maren","data":"x"}', NULL), ('message/yy', x'00', '{"user_id":"brin","data":"of [erased]"}', 'of maren')`)
	exec(t, dir+"/h.db", `INSERT INTO messages VALUES ('zz', 'user_id=brin', 'user', 'hi', NULL, '')`,
		`INSERT INTO memory_history (memory_id, new_value, action) VALUES ('message/zz', 'x', 'ADD')`)
	s := open(t, dir)
	var ids []string
	must(t, s.Subjects.Concerning(t.Context(), []string{"maren"}, func(h model.SubjectHit) bool {
		ids = append(ids, h.ID)
		return true
	}))
	id := "message" + model.Inner + "/"
	if !slices.Equal(ids, []string{id + "zz"}) {
		t.Errorf("concerning: %q", ids)
	}
	_, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Subjects: []string{"maren"}, Removed: []string{id + "zz"}, Edited: []string{id + "yy"},
		Concerns: func(b []byte) bool { return strings.Contains(string(b), "maren") },
		Redact:   func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "maren", "[erased]")) }})
	must(t, err)
	if got := cell(t, dir+"/h.db", `SELECT count(*) FROM memory_history WHERE memory_id = 'message/zz'`); got != "0" {
		t.Errorf("%s rows of history are left", got)
	}
	if got := cell(t, dir+"/v.db", `SELECT more FROM vectors WHERE id = 'message/yy'`); got != "of [erased]" {
		t.Errorf("the edited row says %q", got)
	}
}

// TestHistoryWithNull: one row without an id or an event must not hide the others.
func TestHistoryWithNull(t *testing.T) {
	dir := t.TempDir()
	exec(t, dir+"/v.db", schema(t, "mem0"), `INSERT INTO vectors VALUES ('m1', x'00', '{"data":"x"}')`)
	exec(t, dir+"/h.db", `CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at TEXT, updated_at TEXT, is_deleted INTEGER, actor_id TEXT, role TEXT)`,
		`INSERT INTO history (id, memory_id, new_memory, event) VALUES ('a', 'm1', 'x', NULL), (NULL, 'm1', 'y', 'ADD')`)
	v, err := open(t, dir).History.Revisions(t.Context(), "m1")
	must(t, err)
	if len(v.Versions) != 2 || v.Versions[0].Readable == v.Versions[1].Readable {
		t.Errorf("the versions are %+v", v.Versions)
	}
}

// TestOwnerless reports the history of deleted memories, whose owner is unknown (M06).
func TestOwnerless(t *testing.T) {
	s := open(t, folder(t))
	layers, err := s.Maintainer.Layers(t.Context())
	must(t, err)
	for _, l := range layers {
		if l.ID == "history, owner unknown" && l.Kind == model.LayerExternal && strings.HasPrefix(l.Reason, "2 rows ") {
			return
		}
	}
	t.Errorf("the layers are %+v", layers)
}

// TestScrub must remove the history of deleted memories that names the subject, and redact a
// bystander's rows (M06).
func TestScrub(t *testing.T) {
	dir := folder(t)
	s := open(t, dir)
	_, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Subjects: []string{"ada"}, Removed: []string{"m1"},
		Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") },
		Redact:   func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "Ada", "[erased]")) }})
	must(t, err)
	if got := cell(t, dir+"/h.db", `SELECT group_concat(memory_id || ':' || new_value, ';') FROM memory_history`); got != "m2:Brin met [erased] at the pier;gone2:nobody" {
		t.Errorf("the history is %q", got)
	}
	if got := cell(t, dir+"/v_entities.db", `SELECT group_concat(id) FROM vectors`); got != "e2" {
		t.Errorf("the entities are %q", got)
	}
}

// TestHistoryOfNoMemory: Python's history lets a row name no memory. It counts as a deleted one's.
func TestHistoryOfNoMemory(t *testing.T) {
	dir := folder(t)
	exec(t, dir+"/h.db", `CREATE TABLE h AS SELECT * FROM memory_history`, `DROP TABLE memory_history`, `ALTER TABLE h RENAME TO memory_history`,
		`INSERT INTO memory_history (new_value, action) VALUES ('Ada of no memory', 'ADD'), ('no memory', 'ADD')`)
	s := open(t, dir)
	if text := fmt.Sprint(backendtest.Examined(t, s).Findings); !strings.Contains(text, "3 deleted memories are still readable") {
		t.Errorf("health says %s", text)
	}
	_, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Concerns: func(b []byte) bool { return strings.Contains(string(b), "Ada") },
		Redact: func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "Ada", "[erased]")) }})
	must(t, err)
	if got := cell(t, dir+"/h.db", `SELECT group_concat(new_value, ';') FROM memory_history WHERE memory_id IS NULL`); got != "no memory" {
		t.Errorf("the history has %q", got)
	}
}

// TestHealthBlamesNobody: a memory without the lemmatized copy may have been written so; none of these was edited.
func TestHealthBlamesNobody(t *testing.T) {
	text := fmt.Sprint(backendtest.Examined(t, open(t, folder(t))).Findings)
	if !strings.Contains(text, "1 memories lack the lemmatized copy that others have: they were written without it, or edited with memdesk") {
		t.Errorf("health says %s", text)
	}
}

// TestHistory lists a memory's changes, the oldest first, with the text before and after (mem0.md, History facet).
func TestHistory(t *testing.T) {
	s := open(t, folder(t))
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "m1", Mode: model.Append, Content: "!"})
	must(t, err)
	v, err := s.History.Revisions(t.Context(), "m1")
	if err != nil || len(v.Versions) != 2 || v.Versions[0].By != "ADD" || v.Versions[1].By != "UPDATE" {
		t.Fatalf("%+v, %v", v, err)
	}
	if a, u := v.Versions[0].Change, v.Versions[1].Change; a.Previous != nil || *a.New != "Ada likes rye" || u.Action != "UPDATE" || *u.Previous != "Ada likes rye" || *u.New != "Ada likes rye!" {
		t.Errorf("the changes are %+v and %+v", a, u)
	}
	it, err := s.History.ReadRevision(t.Context(), "m1", v.Versions[0].ID)
	if err != nil || it.Body != "Ada likes rye" {
		t.Errorf("%+v, %v", it, err)
	}
}

// TestOpen finds files by their columns, and refuses ambiguous ones (M01).
func TestOpen(t *testing.T) {
	dir := folder(t)
	if s := open(t, filepath.Join(dir, "v.db")); s.History == nil || s.Capabilities()["keep_history"] != true {
		t.Error("the history beside the vector file was not found")
	}
	exec(t, filepath.Join(dir, "w.db"), schema(t, "mem0"))
	if _, err := mem0.Open(t.Context(), mem0.Config{Path: dir}); !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), "v.db, w.db") {
		t.Errorf("two vector files: %v", err)
	}
	alone := t.TempDir()
	exec(t, filepath.Join(alone, "v.db"), schema(t, "mem0"))
	s := open(t, alone)
	text := ""
	for _, f := range backendtest.Examined(t, s).Findings {
		text += f.Message
	}
	if !strings.Contains(text, "no history file was found") {
		t.Errorf("health says %q", text)
	}
	layers, err := s.Maintainer.Layers(t.Context())
	if err != nil || !slices.ContainsFunc(layers, func(l model.Layer) bool { return l.ID == "history" && l.Kind == model.LayerDerived && !l.Readable }) {
		t.Errorf("the history is no layer: %+v %v", layers, err)
	}
	exec(t, filepath.Join(alone, "v.db"), `INSERT INTO vectors VALUES ('m1', x'00', '{"data":"x"}')`)
	if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "m1"}); err != nil || !strings.Contains(strings.Join(res.Warnings, ""), "no history file was found") {
		t.Errorf("the forget says %q, %v", res.Warnings, err)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	if _, err := mem0.Open(t.Context(), mem0.Config{Path: alone, History: other}); !errors.Is(err, model.NotFound) || !strings.Contains(err.Error(), `"other.db"`) || !strings.Contains(err.Error(), "history") {
		t.Errorf("a configured history that is not there: %v", err)
	}
	exec(t, other, `CREATE TABLE foo (x)`)
	if _, err := mem0.Open(t.Context(), mem0.Config{Path: alone, History: other}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a configured history that is none: %v", err)
	}
}

// TestALockedFile: a file that another program holds may be a part of the store, so the error names it. A store
// whose files are all named opens without it.
func TestALockedFile(t *testing.T) {
	for _, name := range []string{"v.db", "h.db", "w.db"} {
		dir := folder(t)
		if name == "w.db" {
			exec(t, filepath.Join(dir, name), `CREATE TABLE other (x)`)
		}
		db, err := sql.Open("sqlite3", filepath.Join(dir, name))
		must(t, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		_, err = db.Exec(`BEGIN EXCLUSIVE`)
		must(t, err)
		ctx := litefile.Impatient(t.Context())
		if _, err := mem0.Open(ctx, mem0.Config{Path: dir}); !errors.Is(err, model.Locked) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is locked: %v", name, err)
		}
		s, err := mem0.Open(ctx, mem0.Config{Path: filepath.Join(dir, "v.db"), History: filepath.Join(dir, "h.db")})
		if errors.Is(err, model.Locked) != (name != "w.db") {
			t.Errorf("%s is locked, and the store's files are named: %v", name, err)
		}
		if err == nil {
			must(t, s.Close())
		}
	}
}

// TestVersions: a history without messages is an older one, one that lacks a known column is opened
// read-only, and a newer version's columns must return with an undo (M01).
func TestVersions(t *testing.T) {
	for change, want := range map[string]string{
		`DROP TABLE messages`:                               "",
		`ALTER TABLE memory_history DROP COLUMN is_deleted`: "it lacks memory_history.is_deleted",
		`ALTER TABLE messages DROP COLUMN name`:             "it lacks messages.name",
		`ALTER TABLE memory_history ADD COLUMN more TEXT`:   "",
	} {
		dir := folder(t)
		exec(t, filepath.Join(dir, "h.db"), change)
		s := open(t, dir)
		page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true})
		if err != nil || len(page.Items) == 0 || s.ReadOnly != (want != "") || !strings.Contains(s.ReadOnlyReason, want) {
			t.Errorf("%s: %d items, read-only for %q, %v", change, len(page.Items), s.ReadOnlyReason, err)
		}
	}
	dir := folder(t)
	exec(t, filepath.Join(dir, "h.db"), `ALTER TABLE memory_history ADD COLUMN more TEXT`, `UPDATE memory_history SET more = 'h' || id`)
	exec(t, filepath.Join(dir, "v.db"), `ALTER TABLE vectors ADD COLUMN "the more" TEXT`, `UPDATE vectors SET "the more" = 'v' || id`)
	s := open(t, dir)
	dump := func() string {
		return cell(t, dir+"/v.db", `SELECT group_concat(id || payload || "the more", ';') FROM (SELECT * FROM vectors ORDER BY id)`) + cell(t, dir+"/h.db", `SELECT group_concat(id || more, ';') FROM (SELECT * FROM memory_history ORDER BY id)`)
	}
	want := dump()
	it, err := s.Browser.Read(t.Context(), "m1")
	must(t, err)
	rows, err := s.Keep(t.Context(), "m1")
	must(t, err)
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "m1"})
	must(t, err)
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "m1", Mode: model.Replace, Content: it.Body, Meta: it.Meta, IfMatch: model.Absent, Restore: true, Beside: &model.Beside{Rows: rows}})
	must(t, err)
	if got := dump(); got != want {
		t.Errorf("after the undo\n%s\nwant\n%s", got, want)
	}
}

// TestItems: expired memories are hidden and flagged, scopes name their owners.
func TestItems(t *testing.T) {
	s := open(t, folder(t))
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	must(t, err)
	if len(page.Items) != 4 {
		t.Errorf("%d items are shown, want 4", len(page.Items))
	}
	it, err := s.Browser.Read(t.Context(), "m3")
	if err != nil || !it.Has(model.FlagExpired) || it.Scope != "user_id=brin" {
		t.Errorf("%+v, %v", it, err)
	}
	if it, err = s.Browser.Read(t.Context(), "m1"); err != nil || it.Scope != "user_id=ada/agent_id=desk" {
		t.Errorf("%+v, %v", it, err)
	}
}

// TestNumbersInPayloads: a program may keep an owner's id as a number, and a time in milliseconds.
func TestNumbersInPayloads(t *testing.T) {
	dir := t.TempDir()
	exec(t, filepath.Join(dir, "v.db"), schema(t, "mem0"), `INSERT INTO vectors SELECT printf('n%d', value), x'00', json_object('user_id', 4711, 'data', 'text ' || value, 'createdAt', 1767225600000 + value) FROM json_each('[1,2,3,4,5]')`)
	exec(t, filepath.Join(dir, "v_entities.db"), schema(t, "mem0"), `INSERT INTO vectors VALUES ('e', x'00', '{"user_id":4711,"data":"rye"}'), ('f', x'00', '{"user_id":47110,"data":"pier"}')`)
	s := open(t, dir)
	_, err := s.Maintainer.Scrub(t.Context(), model.ScrubRequest{Subjects: []string{"4711"}})
	must(t, err)
	if got := cell(t, dir+"/v_entities.db", `SELECT group_concat(id) FROM vectors`); got != "f" {
		t.Errorf("of the entities stay %q", got)
	}
	var hits []string
	must(t, s.Subjects.Concerning(t.Context(), []string{"4711"}, func(h model.SubjectHit) bool { hits = append(hits, h.ID); return true }))
	if len(hits) != 5 {
		t.Errorf("of the subject are %q", hits)
	}
	for _, order := range []model.Order{model.OrderNewest, model.OrderOldest} {
		var got []string
		for req := (model.PageRequest{Order: order, Limit: 2}); len(got) < 10; {
			page, err := s.Browser.List(t.Context(), req)
			must(t, err)
			for _, h := range page.Items {
				got = append(got, h.ID)
			}
			if req.Cursor = page.Next; req.Cursor == "" {
				break
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != "n1 n2 n3 n4 n5" {
			t.Errorf("%s lists %q", order, got)
		}
	}
}

// TestReplacedHistory: a history that was restored while the store is open is another file: what goes into the
// opened one does not reach it.
func TestReplacedHistory(t *testing.T) {
	dir := folder(t)
	exec(t, dir+"/h.db", `PRAGMA journal_mode = WAL`)
	s := open(t, dir)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "m2", Mode: model.Replace, Content: "Brin sails"})
	must(t, err)
	exec(t, dir+"/restored", schema(t, "mem0-history"), `INSERT INTO memory_history (memory_id, new_value, action) VALUES ('m1', 'Ada likes rye', 'ADD'), ('m2', 'Brin waits', 'ADD')`)
	must(t, os.Rename(dir+"/restored", dir+"/h.db"))
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "m1"}); !errors.Is(err, model.Unavailable) {
		t.Errorf("the forget says %v", err)
	}
	if n := cell(t, dir+"/v.db", `SELECT count(*) FROM vectors WHERE id = 'm1'`); n != "1" {
		t.Error("the memory is gone without its history")
	}
}

// zoned are memories by their times, the oldest first: as text they sort otherwise.
var zoned = []string{"2026-02-31T99:00:00Z", "2026-01-01 20:00:00", "2026-01-01T22:30:00.5+02:00", "2026-01-02T03:00:00Z", "2026-01-01T23:00:00-07:00", "2026-01-01T00:00:00+00:99"}

// inOrder lists the zoned memories, one a page.
func inOrder(t *testing.T, s model.Store, id func(n int) string) {
	t.Helper()
	for order, want := range map[model.Order][]int{model.OrderOldest: {1, 2, 3, 4}, model.OrderNewest: {4, 3, 2, 1}} {
		var got []string
		for next := ""; ; {
			page, err := s.Browser.List(t.Context(), model.PageRequest{Tier: "memory", Order: order, Limit: 1, Cursor: next})
			must(t, err)
			for _, it := range page.Items {
				got = append(got, it.ID)
			}
			if next = page.Next; next == "" {
				break
			}
		}
		got = slices.DeleteFunc(got, func(have string) bool { return have == id(0) || have == id(5) }) // of no time
		if !slices.Equal(got, []string{id(want[0]), id(want[1]), id(want[2]), id(want[3])}) {
			t.Errorf("%s: %q", order, got)
		}
	}
}

// TestOrderOfZones orders memories by the instant, whatever zone their times are written in.
func TestOrderOfZones(t *testing.T) {
	dir := t.TempDir()
	exec(t, filepath.Join(dir, "v.db"), schema(t, "mem0"))
	for i, at := range zoned {
		exec(t, filepath.Join(dir, "v.db"), fmt.Sprintf(`INSERT INTO vectors VALUES ('m%d', x'', '{"data":"x","created_at":"%s"}')`, i, at))
	}
	inOrder(t, open(t, dir), func(n int) string { return fmt.Sprint("m", n) })
}

// TestOrderOfZonesInACollection does so on a server.
func TestOrderOfZonesInACollection(t *testing.T) {
	id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", n) }
	var more []string
	for i, at := range zoned {
		more = append(more, fmt.Sprintf(`INSERT INTO memories VALUES ('%s', '{1}', '{"data":"x","created_at":"%s"}')`, id(i), at))
	}
	inOrder(t, collection(t, mem0.Config{}, database(t, more...)), id)
}

// TestALongQuery: SQLite takes no pattern of more than 50,000 bytes.
func TestALongQuery(t *testing.T) {
	_, err := open(t, folder(t)).Browser.List(t.Context(), model.PageRequest{Query: strings.Repeat("x", 60_000)})
	if !errors.Is(err, model.InvalidInput) {
		t.Errorf("%.300v", err)
	}
}

// SQLite permits NULL in a primary key of text: such a row is no item, hides no other, and is told.
func TestRowsWithoutAnID(t *testing.T) {
	dir := folder(t)
	exec(t, filepath.Join(dir, "v.db"), `INSERT INTO vectors VALUES (NULL, x'', '{"user_id":"ada","data":"Ada lost"}'), (NULL, x'', '{"user_id":"ada","data":"Ada lost too"}'), ('', x'', '{"user_id":"ada","data":"Ada lost again"}'), (x'4142', x'', '{"user_id":"ada","data":"Ada lost in bytes"}')`)
	exec(t, filepath.Join(dir, "h.db"), `INSERT INTO messages (content) VALUES ('Ada')`, `INSERT INTO messages (id, content) VALUES ('', 'Ada')`)
	s := open(t, dir)
	want := []string{
		"rows of tier memory without an id of text (4) are not shown: give them one, or delete them, with a program for SQLite",
		"rows of tier message without an id of text (1) are not shown: give them one, or delete them, with a program for SQLite",
	}
	page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true})
	if err != nil || len(page.Items) != 6 || page.Total != (model.Count{N: 6, AtLeast: true}) || !slices.Equal(page.Problems, want) {
		t.Errorf("%d items, total %+v, problems %q, %v", len(page.Items), page.Total, page.Problems, err)
	}
	problems, err := s.Texts.EachText(t.Context(), func(model.Text, error) bool { return true })
	if err != nil || !slices.Equal(problems, want) {
		t.Errorf("texts: %q, %v", problems, err)
	}
	hits, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "rye", Limit: 5})
	if err != nil || len(hits.Hits) != 1 || !hits.Bounded {
		t.Errorf("recall: %+v, %v", hits, err)
	}
	concern := 0
	if err := s.Subjects.Concerning(t.Context(), []string{"ada"}, func(model.SubjectHit) bool { concern++; return true }); err != nil || concern == 0 {
		t.Errorf("%d items concern the subject, %v", concern, err)
	}
	if it, err := s.Browser.Read(t.Context(), "message/"); err != nil || it.Body != "Ada" {
		t.Errorf("an empty key after a prefix: %q, %v", it.Body, err)
	}
	if _, err := s.Browser.Read(t.Context(), "absent"); !errors.Is(err, model.NotFound) {
		t.Errorf("an absent item: %v", err)
	}
}

// TestHotJournal: a writer that was killed in the middle of a change leaves its journal. Reading only, the
// error must name the file and the reason; else the journal is rolled back, as by every SQLite program.
func TestHotJournal(t *testing.T) {
	dir, copied := folder(t), t.TempDir()
	db, err := sql.Open("sqlite3", filepath.Join(dir, "v.db"))
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range []string{`PRAGMA journal_mode = DELETE`, `PRAGMA cache_size = 1`, `BEGIN IMMEDIATE`, `UPDATE vectors SET payload = payload || hex(randomblob(90000))`} {
		_, err := db.Exec(q)
		must(t, err)
	}
	must(t, os.CopyFS(copied, os.DirFS(dir))) // as the disk is after the kill
	if _, err := mem0.Open(t.Context(), mem0.Config{Path: copied, ReadOnly: true}); !errors.Is(err, model.PermissionDenied) || !strings.Contains(err.Error(), `"v.db": a writer crashed`) {
		t.Errorf("for reading: %v", err)
	}
	it, err := open(t, copied).Browser.Read(t.Context(), "m1")
	if err != nil || it.Body != "Ada likes rye" {
		t.Errorf("after the rollback: %q, %v", it.Body, err)
	}
}
