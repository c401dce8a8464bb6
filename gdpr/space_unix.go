//go:build unix

package gdpr

import (
	"os"
	"path/filepath"
	"syscall"
)

// FreeSpace returns the bytes that an unprivileged program may still write below dir, or below its nearest
// existing parent; false where that is not known.
func FreeSpace(dir string) (int64, bool) {
	for {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			return 0, false
		}
		dir = filepath.Dir(dir)
	}
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true
}
