package counts_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"memdesk/internal/counts"
	"memdesk/internal/filelock"
)

// TestSeveralProcessesAdd: two values over one file, as in two servers, must keep each other's counts.
func TestSeveralProcessesAdd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "door", "calls.json")
	ready := func() error { return nil }
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			one := counts.Open(path, ready)
			for range 50 {
				one.Add("recall ok")
				if err := one.Save(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := counts.Read(path)
	if err != nil || got["recall ok"] != 100 {
		t.Errorf("%v, %v: 100 calls were counted", got, err)
	}
}

// TestAnAdditionWaitsForNoFile: another process may hold the file for as long as it likes.
func TestAnAdditionWaitsForNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.json")
	release, err := filelock.Hold(t.Context(), path+".lock", true)
	if err != nil {
		t.Fatal(err)
	}
	readying, saved, added := make(chan struct{}), make(chan error), make(chan struct{})
	one := counts.Open(path, func() error { close(readying); return nil })
	one.Add("recall ok")
	go func() { saved <- one.Save() }()
	<-readying
	go func() { one.Add("recall ok"); close(added) }()
	select {
	case <-added:
	case <-time.After(time.Minute):
		t.Error("an addition waits for the file")
	}
	release()
	if err := <-saved; err != nil {
		t.Error(err)
	}
	<-added
}

// TestADamagedFileIsKept: counting must not restart over an unreadable file.
func TestADamagedFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.json")
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	one := counts.Open(path, func() error { return nil })
	one.Add("recall ok")
	if one.Save() == nil {
		t.Error("the damaged file was replaced")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := one.Save(); err != nil {
		t.Fatal(err)
	}
	if got, _ := counts.Read(path); got["recall ok"] != 1 {
		t.Errorf("%v: the count was lost with the error", got)
	}
}
