package beads

import (
	"io/fs"
	"syscall"
	"time"
)

// stampOf takes the change time too: a writer can set the other one back.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{exists: true, size: info.Size(), mod: info.ModTime()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = sys.Ino
		s.changed = changed(sys)
	}
	return s
}

func unixTime(sec, nsec int64) time.Time { return time.Unix(sec, nsec) }

// otherNames counts the hard links of a file beside the one that is looked at.
func otherNames(info fs.FileInfo) int64 {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() {
		return max(0, int64(sys.Nlink)-1)
	}
	return 0
}
