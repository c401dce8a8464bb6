package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange swaps two files in one step, so that a write to either in between is not lost: it comes
// out at the other name. errors.ErrUnsupported where the file system cannot.
func Exchange(a, b string) error {
	for {
		err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return errors.ErrUnsupported
		case err != nil:
			return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
		default:
			return nil
		}
	}
}
