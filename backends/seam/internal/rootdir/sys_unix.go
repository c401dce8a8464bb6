//go:build unix

package rootdir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"memdesk/internal/filelock"
	"memdesk/model"
)

// nonblock keeps an open from waiting for the other end of a pipe that took the
// file's place.
const nonblock = syscall.O_NONBLOCK

// identify takes up what the standard library keeps from its callers.
func (m *Meta) identify(fi fs.FileInfo) {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		m.ino, m.dev, m.links = uint64(st.Ino), uint64(st.Dev), uint32(st.Nlink) //nolint:unconvert // types differ between systems
		m.changed = changed(st)
	}
}

func owner(fi fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}

// flock reports whether the lock was free.
func flock(f *os.File) (bool, error) { return filelock.Try(f, true) }

// access asks whether the process may make entries in a directory. It only
// informs, so going by the path again is harmless.
func access(dir *os.File) error {
	const writeAndSearch = 2 | 1
	return syscall.Access(dir.Name(), writeAndSearch)
}

func kindOfErrno(err error) model.Kind {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return model.NotFound // a file stands where a directory of the name should
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.EROFS):
		return model.PermissionDenied
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EILSEQ), errors.Is(err, syscall.EINVAL):
		return model.InvalidInput
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EIO),
		errors.Is(err, syscall.ESTALE), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return model.Unavailable
	}
	return model.Internal
}
