package undo_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/inmem"
	"memdesk/backends/records/engram"
	"memdesk/backends/records/mastra"
	"memdesk/backends/records/mem0"
	"memdesk/backends/tracker/beads"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// TestAnEditedRowComesBackInItsForms: what an edit displaced in another program's row must come back unchanged where
// nobody wrote since, and an undo must name the field that does not, elsewhere. A rewrite of both must do the same. So must the undo of
// a change whose end was not seen.
func TestAnEditedRowComesBackInItsForms(t *testing.T) {
	const payload = `{"n":1.50,"user_id":"ada","data":"Ada likes rye","t":true,"hash":"x","textLemmatized":"ada like rye","createdAt":"2026-01-01T00:00:00.000Z"}`
	const before = `{"user_id":"ada","data":"Ada likes rye","hash":"x","textLemmatized":"ada like rye","createdAt":"2026-01-01T00:00:00.000Z","mood":"good","topic":"food"}`
	field := func(names ...string) (out []model.Field) {
		for _, n := range names {
			out = append(out, model.Field{Name: n, Value: "new"})
		}
		return out
	}
	for name, c := range map[string]struct {
		schema, rows, column, id string
		open                     func(path string) (model.Store, error)
		meta                     []model.Field
		touch, said              string
		always                   string // what each undo says
	}{
		"mem0": {"mem0", `INSERT INTO vectors VALUES ('m1', x'0000803f', '` + payload + `')`, `vectors.payload`, "m1",
			func(path string) (model.Store, error) { return mem0.Open(t.Context(), mem0.Config{Path: path}) }, field("n"),
			`UPDATE vectors SET payload = json_set(payload, '$.agent_id', 'desk')`, "payload.t", ""},
		"mem0 whose copy stands before a field": {"mem0", `INSERT INTO vectors VALUES ('m1', x'0000803f', '` + before + `')`, `vectors.payload`, "m1",
			func(path string) (model.Store, error) { return mem0.Open(t.Context(), mem0.Config{Path: path}) }, nil, "", "", ""},
		"mem0 that loses a field before another": {"mem0", `INSERT INTO vectors VALUES ('m1', x'0000803f', '` + before + `')`, `vectors.payload`, "m1",
			func(path string) (model.Store, error) { return mem0.Open(t.Context(), mem0.Config{Path: path}) }, field("topic"), "", "", ""},
		"mastra memory": {"mastra", `INSERT INTO mastra_resources (id, workingMemory, metadata, createdAt, updatedAt) VALUES ('ada', NULL, NULL, 'c', 'u')`, `mastra_resources.workingMemory`, "resource/ada",
			func(path string) (model.Store, error) { return mastra.Open(t.Context(), mastra.Config{Path: path}) }, nil,
			`UPDATE mastra_resources SET updatedAt = 'later'`, "workingMemory", ""},
		"mastra message": {"mastra", `INSERT INTO mastra_messages (id, thread_id, content, role, type, createdAt, resourceId) VALUES ('m1', 't', '{"format":2,"parts":[{"type":"text","text":5}],"content":"other"}', 'user', 'v2', 'c', 'ada')`, `mastra_messages.content`, "message/m1",
			func(path string) (model.Store, error) { return mastra.Open(t.Context(), mastra.Config{Path: path}) }, nil,
			`UPDATE mastra_messages SET content = json_set(content, '$.format', 3)`, "content.parts", "vectors of messages lie elsewhere"},
		"engram session": {"engram", `INSERT INTO sessions (id, project, directory, started_at) VALUES ('s1', 'p', 'd', 'a')`, `sessions.summary`, "session/s1",
			func(path string) (model.Store, error) { return engram.Open(t.Context(), engram.Config{Path: path}) }, nil, "", "", ""},
	} {
		for _, touched := range []bool{false, true} {
			if touched && c.touch == "" {
				continue
			}
			for _, how := range []string{"one", "several", "killed"} {
				if touched && how == "killed" { // what a killed change left is known only where nobody wrote since
					continue
				}
				t.Run(name+" "+how+map[bool]string{true: " touched"}[touched], func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "x.db")
					db, err := sql.Open("sqlite3", path)
					schema, rerr := os.ReadFile(filepath.Join("..", "backends", "demodata", "schema", c.schema+".sql"))
					if err = errors.Join(err, rerr); err != nil {
						t.Fatal(err)
					}
					defer db.Close()
					exec := func(text string) {
						t.Helper()
						if _, err := db.Exec(text); err != nil {
							t.Fatal(err)
						}
					}
					exec(string(schema))
					exec(c.rows)
					table, column, _ := strings.Cut(c.column, ".")
					cell := func() (out string) {
						t.Helper()
						if err := db.QueryRow(`SELECT quote(` + column + `) FROM ` + table).Scan(&out); err != nil {
							t.Fatal(err)
						}
						return out
					}
					s, err := c.open(path)
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					s.Name = "s"
					k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
					opens := func(string) (model.Store, error) { return s, nil }
					was := cell()
					req := model.RetainRequest{ID: c.id, Mode: model.Replace, Content: "another text", Meta: c.meta}
					var e undo.Entry
					switch how {
					case "several":
						_, e, err = k.Together(t.Context(), s, model.OpRetain, []undo.Change{{Retain: &req}})
					case "killed":
						_, e, err = k.Retain(t.Context(), silent(s), req)
						if !errors.Is(err, model.Timeout) {
							t.Fatal(err)
						}
						err = nil
					default:
						_, e, err = k.Retain(t.Context(), s, req)
					}
					if err != nil {
						t.Fatal(err)
					}
					edited := cell()
					if touched {
						exec(c.touch)
					}
					back, err := k.Restore(t.Context(), opens, e.ID)
					said := strings.Join(back.Warnings, "\n")
					if err != nil || (said != "") != (touched || c.always != "") || !strings.Contains(said, c.always) || strings.Contains(said, "not as they were before") != touched || !strings.Contains(said, c.said) && touched {
						t.Errorf("undo: %v, said %q", err, said)
					}
					if got := cell(); (got == was) == touched {
						t.Errorf("the undo of %s gives\n%s\nwas\n%s", edited, got, was)
					}
					if touched {
						return
					}
					if _, err := k.Restore(t.Context(), opens, back.Again.ID); err != nil || cell() != edited {
						t.Errorf("the undo of the undo: %v\n%s\nwas\n%s", err, cell(), edited)
					}
				})
			}
		}
	}
}

// silent is a store that makes each change and does not answer: undo keeps what a kill right after the write leaves.
func silent(s model.Store) model.Store {
	return s.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if err := next(ctx); err != nil || !c.Op.Mutates() {
			return err
		}
		return model.Errorf(model.Timeout, "", "no answer")
	})
}

// TestAKilledChangeOfAFieldIsUndone: where no text tells whether a change was made, its revision must.
func TestAKilledChangeOfAFieldIsUndone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "issues.jsonl"), []byte(`{"id":"w-1","title":"old","description":"text"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	work, err := beads.Open(t.Context(), beads.Config{Name: "s", Path: dir, Port: "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	b := inmem.New(nil)
	graph := hypergraph.Adapt(hypergraph.Config{Name: "s", Kind: "inmem", Location: "x", Backend: b})
	if err := b.CreateNode(t.Context(), hypergraph.Node{ID: "n", Type: "fact", Tier: "task", Content: "text", Confidence: 1}); err != nil {
		t.Fatal(err)
	}
	for id, c := range map[string]struct {
		store        model.Store
		field, value string
	}{"w-1": {work, "title", "new"}, "n": {graph, "confidence", "0.5"}} {
		before, err := c.store.Browser.Read(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		meta := slices.Clone(before.Meta)
		i := slices.IndexFunc(meta, func(f model.Field) bool { return f.Name == c.field })
		meta[i].Value = c.value
		k := undo.New(t.TempDir(), undo.DefaultKeep, clock.System{}, nil)
		_, e, err := k.Retain(t.Context(), silent(c.store), model.RetainRequest{ID: id, Content: before.Body, Mode: model.Replace, Meta: meta})
		if now, _ := c.store.Browser.Read(t.Context(), id); !errors.Is(err, model.Timeout) || now.Revision == before.Revision {
			t.Fatalf("%s: %v, %+v", id, err, now)
		}
		_, err = k.Restore(t.Context(), func(string) (model.Store, error) { return c.store, nil }, e.ID)
		if now, _ := c.store.Browser.Read(t.Context(), id); err != nil || now.Revision != before.Revision {
			t.Errorf("%s: %v; it is %+v", id, err, now)
		}
	}
}
