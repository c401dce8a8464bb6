package backends_test

import (
	"os"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/testpg"
)

// serverKinds are the kinds that need a server.
func serverKinds(t *testing.T) []backends.StoreConfig {
	t.Setenv("MEMDESK_MATRIX_DSN", testpg.DSN(t))
	dsn := testpg.DSN(t)
	schema, err := os.ReadFile("records/langgraph/testdata/javascript.sql")
	if err != nil {
		t.Fatal(err)
	}
	testpg.Exec(t, dsn, string(schema))
	t.Setenv("MEMDESK_MATRIX_LANGGRAPH", dsn)
	server := backends.StoreConfig{Name: "postgres", Kind: "postgres", DSNEnv: "MEMDESK_MATRIX_DSN"}
	kind, _ := backends.Builtin().Kind("postgres")
	if err := kind.Create(t.Context(), server, backends.Env{Clock: clock.System{}}); err != nil {
		t.Fatal(err)
	}
	return []backends.StoreConfig{server,
		{Name: "langgraph", Kind: "langgraph", DSNEnv: "MEMDESK_MATRIX_LANGGRAPH"}}
}

// TestAServersRowsAreLookedAtInTheBackground: a store opened by its kind must run the deep probe.
func TestAServersRowsAreLookedAtInTheBackground(t *testing.T) {
	t.Setenv("MEMDESK_DEEP_DSN", testpg.DSN(t))
	kind, _ := backends.Builtin().Kind("postgres")
	c, env := backends.StoreConfig{Name: "postgres", Kind: "postgres", DSNEnv: "MEMDESK_DEEP_DSN"}, backends.Env{Clock: clock.System{}}
	if err := kind.Create(t.Context(), c, env); err != nil {
		t.Fatal(err)
	}
	s, err := kind.Open(t.Context(), c, env)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for until := time.Now().Add(time.Minute); s.Provider.Health(t.Context()).DeepCheckedAt.IsZero(); {
		if time.Now().After(until) {
			t.Fatal("no deep probe has ended")
		}
	}
}
