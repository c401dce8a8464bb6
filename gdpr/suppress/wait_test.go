package suppress_test

import (
	"path/filepath"
	"testing"
	"time"

	"memdesk/gdpr/suppress"
	"memdesk/internal/filelock"
)

// TestReadingWaitsForNoOtherProcess: a server asks the list at each write, also while an erasure here waits for
// another process that changes it.
func TestReadingWaitsForNoOtherProcess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "suppressed.json")
	key, err := suppress.LoadKey(filepath.Join(dir, "key"))
	l := suppress.Open(path, filepath.Join(dir, "key"))
	if err != nil || l.Add(key, key.Pseudonym("ana"), "er-1", time.Unix(0, 0), "ana") != nil {
		t.Fatal("no list", err)
	}
	unlock, err := filelock.Hold(t.Context(), path+".lock", true)
	if err != nil {
		t.Fatal(err)
	}
	added, read := make(chan error, 1), make(chan error, 1)
	go func() { added <- l.Add(key, key.Pseudonym("bob"), "er-2", time.Unix(0, 0), "bob") }()
	time.Sleep(100 * time.Millisecond) // until it waits
	go func() { _, err := l.Now(); read <- err }()
	select {
	case err := <-read:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("reading waits for another process")
	}
	unlock()
	if err := <-added; err != nil {
		t.Error(err)
	}
}
