//go:build unix

package gdpr

import (
	"os"
	"syscall"
)

// lockFile takes an exclusive lock that ends with the descriptor.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
