package vitals

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"memdesk/model"
)

// Below fullAt bytes of free space nothing can be written safely; below lowAt somebody must
// know.
const (
	fullAt = 1 << 20
	lowAt  = 64 << 20
)

// Disk looks at the file or directory that a store writes: permission and free space, asked
// of the kernel. It writes no probe (R39). What cannot be told is no finding: the look at the
// store itself says that it is gone.
func Disk(path string) []model.HealthFinding {
	if why := Unwritable(path); why != "" {
		return Down(model.FindingDisk, "nothing can be retained: "+why)
	}
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return nil
	}
	return space(int64(st.Bavail)*int64(st.Bsize), st.Blocks == 0) //nolint:unconvert // the types differ between systems
}

// Unwritable says why a file or a directory cannot be written; empty where it can, and where that cannot be told.
func Unwritable(path string) string {
	mode := uint32(unix.W_OK)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		mode |= unix.X_OK // without it no file can be made there
	}
	switch err := unix.Access(path, mode); {
	case errors.Is(err, unix.EROFS):
		return "the file system is mounted read-only"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "this user may not write there; run as the store's own user"
	}
	return ""
}

// space judges free bytes; a file system without blocks (fuse, proc) does not tell them.
func space(free int64, untold bool) []model.HealthFinding {
	switch {
	case untold || free >= lowAt:
		return nil
	case free < fullAt:
		return Down(model.FindingDisk, fmt.Sprintf("the disk is full (%d bytes are free): nothing can be retained", free))
	}
	return Degraded(model.FindingDisk, "", fmt.Sprintf("the disk is nearly full: %d MiB are free", free>>20))
}
