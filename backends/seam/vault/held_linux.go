package vault

import (
	"time"

	"golang.org/x/sys/unix"
)

// madeAt is when a directory came into being; false where the file system does not tell. The
// inode alone would not do: the next holder's directory may get the same one.
func madeAt(path string) (time.Time, bool) {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), true
}
