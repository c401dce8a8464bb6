package litefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"memdesk/model"
)

// identity is the file that was opened. A database handle goes on reading and
// writing a file that was removed or replaced under it, and what it writes is
// lost; so every operation looks whether the file still stands.
type identity struct {
	path string
	info fs.FileInfo
}

// identify refuses a pipe in the place of the journal: SQLite would wait for its writer.
func identify(path string) (identity, error) {
	info, err := os.Stat(path)
	if j, jerr := os.Stat(path + "-journal"); err == nil && jerr == nil && j.Mode().Type() == fs.ModeNamedPipe {
		err = model.Errorf(model.InvalidInput, "open", "%q is a pipe: move it away", filepath.Base(path)+"-journal")
	}
	return identity{path, info}, err
}

// check is Unavailable when the file is gone or another stands in its place.
func (i identity) check(op, name string) error {
	now, err := os.Stat(i.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return model.Errorf(model.Unavailable, op, "%q is gone: the file was removed or its medium unmounted while it was open", name)
	case err != nil:
		return Worded(op, err)
	case !os.SameFile(i.info, now):
		return model.Errorf(model.Unavailable, op, "another file stands in the place of %q: open the store again", name)
	}
	return nil
}
