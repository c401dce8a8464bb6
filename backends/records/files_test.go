package records_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"memdesk/backends/records"
	"memdesk/model"
)

// TestRemoveReadsNoBackup: it may be larger than the memory of the machine, and is not cleaned here.
func TestRemoveReadsNoBackup(t *testing.T) {
	const size = 64 << 20
	backup := filepath.Join(t.TempDir(), "memory.jsonl.bak")
	if err := os.WriteFile(backup, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(backup, size); err != nil {
		t.Fatal(err)
	}
	f := records.Files{Beside: func() ([]records.File, error) {
		return []records.File{{ID: "memory.jsonl.bak", Path: backup, Why: "a backup"}}, nil
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := f.Remove(model.ScrubRequest{Concerns: func([]byte) bool { return true }})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != nil || len(res) > 0 || got > size/2 {
		t.Errorf("%+v, %v, %d bytes allocated", res, err, got)
	}
}
