package sshsig

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"memdesk/model"
)

// TestASilentAgent: an agent that takes a connection and never answers must not hold an approval up.
func TestASilentAgent(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		_, _, err := agentIn(socket, 50*time.Millisecond)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, model.Unavailable) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it still waits")
	}
}

func TestAKeyFileThatIsRefused(t *testing.T) {
	dir := t.TempDir()
	shared, pipe := filepath.Join(dir, "shared"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(shared, []byte("key"), 0o600), os.Chmod(shared, 0o644), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, kind := range map[string]model.Kind{
		shared: model.PermissionDenied, pipe: model.PermissionDenied, filepath.Join(dir, "none"): model.NotFound,
	} {
		if _, err := File(path); model.KindOf(err) != kind {
			t.Errorf("%s: %v, want kind %s", filepath.Base(path), err, kind)
		} else if strings.Contains(err.Error(), dir) {
			t.Errorf("the error names the path: %v", err)
		}
	}
}
