//go:build unix

package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"memdesk/internal/atomicfile"
)

// TestNothingWaitsForAPipe: a pipe in place of a file must be an error at once, also while another process has it open.
func TestNothingWaitsForAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := os.OpenFile(path, os.O_RDWR, 0) // a plain open would wait for it
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND} {
		if f, err := (atomicfile.OS{}).OpenFile(path, flag, 0o600); err == nil {
			t.Errorf("flags %#x open a pipe", flag)
			_ = f.Close()
		}
	}
	for _, path := range []string{path, os.DevNull} {
		if _, err := atomicfile.ReadFile(path); err == nil {
			t.Errorf("%s is read", path)
		}
	}
}
