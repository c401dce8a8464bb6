package beads

import (
	"io/fs"
	"syscall"
)

// stampOf also uses the change time: a writer can set the modification time back.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{exists: true, size: info.Size(), mod: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
		s.changed = changed(sys)
	}
	return s
}

// otherNames counts the further hard links of a file.
func otherNames(info fs.FileInfo) int64 {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() {
		return max(0, int64(sys.Nlink)-1)
	}
	return 0
}
