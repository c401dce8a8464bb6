package gdpr_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestLangGraphBeyondItsText: the subject is named in msgpack alone, where the length before the name is a
// letter, and in columns that LangGraph has not. One run erases both, and a bystander stays.
func TestLangGraphBeyondItsText(t *testing.T) {
	w := newWorld(t)
	schema, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", "javascript.sql"))
	if err != nil {
		t.Fatal(err)
	}
	dsn := testpg.DSN(t)
	long := name + strings.Repeat(".", 'E'-len(name))
	testpg.Exec(t, dsn, string(schema)+`;
		ALTER TABLE store ADD note text, ADD raw bytea;
		INSERT INTO store (namespace_path, key, value, note) VALUES ('users', 'a', '{"text":"rye"}', 'of `+name+`'), ('users', 'c', '{"text":"rye"}', 'of `+other+`');
		INSERT INTO store (namespace_path, key, value, raw) VALUES ('users', 'b', '{"text":"rye"}', convert_to('of `+name+`', 'UTF8'));
		INSERT INTO checkpoints VALUES ('t1', '', '1', NULL, 'json', '{"channel_versions":{"messages":"1"}}', '{}'), ('t2', '', '1', NULL, 'json', '{"channel_versions":{"messages":"1"}}', '{}');
		INSERT INTO checkpoint_blobs VALUES ('t1', '', 'messages', '1', 'msgpack', '\x91d945'::bytea || convert_to('`+long+`', 'UTF8')),
			('t2', '', 'messages', '1', 'msgpack', '\x91ae'::bytea || convert_to('`+other+`', 'UTF8'))`)
	t.Setenv("MEMDESK_GDPR_DSN", dsn)
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "langgraph", DSNEnv: "MEMDESK_GDPR_DSN"}}
	w.open()
	w.complete(w.plan(w.file().ID))
	if got := testpg.Value(t, dsn, `SELECT (SELECT string_agg(key, ' ') FROM store) || ' ' || (SELECT string_agg(thread_id, ' ') FROM checkpoint_blobs)`); got != "c t2" {
		t.Errorf("left: %s; want c t2", got)
	}
}

// TestLangGraphRowsOfConversations: another's conversation names the subject in rows that its newest messages do not show.
// The plan lists it, one run ends it, and a conversation on hold keeps all of its rows.
func TestLangGraphRowsOfConversations(t *testing.T) {
	for _, held := range []bool{false, true} {
		w := newWorld(t)
		schema, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", "javascript.sql"))
		if err != nil {
			t.Fatal(err)
		}
		dsn := testpg.DSN(t)
		testpg.Exec(t, dsn, string(schema)+`;
			INSERT INTO checkpoints SELECT t, '', '2', NULL, 'json', '{"channel_versions":{"messages":"2"}}', '{}' FROM unnest(ARRAY['old', 'topic', 'write', 'inside', 'clean']) t;
			INSERT INTO checkpoint_blobs SELECT thread_id, '', 'messages', '2', 'json', convert_to('[{"role":"user","content":"rye"}]', 'UTF8') FROM checkpoints;
			INSERT INTO checkpoint_blobs VALUES ('old', '', 'messages', '1', 'json', convert_to('[{"role":"user","content":"`+name+`"}]', 'UTF8')), ('topic', '', 'topic', '1', 'json', convert_to('"`+name+`"', 'UTF8'));
			INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob) VALUES ('write', '', '2', 't', 0, 'messages', 'json', convert_to('"of `+name+`"', 'UTF8'));
			UPDATE checkpoints SET checkpoint = checkpoint || '{"channel_values":{"who":"`+name+`"}}' WHERE thread_id = 'inside'`)
		t.Setenv("MEMDESK_GDPR_DSN", dsn)
		w.more = []backends.StoreConfig{{Name: "graph", Kind: "langgraph", DSNEnv: "MEMDESK_GDPR_DSN"}}
		w.open()
		r := w.file()
		want := "clean"
		if held {
			for _, id := range []string{"old", "topic", "write", "inside"} {
				w.hold(r.ID, "graph", "thread/"+id)
			}
			w.inScope(w.plan(r.ID))
			want = "clean inside old topic write"
		} else {
			w.complete(w.plan(r.ID))
		}
		if got := testpg.Value(t, dsn, `SELECT string_agg(thread_id, ' ' ORDER BY thread_id COLLATE "C") FROM checkpoints`); got != want {
			t.Errorf("held %v: left %s; want %s", held, got, want)
		}
	}
}

// TestARenamedRowKeepsItsTimeLimit: a bystander's row whose key names the subject gets another key, and ends when it was to
// end; so does one that was forgotten and put back.
func TestARenamedRowKeepsItsTimeLimit(t *testing.T) {
	for _, schema := range []struct{ file, space, more, limit string }{{"javascript.sql", "namespace_path", "", ""}, {"python.sql", "prefix", ", ttl_minutes", ", 90"}} {
		w := newWorld(t)
		ddl, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", schema.file))
		if err != nil {
			t.Fatal(err)
		}
		dsn := testpg.DSN(t)
		const times = `, '2026-01-01T00:00:00Z', '2099-01-01T00:00:00Z'`
		testpg.Exec(t, dsn, string(ddl)+`; INSERT INTO store (`+schema.space+`, key, value, created_at, expires_at`+schema.more+`) VALUES ('shared', 'of `+name+`', '{"text":"rye"}'`+times+schema.limit+`), ('shared', 'oats', '{"text":"rye"}'`+times+schema.limit+`)`)
		t.Setenv("MEMDESK_GDPR_DSN", dsn)
		w.more = []backends.StoreConfig{{Name: "graph", Kind: "langgraph", DSNEnv: "MEMDESK_GDPR_DSN"}}
		w.open()
		_, entry, err := w.desk.Undo.Forget(t.Context(), w.store("graph"), model.ForgetRequest{ID: "shared/oats"})
		if err == nil {
			_, err = w.desk.Undo.Restore(t.Context(), w.fleet.Store, entry.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		w.complete(w.plan(w.file().ID))
		if got, want := testpg.Value(t, dsn, `SELECT string_agg(concat_ws(' ', key, extract(year FROM expires_at), extract(year FROM created_at)`+schema.more+`), '; ' ORDER BY key) FROM store`),
			"oats 2099 2026"+strings.ReplaceAll(schema.limit, ",", "")+"; of erased 2099 2026"+strings.ReplaceAll(schema.limit, ",", ""); got != want {
			t.Errorf("%s: %s; want %s", schema.file, got, want)
		}
	}
}

// TestServerRowsOfHeldItems: a value whose key alone is the name, and a memory whose row has a column of somebody else's,
// stay as they are on a server, and the run ends.
func TestServerRowsOfHeldItems(t *testing.T) {
	w := newWorld(t)
	schema, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", "javascript.sql"))
	if err != nil {
		t.Fatal(err)
	}
	const held = "00000000-0000-4000-8000-000000000001"
	dsn := testpg.DSN(t)
	testpg.Exec(t, dsn, string(schema)+`;
		ALTER TABLE store ADD note text;
		INSERT INTO store (namespace_path, key, value, note) VALUES ('users', '`+name+`', '{"text":"rye"}', 'heard of `+name+` on Monday'), ('users', 'b', '{"text":"rye of `+name+`"}', NULL);
		CREATE TABLE memories (id uuid PRIMARY KEY, vector real[], payload jsonb, note text);
		INSERT INTO memories VALUES ('`+held+`', '{1}', '{"data":"likes rye","user_id":"`+other+`"}', 'said by `+name+`'), ('00000000-0000-4000-8000-000000000002', '{1}', '{"data":"met `+name+`","user_id":"`+other+`"}', NULL)`)
	t.Setenv("MEMDESK_GDPR_DSN", dsn)
	past := filepath.Join(w.dir, "past.db")
	execFile(t, past, `CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)`)
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "langgraph", DSNEnv: "MEMDESK_GDPR_DSN"}, {Name: "mem", Kind: "mem0", DSNEnv: "MEMDESK_GDPR_DSN", History: past}}
	w.open()
	r := w.file()
	w.hold(r.ID, "graph", "users/"+name)
	w.hold(r.ID, "mem", held)
	w.inScope(w.plan(r.ID))
	if got, want := testpg.Value(t, dsn, `SELECT (SELECT string_agg(key || ': ' || COALESCE(note, value::text), '; ' ORDER BY key) FROM store) || '; ' || (SELECT string_agg(COALESCE(note, payload->>'data'), '; ' ORDER BY id) FROM memories)`),
		name+`: heard of `+name+` on Monday; b: {"text": "rye of [erased]"}; said by `+name+`; met [erased]`; got != want {
		t.Errorf("left: %s; want %s", got, want)
	}
}

// TestAnExportGivesServerRows: what a server keeps of the person's conversations and memories beside their texts is given
// whole, and of others' rows the part that names the person.
func TestAnExportGivesServerRows(t *testing.T) {
	w := newWorld(t)
	schema, err := os.ReadFile(filepath.Join("..", "backends", "records", "langgraph", "testdata", "javascript.sql"))
	if err != nil {
		t.Fatal(err)
	}
	dsn := testpg.DSN(t)
	testpg.Exec(t, dsn, string(schema)+`;
		INSERT INTO store (namespace_path, key, value) VALUES ('users', 'b', '{"text":"bob is other"}');
		INSERT INTO checkpoints VALUES ('t1', '', '1', NULL, 'json', '{"ts":"2026-01-01T00:00:00Z"}', '{"user_id":"`+ana+`"}'), ('t2', '', '1', NULL, 'json', '{"ts":"2026-01-01T00:00:00Z"}', '{}');
		INSERT INTO checkpoint_writes VALUES ('t1', '', '1', 'a', 0, 'messages', 'json', convert_to('"c01"', 'UTF8')), ('t2', '', '1', 'a', 0, 'messages', 'json', convert_to(E'"c02 of `+name+`"\nbob is other', 'UTF8'));
		CREATE TABLE memories (id uuid PRIMARY KEY, vector real[], payload jsonb, note text);
		INSERT INTO memories VALUES ('00000000-0000-4000-8000-000000000001', '{1}', '{"data":"likes rye","user_id":"`+ana+`"}', 'c03'), ('00000000-0000-4000-8000-000000000002', '{1}', '{"data":"bob is other","user_id":"bob"}', 'c04 of `+name+`')`)
	t.Setenv("MEMDESK_GDPR_DSN", dsn)
	past := filepath.Join(w.dir, "past.db")
	execFile(t, past, `CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)`)
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "langgraph", DSNEnv: "MEMDESK_GDPR_DSN"}, {Name: "mem", Kind: "mem0", DSNEnv: "MEMDESK_GDPR_DSN", History: past}}
	w.open()
	e, _, _ := export(t, w, w.file().ID)
	all := ""
	for _, it := range e.Items {
		if it.Layer != "item" {
			all += it.Body
		}
	}
	for _, canary := range []string{"c01", "c02", "c03", "c04"} {
		if !strings.Contains(all, canary) {
			t.Errorf("%s is not in the export", canary)
		}
	}
	if strings.Contains(all, "bob is other") {
		t.Errorf("the export holds what is another's: %s", all)
	}
}
