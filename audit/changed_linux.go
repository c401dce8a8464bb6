package audit

import (
	"io/fs"
	"syscall"
)

// changeTime is when the system last saw a file changed, which no program can set; 0 where it
// is not told.
func changeTime(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ctim.Nano()
	}
	return 0
}
