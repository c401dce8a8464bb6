package records

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memdesk/backends/internal/litefile"
	"memdesk/internal/atomicfile"
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
	release, err = atomicfile.Lock(ctx, lockPath(dir, kind, path), 10*time.Second)
	if errors.Is(err, atomicfile.ErrHeld) {
		return nil, model.Errorf(model.Locked, op, "another memdesk is changing the file")
	}
	return release, litefile.Worded(op, err)
}

func lockPath(dir, kind, path string) string { return filepath.Join(dir, kind+"-"+short(path)) }

// Remember records, beside the lock of a flat file, that a change by memdesk left these bytes there: a file
// that no longer shows its kind is then still recognised. The caller holds the lock.
func Remember(dir, kind, path string, data []byte) error {
	return litefile.Worded("remember", atomicfile.Write(lockPath(dir, kind, path)+".left", []byte(short(string(data))), 0o600))
}

// Remembers reports whether the bytes are those of the last Remember.
func Remembers(dir, kind, path string, data []byte) bool {
	was, err := os.ReadFile(lockPath(dir, kind, path) + ".left")
	return err == nil && string(was) == short(string(data))
}
