package vitals

import (
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// inode is a file's device and number as proc_locks(5) writes them.
func inode(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		dev := uint64(st.Dev) //nolint:unconvert,gosec // its type differs between systems
		return fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
	}
	return ""
}
