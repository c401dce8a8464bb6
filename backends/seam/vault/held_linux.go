package vault

import (
	"time"

	"golang.org/x/sys/unix"
)

// madeAt is the creation time of a directory; false where the file system does not record it. The inode
// alone would not do: the next holder's directory may reuse it.
func madeAt(path string) (time.Time, bool) {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), true
}
