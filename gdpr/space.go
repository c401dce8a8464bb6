package gdpr

import (
	"path/filepath"
	"syscall"
)

// FreeSpace returns the bytes that an unprivileged program may still write below dir, or below its nearest
// existing parent; false where that is not known.
func FreeSpace(dir string) (int64, bool) {
	var st syscall.Statfs_t
	for syscall.Statfs(dir, &st) != nil {
		if filepath.Dir(dir) == dir {
			return 0, false
		}
		dir = filepath.Dir(dir)
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
