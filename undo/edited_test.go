package undo_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/records/engram"
	"memdesk/backends/records/mastra"
	"memdesk/backends/records/mem0"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// TestAnEditedRowComesBackInItsForms: what an edit displaced in another program's row must come back unchanged where
// nobody wrote since, and an undo must name the field that does not, elsewhere. A rewrite of both must do the same.
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
			for how, many := range map[string]bool{"one": false, "several": true} {
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
					if many {
						_, e, err = k.Together(t.Context(), s, model.OpRetain, []undo.Change{{Retain: &req}})
					} else {
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
