package rootdir

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// maxAttributes bounds the names, and each value, of a file's extended attributes, as Linux
// does (xattr(7)), in bytes.
const maxAttributes = 64 << 10

// Attributes hands out a regular file's extended attributes of users. A file system without
// any has none.
func (d *Dir) Attributes(name string, yield func(attribute string, value []byte)) error {
	f, _, err := d.open(name, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := unix.Flistxattr(int(f.Fd()), nil)
	if err != nil || n <= 0 {
		return withoutAttributes(name, err)
	}
	buf := make([]byte, 2*maxAttributes)
	n, err = unix.Flistxattr(int(f.Fd()), buf[:maxAttributes])
	if err != nil {
		return withoutAttributes(name, err)
	}
	for attribute := range bytes.SplitSeq(buf[:n], []byte{0}) {
		if !bytes.HasPrefix(attribute, []byte("user.")) {
			continue
		}
		value := buf[maxAttributes:]
		k, err := unix.Fgetxattr(int(f.Fd()), string(attribute), value)
		if err != nil {
			return withoutAttributes(name, err)
		}
		yield(string(attribute), value[:k])
	}
	return nil
}

func withoutAttributes(name string, err error) error {
	if err == nil || err == unix.ENOTSUP || err == unix.ENODATA {
		return nil
	}
	return fail("attributes", name, err)
}
