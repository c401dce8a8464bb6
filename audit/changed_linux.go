package audit

import (
	"io/fs"
	"syscall"
)

// changeTime is when the system last saw the file change, a time that no program can set; 0 where it is
// unknown.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
