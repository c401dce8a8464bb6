//go:build !linux

package beads

import (
	"syscall"
	"time"
)

func changed(*syscall.Stat_t) time.Time { return time.Time{} }
