package backends_test

import (
	"os"
	"testing"

	"memdesk/backends"
	"memdesk/internal/testpg"
)

// serverKinds are the kinds that need a server of their own.
func serverKinds(t *testing.T) []backends.StoreConfig {
	t.Setenv("MEMDESK_MATRIX_DSN", testpg.DSN(t))
	dsn := testpg.DSN(t)
	schema, err := os.ReadFile("records/langgraph/testdata/javascript.sql")
	if err != nil {
		t.Fatal(err)
	}
	testpg.Exec(t, dsn, string(schema))
	t.Setenv("MEMDESK_MATRIX_LANGGRAPH", dsn)
	return []backends.StoreConfig{{Name: "postgres", Kind: "postgres", DSNEnv: "MEMDESK_MATRIX_DSN"},
		{Name: "langgraph", Kind: "langgraph", DSNEnv: "MEMDESK_MATRIX_LANGGRAPH"}}
}
