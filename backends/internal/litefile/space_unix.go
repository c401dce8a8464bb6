//go:build unix

package litefile

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"memdesk/model"
)

// enoughSpace refuses a rewrite that would fill the disk: VACUUM needs about
// twice the file (erasure-physical.md, finding 5).
func (m Medium) enoughSpace() error {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(m.File.Path), &st); err != nil {
		return nil // unknown: SQLite itself says when the disk is full
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
	if need := 2 * size(m.File.Path); free < need {
		return model.Errorf(model.Unavailable, "scrub", "rewriting the file needs %d bytes of free space, %d are there: free some and run it again", need, free)
	}
	return nil
}
