package gdpr_test

import (
	"fmt"
	"testing"

	"memdesk/gdpr"
)

// TestAnEmptyTextStaysEmpty: a redaction of the metadata writes no mark into a text that was empty: a thread
// without a title, a node without content, an edge without a label.
func TestAnEmptyTextStaysEmpty(t *testing.T) {
	w := newWorld(t)
	mastra := []string{
		`CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT NOT NULL, title TEXT NOT NULL, metadata TEXT, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, content TEXT NOT NULL, role TEXT NOT NULL, type TEXT NOT NULL, createdAt TEXT NOT NULL, resourceId TEXT)`,
		`INSERT INTO mastra_threads VALUES ('t1', '` + other + `', '', '{"asked":"` + name + ` and others"}', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')`,
	}
	graph := []string{recurseSchema(t),
		`INSERT INTO nodes (id, type, content, metadata) VALUES ('bare', 'fact', '', '{"asked":"` + name + ` and others"}')`,
		`INSERT INTO hyperedges (id, type, label, metadata) VALUES ('tie', 'relation', '', '{"asked":"` + name + ` and others"}')`,
	}
	for i := range 20 {
		mastra = append(mastra, fmt.Sprintf(`INSERT INTO mastra_threads VALUES ('q%d', '%s', 'tides', NULL, '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z')`, i, other))
		graph = append(graph, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('q%d', 'fact', 'note %d on tides')`, i, i))
	}
	for i := range 2 {
		graph = append(graph, fmt.Sprintf(`INSERT INTO membership VALUES ('tie', 'q%d', 'subject', 0)`, i))
	}
	threads, nodes := liteStore(t, w, "mastra", mastra...), liteStore(t, w, "sqlite", graph...)
	w.open()
	w.complete(w.plan(w.file().ID))
	for _, c := range [][2]string{
		{threads, `SELECT title || '|' || metadata FROM mastra_threads WHERE id = 't1'`},
		{nodes, `SELECT content || '|' || metadata FROM nodes WHERE id = 'bare'`},
		{nodes, `SELECT label || '|' || metadata FROM hyperedges WHERE id = 'tie'`},
	} {
		if got, want := cell(t, c[0], c[1]), `|{"asked":"[erased] and others"}`; got != want {
			t.Errorf("%s: %s; want %s", c[1], got, want)
		}
	}
}

// Of a message that is all tool results, or of several parts, the store writes no text: the scrub takes the subject out of
// the record, and nothing else.
func TestRedactingWhatIsNotTheText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const tool = `{"format":2,"parts":[{"type":"tool-invocation","toolInvocation":{"state":"result","result":{"who":"%s","n":1.50}}}]}`
	const two = `{"format":2,"parts":[{"type":"text","text":"rye"},{"type":"text","text":"tea"}],"more":["%s"]}`
	file := liteStore(t, w, "mastra",
		`CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT NOT NULL, title TEXT NOT NULL, metadata TEXT, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL)`,
		`CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT NOT NULL, content TEXT NOT NULL, role TEXT NOT NULL, type TEXT NOT NULL, createdAt TEXT NOT NULL, resourceId TEXT)`,
		fmt.Sprintf(`INSERT INTO mastra_messages VALUES ('m1', 't1', '`+tool+`', 'assistant', 'v2', '', '%s')`, name, other),
		fmt.Sprintf(`INSERT INTO mastra_messages VALUES ('m2', 't1', '`+two+`', 'assistant', 'v2', '', '%s')`, name, other))
	w.open()
	w.complete(w.plan(w.file().ID))
	for id, want := range map[string]string{"m1": fmt.Sprintf(tool, gdpr.Erased), "m2": fmt.Sprintf(two, gdpr.Erased)} {
		if got := cell(t, file, `SELECT content FROM mastra_messages WHERE id = '`+id+`'`); got != want {
			t.Errorf("%s is %s", id, got)
		}
	}
}
