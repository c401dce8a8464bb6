//go:build unix

// Package testcpu measures steps of tests in time of the processor, which other processes do not prolong.
package testcpu

import (
	"syscall"
	"time"
)

// Spent is the time of the processor that this process takes while f runs. A test that measures must not run beside
// others of its package.
func Spent(f func()) time.Duration {
	from := now()
	f()
	return now() - from
}

func now() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for no process of its own
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
