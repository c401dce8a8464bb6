package sshsig

import (
	"errors"
	"net"
	"path/filepath"
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
