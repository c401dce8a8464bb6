package rootdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/internal/filelock"
	"memdesk/model"
)

// LockWait bounds the wait of Lock when the context ends no earlier.
const LockWait = 10 * time.Second

// Lock is a held lock. Unlock exactly once.
type Lock struct{ f *os.File }

// Unlock releases the lock.
func (l *Lock) Unlock() { _ = filelock.Close(l.f) }

// Lock takes the exclusive flock on a file, which is made with the mode when it is absent and stays
// (crewship-disk.md, Write protocol 1). A link in its place is refused. Locked when another process holds
// it until the context's deadline or LockWait; Timeout when the context is cancelled.
func (d *Dir) Lock(ctx context.Context, name string, mode fs.FileMode) (*Lock, error) {
	return hold(ctx, name, func() (*os.File, error) { return d.sentinel(name, mode) }, func(f *os.File) bool {
		// A remover unlinks the sentinel while it holds it: a waiter on the old file holds nothing.
		now, err := d.root.Lstat(filepath.FromSlash(name))
		if err != nil {
			return false
		}
		got, err := f.Stat()
		return err == nil && os.SameFile(now, got)
	})
}

// LockDir takes the exclusive flock on a directory itself, so that no file is left behind. It excludes only
// callers of the same lock.
func (d *Dir) LockDir(ctx context.Context, name string) (*Lock, error) {
	if err := checkAny(name); err != nil {
		return nil, err
	}
	return hold(ctx, name, func() (*os.File, error) {
		f, err := d.root.Open(filepath.FromSlash(name))
		if err != nil {
			return nil, fail("lock", name, err)
		}
		return f, nil
	}, func(*os.File) bool { return true })
}

// hold polls, because a context cannot interrupt flock.
func hold(ctx context.Context, name string, open func() (*os.File, error), valid func(*os.File) bool) (*Lock, error) {
	deadline := time.NewTimer(LockWait)
	defer deadline.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		f, err := open()
		if err != nil {
			return nil, err
		}
		taken, err := filelock.Try(f, true)
		if err == nil && taken && valid(f) {
			return &Lock{f}, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, fail("lock", name, err)
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, model.FromContext(ctx, "lock")
			}
			return nil, held(name)
		case <-deadline.C:
			return nil, held(name)
		case <-time.After(pause):
		}
	}
}

func held(name string) error {
	return model.Errorf(model.Locked, "lock", "%q is held by another writer; try again", name)
}

// sentinelTemp begins the name of an unfinished lock file.
const sentinelTemp = ".lock.tmp."

// IsLockTemp recognises an unfinished lock file, possibly of a killed process. It is empty and no lock yet:
// its maker makes another when it is removed.
func IsLockTemp(base string) bool {
	random, ok := strings.CutPrefix(base, sentinelTemp)
	return ok && len(random) == 16 && strings.Trim(random, "0123456789abcdef") == ""
}

// sentinelTries bounds the new tries for a lock file because a sweep removed the unfinished one.
const sentinelTries = 8

func (d *Dir) sentinel(name string, mode fs.FileMode) (f *os.File, err error) {
	for range sentinelTries {
		if f, err = d.openSentinel(name, mode); !errors.Is(err, model.NotFound) {
			break
		}
	}
	return f, err
}

// openSentinel opens a lock file, or makes it. A new one appears with its owner and mode: without them
// another writer would be refused.
func (d *Dir) openSentinel(name string, mode fs.FileMode) (*os.File, error) {
	f, _, err := d.open(name, os.O_RDWR)
	if !errors.Is(err, model.NotFound) {
		return f, err
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	parent, err := d.root.OpenRoot(filepath.FromSlash(parentOf(name)))
	if err != nil {
		return nil, fail("lock", name, err)
	}
	defer parent.Close()
	in := Dir{root: parent}
	f, err = in.newSentinel(baseOf(name), mode)
	if errors.Is(err, fs.ErrExist) {
		f, _, err = d.open(name, os.O_RDWR)
		return f, err
	}
	if err != nil {
		return nil, fail("lock", name, err)
	}
	return f, nil
}

func (d *Dir) newSentinel(name string, mode fs.FileMode) (*os.File, error) {
	temp, err := tempName(name, func(random string) string { return sentinelTemp + random }) // a long name leaves no room
	if err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	err = d.dressSentinel(temp, name, mode)
	if err == nil {
		err = place(d.root, temp, name)
	}
	if err != nil {
		_ = f.Close()
		return nil, d.drop(temp, err)
	}
	return f, nil
}

// dressSentinel makes a lock usable for the file's writers: its owner is the file's, or, before the file
// exists, its directory's; its group is that of the directory where the group may write there.
func (d *Dir) dressSentinel(temp, name string, mode fs.FileMode) error {
	dir, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	if _, err := d.give(temp, dir); err != nil {
		return err
	}
	file, err := d.root.Lstat(strings.TrimSuffix(name, ".lock"))
	if _, gid, ok := owner(dir); err == nil && ok && os.Geteuid() == 0 {
		uid, fileGID, _ := owner(file)
		if dir.Mode()&groupWrite == 0 {
			gid = fileGID
		}
		if err := d.root.Lchown(temp, uid, gid); err != nil {
			return err
		}
	}
	return d.root.Chmod(temp, mode)
}
