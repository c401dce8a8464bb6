//go:build unix

package media

import "syscall"

// noFollow: a file replaced by a symbolic link meanwhile is not read.
const noFollow = syscall.O_NOFOLLOW
