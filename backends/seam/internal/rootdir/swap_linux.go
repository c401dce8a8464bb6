package rootdir

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// CanExchange reports whether this system can exchange two files atomically, so that no foreign write is
// lost between a read and a rename.
const CanExchange = true

// exchange swaps two names of a directory; errors.ErrUnsupported where the file
// system cannot.
func exchange(dir *os.Root, a, b string) error { return renameAt(dir, a, b, unix.RENAME_EXCHANGE) }

// place renames onto a name that must be free; fs.ErrExist when it is not.
func place(dir *os.Root, from, to string) error {
	err := renameAt(dir, from, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, errors.ErrUnsupported) {
		return linkPlace(dir, from, to)
	}
	return err
}

func renameAt(dir *os.Root, from, to string, flags uint) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	fd := int(f.Fd())
	for {
		err = unix.Renameat2(fd, from, fd, to, flags)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return errors.ErrUnsupported
		case errors.Is(err, unix.EEXIST):
			return fs.ErrExist
		}
		return err
	}
}

// unwritten reports whether no process has the file open for writing. The kernel grants a read lease only
// then; where it grants none at all (a foreign owner, a network file system) the answer is true.
func unwritten(f *os.File) bool {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return !errors.Is(err, unix.EAGAIN)
}
