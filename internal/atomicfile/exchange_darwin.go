package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Exchange swaps two files in one step, so that a write to either in between is not lost: it comes
// out at the other name. errors.ErrUnsupported where the file system cannot.
func Exchange(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	switch {
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EINVAL):
		return errors.ErrUnsupported
	case err != nil:
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}
