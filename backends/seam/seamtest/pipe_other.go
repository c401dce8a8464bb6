//go:build !unix

package seamtest

import "testing"

// MakePipe makes a named pipe; a test is skipped where there are none.
func MakePipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("this system has no named pipes")
}
