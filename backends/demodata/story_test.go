package demodata

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheFerryFlaps: the ferry's notes disappear and return, and exist when the demo ends.
func TestTheFerryFlaps(t *testing.T) {
	dir := t.TempDir()
	note := filepath.Join(dir, ferryDir, "note.md")
	if err := os.MkdirAll(filepath.Dir(note), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	go func() { defer close(ended); flap(ctx, dir, time.Millisecond, time.Hour) }()
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(note); err != nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the ferry never left")
		}
	}
	stop()
	<-ended
	if _, err := os.Stat(note); err != nil {
		t.Errorf("the ferry is not back at the end: %v", err)
	}
}
