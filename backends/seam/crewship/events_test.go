package crewship

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
)

// TestJournalOfTheScope: the entries of the store's own workspace and crew must be listed, the newest first, without the
// agents' texts; all of them where it is bound to none.
func TestJournalOfTheScope(t *testing.T) {
	dir := t.TempDir()
	for _, crew := range []string{"crew_a", "crew_b"} {
		if err := os.MkdirAll(filepath.Join(dir, "output", "crews", crew, "agents", "ada", ".memory"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	db := sql.OpenDB(connector{"file:" + filepath.Join(dir, "crewship.db")})
	for _, text := range []string{
		"CREATE TABLE workspaces (id, name, slug)", "CREATE TABLE crews (id, name, slug, workspace_id)", "CREATE TABLE agents (id, name, slug, workspace_id, crew_id)",
		"CREATE TABLE journal_entries (id, workspace_id, crew_id, agent_id, mission_id, ts, entry_type, severity, actor_type, actor_id, summary, payload, refs, run_id)",
		"INSERT INTO workspaces VALUES ('ws_1', 'One', 'one')", "INSERT INTO crews VALUES ('crew_a', 'A', 'a', 'ws_1'), ('crew_b', 'B', 'b', 'ws_1')",
		`INSERT INTO journal_entries VALUES
			('j_1', 'ws_1', 'crew_a', NULL, NULL, '2026-01-01T10:00:00.000Z', 'memory.updated', 'info', 'system', 'watcher', 'first', '{"said":"secret"}', '{}', NULL),
			('j_2', 'ws_1', 'crew_b', NULL, NULL, '2026-01-02T10:00:00.000Z', 'memory.updated', 'info', 'system', 'watcher', 'of b', '{}', '{}', NULL),
			('j_3', 'ws_1', NULL, NULL, NULL, '2026-01-03T10:00:00.000Z', 'run.ended', 'warn', 'user', 'u1', 'of all', '{}', '{}', 'r1'),
			('j_4', 'ws_2', NULL, NULL, NULL, '2026-01-04T10:00:00.000Z', 'run.ended', 'info', 'user', 'u2', 'of others', '{}', '{}', NULL)`,
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for bound, want := range map[[2]string][]string{{}: {"of others", "of all", "of b", "first"}, {"one", ""}: {"of all", "of b", "first"},
		{"", "a"}: {"of all", "first"}} {
		s, err := Open(t.Context(), Config{Path: dir, Workspace: bound[0], Crew: bound[1]})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Events.StoreEvents(t.Context(), 10)
		if err != nil || len(got) != len(want) {
			t.Fatalf("bound to %q: %+v, %v", bound, got, err)
		}
		for i, e := range got {
			last := e.Payload[len(e.Payload)-1]
			if last.Value == "r1" {
				last = e.Payload[len(e.Payload)-2]
			}
			if last.Name != "summary" || last.Value != want[i] || e.At.IsZero() {
				t.Errorf("bound to %q, event %d: %+v, want %q", bound, i, e, want[i])
			}
		}
		if one, err := s.Events.StoreEvents(t.Context(), 1); err != nil || len(one) != 1 || one[0].Name != "run.ended" {
			t.Errorf("one event: %+v, %v", one, err)
		}
	}
}
