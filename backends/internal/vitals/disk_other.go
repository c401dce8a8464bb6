//go:build !unix

package vitals

import (
	"os"

	"memdesk/model"
)

// Disk cannot be asked here.
func Disk(string) []model.HealthFinding { return nil }

// Unwritable looks at the mode: there is no call that asks for access.
func Unwritable(path string) string {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o200 == 0 {
		return "it is marked as read-only"
	}
	return ""
}
