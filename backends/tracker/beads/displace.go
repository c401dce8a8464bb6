package beads

import (
	"bytes"
	"errors"
	"os"

	"memdesk/internal/atomicfile"
)

// errForeign reports that the file which was about to be replaced is not the one
// that was read.
var errForeign = errors.New("changed by another program")

// displacing is the machine's files with a rename that looks at what it
// displaces: the files are swapped, and swapped back when a writer without the
// lock was there between the last look and the rename.
type displacing struct {
	atomicfile.OS
	old []byte // what has to come out
}

// backAttempts bounds how often two writers can be faster than each other.
const backAttempts = 100

// Rename replaces newname by oldname, or is errForeign and leaves what the other
// program wrote last. For the moment between two swaps our version stands there;
// a program that reads in that moment and writes what it read takes the other
// version's lines away, as it would without us.
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
			return errForeign // what was displaced stands again
		}
		placed, out = out, back // something newer came out: it goes back in
	}
	return errForeign
}

// writer returns the file system of a write. A test's layer renames by itself.
func (s *Store) writer(old []byte) atomicfile.FS {
	if _, plain := s.fs.(atomicfile.OS); plain {
		return displacing{old: old}
	}
	return s.fs
}
