package transfer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"memdesk/internal/atomicfile"
)

// TestAnExportIsMovedDurably: its entries are flushed before it gets its name, and the name after.
func TestAnExportIsMovedDurably(t *testing.T) {
	dir := t.TempDir()
	part, whole := filepath.Join(dir, "part"), filepath.Join(dir, "whole")
	if err := os.Mkdir(part, 0o700); err != nil {
		t.Fatal(err)
	}
	var flushed []string
	err := moveDir(part, whole, func(name string) error {
		_, err := os.Stat(whole)
		if there := err == nil; there != (name == dir) {
			t.Errorf("%s is flushed, the export has its name: %v", name, there)
		}
		flushed = append(flushed, name)
		return atomicfile.OS{}.SyncDir(name)
	})
	if err != nil || !slices.Equal(flushed, []string{part, dir}) {
		t.Errorf("flushed %q, %v", flushed, err)
	}
}
