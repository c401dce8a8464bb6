package beads

import (
	"syscall"
	"time"
)

func changed(s *syscall.Stat_t) time.Time { return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec)) }
