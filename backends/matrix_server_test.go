package backends_test

import (
	"testing"

	"memdesk/backends"
	"memdesk/internal/testpg"
)

// serverKinds are the kinds that need a server of their own.
func serverKinds(t *testing.T) []backends.StoreConfig {
	t.Setenv("MEMDESK_MATRIX_DSN", testpg.DSN(t))
	return []backends.StoreConfig{{Name: "postgres", Kind: "postgres", DSNEnv: "MEMDESK_MATRIX_DSN"}}
}
