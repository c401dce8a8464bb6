package seamtest

import (
	"syscall"
	"testing"
)

// MakePipe makes a named pipe; a test is skipped where there are none.
func MakePipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skip(err)
	}
}
