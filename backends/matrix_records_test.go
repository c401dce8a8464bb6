package backends_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends"
)

// recordKinds makes an empty store of each kind of other programs that the demo has none of.
func recordKinds(t *testing.T, dir string) []backends.StoreConfig {
	t.Helper()
	claw := filepath.Join(dir, "claw")
	if err := os.MkdirAll(filepath.Join(claw, "workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(claw, "openclaw.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []backends.StoreConfig{{Name: "openclaw", Kind: "openclaw", Path: claw}}
}
