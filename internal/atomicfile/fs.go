package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"memdesk/internal/filelock"
)

// FS is the file layer under this project's durable files. It has only the calls that they need, so that a
// test can fail or stop any step.
type FS interface {
	// OpenFile is os.OpenFile.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	// Lstat describes name itself, never what a link points to.
	Lstat(name string) (fs.FileInfo, error)
	// ReadDir lists a directory by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Mkdir makes one directory.
	Mkdir(name string, perm fs.FileMode) error
	// Rename is rename(2): it replaces a file, and a directory only when empty.
	Rename(oldname, newname string) error
	// Remove unlinks a file or an empty directory.
	Remove(name string) error
	// SyncDir flushes a directory's entries.
	SyncDir(name string) error
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// TryLock takes the advisory whole-file lock without waiting; false when another holder has it. Closing the
	// file releases it.
	TryLock(exclusive bool) (bool, error)
	// Allocate reserves space for n bytes at offset without changing the size;
	// errors.ErrUnsupported where the file system cannot.
	Allocate(offset, n int64) error
}

// OS is the machine's own files.
type OS struct{}

// OpenFile is Open.
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Open is os.OpenFile for regular files and directories. Anything else, as a pipe, is an error at once: it may have no
// end, and opening one waits for a writer.
func Open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile is os.ReadFile for what Open opens.
func ReadFile(name string) ([]byte, error) {
	f, err := Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: closing loses nothing
	return io.ReadAll(f)
}

// Lstat is os.Lstat.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// ReadDir is os.ReadDir.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Mkdir is os.Mkdir.
func (OS) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }

// Rename is rename(2); os.Rename refuses an empty directory at the new name.
func (OS) Rename(oldname, newname string) error {
	for {
		err := syscall.Rename(oldname, newname)
		if err == nil {
			return nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
		}
	}
}

// Remove is os.Remove.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir opens and flushes the directory. A file system that has no such call
// (EINVAL) keeps its entries by other means.
func (OS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

type osFile struct{ *os.File }

func (f osFile) TryLock(exclusive bool) (bool, error) { return filelock.Try(f.File, exclusive) }

// Close gives back the lock too.
func (f osFile) Close() error { return filelock.Close(f.File) }

// Pathless drops the paths from an error of the file system (R15): its reader must not see them, or knows
// them already.
func Pathless(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}
