// Package atomicfile replaces a file so that a reader, after any crash, finds
// either the old content or the new, never a mixture. It does not merge, lock
// or compare; that is its callers' business.
package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrUnsynced reports that the new content is in place but its directory could
// not be flushed: it is visible now and may be lost with the power.
var ErrUnsynced = errors.New("new content is in place but not known to be durable")

// ErrNotRegular reports a target that is a symbolic link, a directory or a
// device; nothing has been written.
var ErrNotRegular = errors.New("target is not a regular file")

// Options configures the new file.
type Options struct {
	// TempName names the temporary sibling after the target's base name; nil means ".<base>.tmp.<16 hex>". A
	// taken name is tried again, so names must be random, and they must stay in the same directory.
	TempName func(base string) string
	// Perm is the mode of the file, set exactly, whatever the umask; 0 means 0600.
	Perm fs.FileMode
	// KeepMode gives the new file the mode of the replaced one, if there is one.
	KeepMode bool
	// KeepOwner gives the new file the owner and group of the replaced one; when the system refuses, nothing is
	// replaced.
	KeepOwner bool
}

// Write replaces path with data: a temporary sibling, created exclusively, is
// written, flushed and renamed, and the directory is flushed. On an error the
// old file is untouched and no temporary file stays, except under ErrUnsynced.
func Write(path string, data []byte, perm fs.FileMode) error {
	return WriteFS(OS{}, path, data, Options{Perm: perm})
}

// WriteFS is Write with options, over a given file layer.
func WriteFS(fsys FS, path string, data []byte, o Options) error {
	temp, err := stage(fsys, path, data, o)
	if err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return errors.Join(fmt.Errorf("rename into place: %w", err), remove(fsys, temp))
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: flush directory: %w", ErrUnsynced, err)
	}
	return nil
}

// Create makes a new private file, whole and flushed, with what fill writes, or none. It replaces nothing:
// fs.ErrExist where something stands at path, ErrUnsynced where the file is in place but may not last.
func Create(path string, fill func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	f, temp, err := create(OS{}, filepath.Dir(path), filepath.Base(path), HiddenTemp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove(OS{}, temp)) }()
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := Place(temp, path); err != nil {
		return err
	}
	if err := (OS{}).SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: flush directory: %w", ErrUnsynced, err)
	}
	return nil
}

// Place gives a file its name, and replaces nothing: fs.ErrExist where something has it. On a file system
// without links it takes the name first.
func Place(temp, path string) error {
	err := os.Link(temp, path)
	switch {
	case err == nil:
		return os.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Close(), os.Rename(temp, path)); err != nil {
		return errors.Join(err, os.Remove(path)) // only its name was taken
	}
	return nil
}

// MakeDirs is MkdirAll with mode 0700 and flushed entries.
func MakeDirs(fsys FS, dir string) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return errors.New("a file stands where the directory should be")
		}
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
		return err
	}
	if err := MakeDirs(fsys, filepath.Dir(dir)); err != nil {
		return err
	}
	if err := fsys.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return fsys.SyncDir(filepath.Dir(dir))
}

// stage is WriteFS without the rename: it returns the temporary sibling, which the caller renames or removes.
func stage(fsys FS, path string, data []byte, o Options) (temp string, err error) {
	if o.Perm == 0 {
		o.Perm = 0o600
	}
	if o.TempName == nil {
		o.TempName = HiddenTemp
	}
	old, err := target(fsys, path)
	if err != nil {
		return "", err
	}
	f, temp, err := create(fsys, filepath.Dir(path), filepath.Base(path), o.TempName)
	if err != nil {
		return "", err
	}
	if err := fill(f, data, old, o); err != nil {
		return "", errors.Join(err, remove(fsys, temp))
	}
	return temp, nil
}

// HiddenTemp is the default temporary name, ".<base>.tmp.<16 hex>", shortened so
// that a base of the longest legal length still works.
func HiddenTemp(base string) string {
	const room = 255 - len(".") - len(".tmp.") - 16
	return "." + base[:min(len(base), room)] + ".tmp." + Suffix()
}

// Sweep removes what killed writes of a file left in its directory: temporary siblings with the default name, of all
// files for an empty base. Nobody may be writing there. An absent directory has none.
func Sweep(fsys FS, dir, base string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), "."+base)
		if ours && (strings.HasPrefix(rest, ".tmp.") || base == "" && strings.Contains(rest, ".tmp.")) {
			if err := remove(fsys, filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Suffix is 16 random hexadecimal digits.
func Suffix() string {
	var b [8]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// target describes the file at path; nil when there is none.
func target(fsys FS, path string) (fs.FileInfo, error) {
	info, err := fsys.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at target: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: it is a %s", ErrNotRegular, describe(info.Mode()))
	}
	return info, nil
}

func describe(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "directory"
	}
	return "special file"
}

// create makes the temporary sibling; a taken name is tried again with another.
func create(fsys FS, dir, base string, name func(string) string) (File, string, error) {
	const attempts = 16
	var err error
	for range attempts {
		n := name(base)
		if n == "" || n == base || filepath.Base(n) != n {
			return nil, "", fmt.Errorf("temporary name %q is not a sibling of the target", n)
		}
		temp := filepath.Join(dir, n)
		var f File
		f, err = fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
		if err == nil {
			return f, temp, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, "", fmt.Errorf("create temporary file: %w", err)
}

// fill writes, dresses and flushes the temporary file and always closes it.
func fill(f File, data []byte, old fs.FileInfo, o Options) (err error) {
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("close temporary file: %w", cerr)
		}
	}()
	n, err := f.Write(data)
	if err == nil && n != len(data) {
		err = fmt.Errorf("%d of %d bytes written", n, len(data))
	}
	if err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	perm := o.Perm
	if old != nil && o.KeepMode {
		perm = old.Mode().Perm()
	}
	if old != nil && o.KeepOwner {
		if err := keepOwner(f, old); err != nil {
			return err
		}
	}
	// After the owner, because a change of owner clears mode bits.
	if err := f.Chmod(perm); err != nil {
		return fmt.Errorf("set mode: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("flush temporary file: %w", err)
	}
	return nil
}

func keepOwner(f File, old fs.FileInfo) error {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("owner of the old file is unknown")
	}
	now, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at temporary file: %w", err)
	}
	if is, ok := now.Sys().(*syscall.Stat_t); ok && is.Uid == was.Uid && is.Gid == was.Gid {
		return nil
	}
	err = f.Chown(int(was.Uid), int(was.Gid))
	var path *fs.PathError
	if errors.As(err, &path) && errors.Is(err, fs.ErrPermission) {
		err = &fs.PathError{Op: path.Op, Path: path.Path, Err: otherOwner{was.Uid, was.Gid}}
	}
	if err != nil {
		return fmt.Errorf("keep owner: %w", err)
	}
	return nil
}

// otherOwner is the refusal to give a new file to the owner and the group of the old one.
type otherOwner struct{ uid, gid uint32 }

func (o otherOwner) Error() string {
	return fmt.Sprintf("the file belongs to user %d and group %d, and this user cannot give its new version to them: run as root, or as that user in that group", o.uid, o.gid)
}

func (otherOwner) Unwrap() error { return fs.ErrPermission }

func remove(fsys FS, temp string) error {
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove temporary file: %w", err)
	}
	return nil
}
