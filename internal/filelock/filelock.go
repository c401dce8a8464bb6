// Package filelock takes advisory locks of whole files (flock(2)) and gives them back.
//
// A lock belongs to the open file, not to the descriptor: a program that this process
// is starting holds a copy of every descriptor until its exec. Closing a file would
// leave the lock with that copy for a moment, so Close unlocks first.
package filelock

import (
	"cmp"
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Try takes the lock, exclusive or shared, without waiting; false when another open file has it.
func Try(f *os.File, exclusive bool) (bool, error) {
	err := flock(f, how(exclusive)|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// patience bounds Wait: a stopped process would keep all others waiting for as long as it likes.
const patience = 10 * time.Second

// ErrHeld says that another process holds a lock.
var ErrHeld = errors.New("another process holds the lock")

// Wait takes the lock, exclusive or shared, once it is free. ErrHeld after ten seconds, or when ctx ends.
func Wait(ctx context.Context, f *os.File, exclusive bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		if got, err := Try(f, exclusive); got || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ErrHeld
		case <-time.After(pause):
		}
	}
}

// Hold waits for the lock of a lock file, which is made where it is absent.
func Hold(ctx context.Context, path string, exclusive bool) (release func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(cmp.Or(err, errors.New("the lock file is no file")), f.Close())
	}
	if err := Wait(ctx, f, exclusive); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = Close(f) }, nil
}

// Close releases the lock, if there is one, and closes the file.
func Close(f *os.File) error {
	_ = flock(f, syscall.LOCK_UN) // otherwise the close unlocks it
	return f.Close()
}

func how(exclusive bool) int {
	if exclusive {
		return syscall.LOCK_EX
	}
	return syscall.LOCK_SH
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}
