package tui

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// jobControl reports whether a shell runs this process as a job: in a process group of its own. In
// the session leader's group, as under a forced command of sshd, nobody would wake a stopped
// process.
func jobControl() bool {
	session, err := unix.Getsid(0)
	return err == nil && session != syscall.Getpgrp()
}
