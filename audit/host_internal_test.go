package audit

import (
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyDiskIsNamed: a refusal must say which directory takes no writes.
func TestReadOnlyDiskIsNamed(t *testing.T) {
	if err := refuse(barred(syscall.EROFS)); !strings.Contains(err.Error(), "state directory (`memdesk info` says where it lies)") {
		t.Error(err)
	}
}
