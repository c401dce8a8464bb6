//go:build !linux

package rootdir

import (
	"errors"
	"os"
)

// CanExchange reports whether this system can exchange two files atomically, so that no foreign write is
// lost between a read and a rename.
const CanExchange = false

func exchange(*os.Root, string, string) error { return errors.ErrUnsupported }

// place renames onto a name that must be free; fs.ErrExist when it is not.
func place(dir *os.Root, from, to string) error { return linkPlace(dir, from, to) }

func unwritten(*os.File) bool { return true }
