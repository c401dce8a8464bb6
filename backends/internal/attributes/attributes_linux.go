package attributes

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"memdesk/model"
)

// maxSize bounds the names, and each value, of a file's attributes, as Linux does (xattr(7)),
// in bytes.
const maxSize = 64 << 10

// list returns the names of a file's attributes. A file system without any has none.
func list(fd int) ([]string, error) {
	return listed(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
}

// listAt is list of a path. It follows no link at the path's end; a file that is gone has none.
func listAt(path string) ([]string, error) {
	return listed(func(buf []byte) (int, error) {
		n, err := unix.Llistxattr(path, buf)
		if errors.Is(err, unix.ENOENT) {
			return 0, nil
		}
		return n, err
	})
}

func listed(list func(buf []byte) (int, error)) ([]string, error) {
	n, err := list(nil)
	if err != nil || n <= 0 {
		return nil, worded(err)
	}
	buf := make([]byte, maxSize)
	if n, err = list(buf); err != nil {
		return nil, worded(err)
	}
	var out []string
	for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if strings.HasPrefix(name, namespace) {
			out = append(out, name)
		}
	}
	return out, nil
}

// get reads a value; NotFound when it is gone.
func get(fd int, name string) ([]byte, error) {
	buf := make([]byte, maxSize)
	n, err := unix.Fgetxattr(fd, name, buf)
	if errors.Is(err, unix.ENODATA) {
		return nil, model.Errorf(model.NotFound, "attributes", "the attribute is gone")
	}
	if err != nil {
		return nil, worded(err)
	}
	return buf[:n], nil
}

// remove removes an attribute that may be gone.
func remove(fd int, name string) error { return worded(unix.Fremovexattr(fd, name)) }

func worded(err error) error {
	switch {
	case err == nil, errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENODATA):
		return nil
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return model.E(model.PermissionDenied, "attributes", err)
	}
	return model.E(model.Internal, "attributes", err)
}
