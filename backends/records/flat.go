package records

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// Stamp detects a change of a flat file, without reading it.
type Stamp struct {
	Changed time.Time
	size    int64
	info    fs.FileInfo
}

// There reports whether the file existed.
func (s Stamp) There() bool { return s.info != nil }

// Same reports whether the file is unchanged.
func (s Stamp) Same(o Stamp) bool {
	return s.size == o.size && s.Changed.Equal(o.Changed) && s.There() == o.There() && (!s.There() || os.SameFile(s.info, o.info))
}

// StampOf returns the stamp of a file, which may be absent.
func StampOf(path string) (Stamp, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{}, nil
	}
	if err != nil {
		return Stamp{}, litefile.Worded("open", err)
	}
	return Stamp{info.ModTime(), info.Size(), info}, nil
}

// maxFlat is the largest flat file that is read as a whole.
const maxFlat = 256 << 20

// OpenFlat opens a flat file for reading. Its owner's program may have put something else there since: a pipe is
// not waited for, and a link not followed.
func OpenFlat(op, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil && !errors.Is(err, syscall.ELOOP) {
		return nil, litefile.Worded(op, err)
	}
	if err == nil {
		info, err := f.Stat()
		if err == nil && info.Mode().IsRegular() {
			return f, nil
		}
		_ = f.Close() // nothing was read
	}
	return nil, model.Errorf(model.Unavailable, op, "%q is no regular file", filepath.Base(path))
}

// ReadFlat reads a flat file, whose size is bounded; an absent one is empty.
func ReadFlat(op, path string) ([]byte, error) {
	f, err := OpenFlat(op, path)
	if errors.Is(err, model.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: closing loses nothing
	if info, err := f.Stat(); err == nil && info.Size() > maxFlat {
		return nil, model.Errorf(model.Unsupported, op, "%q has %d bytes; files of up to %d are read", filepath.Base(path), info.Size(), maxFlat)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFlat))
	return data, litefile.Worded(op, err)
}

// LockFile takes this program's lock, in a directory of the state directory, on a flat file whose owner has
// none. Locked where another process of this program holds it for ten seconds.
func LockFile(ctx context.Context, op, dir, kind, path string) (release func(), err error) {
	if dir == "" {
		return nil, model.Errorf(model.Unavailable, op, "there is no state directory to hold the lock")
	}
	if err := statedir.Ensure(filepath.Dir(dir)); err != nil {
		return nil, model.E(model.Unavailable, op, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, litefile.Worded(op, err)
	}
	release, err = filelock.Hold(ctx, lockPath(dir, kind, path), true)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, model.Errorf(model.Locked, op, "another memdesk is changing the file")
	}
	return release, litefile.Worded(op, err)
}

func lockPath(dir, kind, path string) string { return filepath.Join(dir, kind+"-"+short(path)) }

// Remember records, beside the lock of a flat file, that a change by memdesk left these bytes there: a file
// that no longer shows its kind is then still recognised. The caller holds the lock.
// An error is Internal: the change was made.
func Remember(dir, kind, path string, data []byte) error {
	if err := atomicfile.Write(lockPath(dir, kind, path)+".left", []byte(short(string(data))), 0o600); err != nil {
		return model.Errorf(model.Internal, "remember", "the change was made, and could not be recorded: %w", litefile.Worded("remember", err))
	}
	return nil
}

// Remembers reports whether the bytes are those of the last Remember.
func Remembers(dir, kind, path string, data []byte) bool {
	was, err := os.ReadFile(lockPath(dir, kind, path) + ".left")
	return err == nil && string(was) == short(string(data))
}

// Follow records, beside the lock of a flat file, that a change by memdesk made after of before, and names the run of
// changes of which each found what the one before left. It is empty where nothing was changed or recorded. The caller
// holds the lock.
func Follow(dir, kind, path string, before, after []byte) (run string) {
	if bytes.Equal(before, after) {
		return ""
	}
	record := lockPath(dir, kind, path) + ".run"
	was, _ := os.ReadFile(record) // without it a run begins
	run, left, _ := strings.Cut(string(was), " ")
	if left != short(string(before)) {
		run = rand.Text()
	}
	if os.WriteFile(record, []byte(run+" "+short(string(after))), 0o600) != nil {
		_ = os.Remove(record) // a part of it says nothing
		return ""
	}
	return run
}

// Follows reports whether the file is as the last change of a run left it.
func Follows(ctx context.Context, dir, kind, path, run string) bool {
	const op = "retain"
	unlock, err := LockFile(ctx, op, dir, kind, path)
	if err != nil {
		return false
	}
	defer unlock()
	data, err := ReadFlat(op, path)
	was, unread := os.ReadFile(lockPath(dir, kind, path) + ".run")
	return run != "" && err == nil && unread == nil && string(was) == run+" "+short(string(data))
}
