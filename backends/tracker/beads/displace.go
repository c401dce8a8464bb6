package beads

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"memdesk/internal/atomicfile"
)

// errForeign reports that the file to be replaced differs from the one that was read.
var errForeign = errors.New("changed by another program")

// displacing makes renames check the displaced file: the files are swapped, and swapped back when a writer
// without the lock wrote between the last check and the rename.
type displacing struct {
	atomicfile.OS
	old []byte // the expected displaced bytes
}

// backAttempts bounds how often two writers can overtake each other.
const backAttempts = 100

// Rename replaces newname by oldname, or returns errForeign and leaves the other program's last version.
// Between two swaps memdesk's version is briefly in place; a program that reads it then and writes it back
// loses the other program's lines, as it would without memdesk.
func (d displacing) Rename(oldname, newname string) error {
	placed, err := os.ReadFile(oldname)
	if err != nil {
		return err
	}
	swapped, err := exchange(oldname, newname)
	if err != nil {
		return err
	}
	if !swapped {
		return d.OS.Rename(oldname, newname)
	}
	out, err := os.ReadFile(oldname)
	if err == nil && bytes.Equal(out, d.old) {
		return d.Remove(oldname)
	}
	for range backAttempts {
		if err != nil {
			return errors.Join(errForeign, err)
		}
		if swapped, err = exchange(oldname, newname); err != nil || !swapped {
			return errors.Join(errForeign, err)
		}
		var back []byte
		if back, err = os.ReadFile(oldname); err == nil && bytes.Equal(back, placed) {
			return errForeign // the displaced file is in place again
		}
		placed, out = out, back // a newer version came out: put it back
	}
	return errForeign
}

// exchange swaps two files in one step; false where the file system cannot, and where one of them is gone.
func exchange(a, b string) (bool, error) {
	err := atomicfile.Exchange(a, b)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, atomicfile.Pathless(err)
}

// writer returns the file system for a write. A test's layer renames by itself.
func (s *Store) writer(old []byte) atomicfile.FS {
	if _, plain := s.fs.(atomicfile.OS); plain {
		return displacing{old: old}
	}
	return s.fs
}
