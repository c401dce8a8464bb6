package rootdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"memdesk/model"
)

// ErrLink is in the error that refuses a symbolic link.
var ErrLink = model.ErrLink

// ErrNotFile is in the error that refuses a special file in place of a regular file.
var ErrNotFile = errors.New("it is not a regular file")

// ErrNotDirectory is in the error that refuses a file in place of a directory.
var ErrNotDirectory = errors.New("it is not a directory")

var errMoved = errors.New("it was exchanged while it was opened; try again")

// Limits of a name. A longer name reaches no file on memdesk's systems; deeper directories are read, but
// never made.
const (
	MaxName  = 4096 // bytes
	MaxDepth = 64   // directories that hold one another
)

// CheckName is InvalidInput unless a name is parts separated by single slashes: it refuses an empty or dot
// part, two dots, a leading slash, a NUL, and a name over MaxName, which the error does not quote.
func CheckName(name string) error {
	if len(name) > MaxName {
		return model.Errorf(model.InvalidInput, "name", "a name of %d bytes is too long: at most %d bytes are taken", len(name), MaxName)
	}
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return model.Errorf(model.InvalidInput, "name", "%q names no file below the store", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return model.Errorf(model.InvalidInput, "name", "%q names no file below the store", name)
		}
	}
	return nil
}

func checkAny(name string) error {
	if name == "." {
		return nil
	}
	return CheckName(name)
}

func notPlain(fi fs.FileInfo) error {
	switch {
	case fi.Mode()&fs.ModeSymlink != 0:
		return ErrLink
	case fi.Mode().IsRegular():
		return ErrNotDirectory
	case fi.IsDir():
		return model.ErrDirectory
	}
	return ErrNotFile
}

// bare is the cause alone: the wrappers of the os package carry paths.
func bare(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	var se *os.SyscallError
	switch {
	case errors.As(err, &pe):
		return bare(pe.Err)
	case errors.As(err, &le):
		return bare(le.Err)
	case errors.As(err, &se):
		return bare(se.Err)
	}
	return err
}

// root is the innermost cause, without the operation and the name that fail adds.
func root(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

func fail(op, name string, err error) error {
	var me *model.Error
	if errors.As(err, &me) {
		return err
	}
	err = bare(err)
	return model.E(kindOf(err), op, fmt.Errorf("%q: %w", name, err))
}

func kindOf(err error) model.Kind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return model.NotFound
	case errors.Is(err, fs.ErrExist):
		return model.AlreadyExists
	case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrLink), errors.Is(err, ErrNotFile), errors.Is(err, model.ErrDirectory):
		return model.PermissionDenied
	case errors.Is(err, ErrNotDirectory), strings.Contains(err.Error(), "escapes from parent"):
		return model.PermissionDenied
	case errors.Is(err, errMoved):
		return model.Conflict
	}
	return kindOfErrno(err)
}

// Reach says why a store's directory sub of path cannot be read, and the remedy; what names it. Its message holds no path.
func Reach(what, path, sub string) error {
	dir, err := Open(path, nil)
	if err == nil {
		defer dir.Close()
		err = dir.Readable(sub)
	}
	remedy := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotDirectory):
		remedy = "is no directory any more; restore it"
	case errors.Is(err, model.NotFound):
		remedy = "is gone; mount it or correct its path"
	case errors.Is(err, model.PermissionDenied):
		remedy = "may not be read by this user; run as root or as the store's own user"
	default:
		remedy = "cannot be read: " + root(err).Error()
	}
	return model.Errorf(model.KindOf(err), "", "the %s %s", what, remedy)
}
