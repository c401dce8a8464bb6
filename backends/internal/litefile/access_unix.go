//go:build unix

package litefile

import (
	"memdesk/model"

	"golang.org/x/sys/unix"
)

// CheckReadable is PermissionDenied where this user cannot read the file.
func CheckReadable(path string) error {
	if err := unix.Access(path, unix.R_OK); err != nil {
		return model.Errorf(model.PermissionDenied, "open", "the database cannot be read by this user: %w", err)
	}
	return nil
}
