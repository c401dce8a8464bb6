package rootdir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"memdesk/model"
)

// Step is a point of a write or a removal where a test may inject a failure.
type Step string

// The steps in their order; StepRemove and StepMakeDir stand alone.
const (
	StepCreate Step = "create"
	StepWrite  Step = "write"
	StepSync   Step = "sync"
	StepRename Step = "rename"
	// StepExchange comes after the exchange of a Swap, before the check of the removed file.
	StepExchange Step = "exchange"
	StepSyncDir  Step = "sync directory"
	StepRemove   Step = "remove"
	// StepMakeDir comes after a new directory is made, before its name is durable.
	StepMakeDir Step = "make directory"
)

// Fault is called before each step; its error is the step's failure. Nil injects nothing.
type Fault func(Step) error

// ErrCrash from a Fault stands for the death of the process: nothing is cleaned
// up after it.
var ErrCrash = errors.New("the process died")

func (d *Dir) at(s Step) error {
	if d.fault == nil {
		return nil
	}
	return d.fault(s)
}

// New sets the properties of a new file.
type New struct {
	Mode fs.FileMode
	// Inherit gives the file the group and, when this process is root, the owner of its directory.
	Inherit bool
	// Temp names the temporary sibling from sixteen random hex digits, where the directory's other writers
	// expect a form; nil: `<file>.tmp.<16 hex>`.
	Temp func(random string) string
}

// Write replaces the content of a file, or makes it; its directory must exist.
// A reader sees the old bytes or the new ones, and so does the next start after
// a crash: temporary sibling, fsync, rename, fsync of the directory
// (crewship-disk.md, Write protocol). Mode and owner of an existing file are
// kept. A link, a directory or a special file in the place is refused.
func (d *Dir) Write(name string, data []byte, made New) error {
	if err := CheckName(name); err != nil {
		return err
	}
	parent, err := d.root.OpenRoot(filepath.FromSlash(parentOf(name)))
	if err != nil {
		return fail("write", name, err)
	}
	defer parent.Close()
	in := Dir{root: parent, fault: d.fault}
	if err := in.replace(baseOf(name), data, made); err != nil {
		return fail("write", name, err)
	}
	return nil
}

// replace writes a file directly below d.
func (d *Dir) replace(name string, data []byte, made New) error {
	old, err := d.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return notPlain(old)
	}
	temp, err := d.temporary(name, data, old, made)
	if err != nil {
		return err
	}
	if err := d.at(StepRename); err != nil {
		return d.drop(temp, err)
	}
	if err := d.root.Rename(temp, name); err != nil {
		return d.drop(temp, err)
	}
	err = d.at(StepSyncDir)
	if err == nil {
		err = syncDir(d.root, ".")
	}
	if err != nil {
		return fmt.Errorf("written, but not known to be durable: %w", bare(err))
	}
	return nil
}

// temporary is sibling before anything is changed: its error, as of a full disk, is Untouched.
func (d *Dir) temporary(name string, data []byte, old fs.FileInfo, made New) (string, error) {
	temp, err := d.sibling(name, data, old, made)
	if err != nil {
		return "", &model.Untouched{Err: bare(err)}
	}
	return temp, nil
}

// sibling writes the bytes to a new file beside another and makes them durable.
func (d *Dir) sibling(name string, data []byte, old fs.FileInfo, made New) (string, error) {
	temp, err := tempName(name, made.Temp)
	if err != nil {
		return "", err
	}
	if err := d.at(StepCreate); err != nil {
		return "", err
	}
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = d.fill(f, data)
	if err == nil {
		err = d.dress(temp, old, made)
	}
	if err == nil && old != nil {
		err = d.inherit(f, name)
	}
	if err == nil {
		err = d.at(StepSync)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", d.drop(temp, err)
	}
	return temp, nil
}

func (d *Dir) fill(f *os.File, data []byte) error {
	if err := d.at(StepWrite); err != nil {
		return err
	}
	_, err := f.Write(data)
	return err
}

// dress gives the new file the mode and owner of the old one. The mode comes last: a change of owner clears
// bits.
func (d *Dir) dress(temp string, old fs.FileInfo, made New) error {
	mode := made.Mode
	switch {
	case old != nil:
		mode = old.Mode().Perm()
		now, err := d.give(temp, old)
		if err != nil {
			return err
		}
		if !sameOwner(now, old) { // from now on the old owner uses it as a member of the group
			mode |= made.Mode & groupBits
		}
	case made.Inherit:
		dir, err := d.root.Stat(".")
		if err != nil {
			return err
		}
		if _, err := d.give(temp, dir); err != nil {
			return err
		}
	}
	return d.root.Chmod(temp, mode)
}

// inherit gives a new file the attributes of the one that it replaces, where this user can read it.
func (d *Dir) inherit(f *os.File, name string) error {
	old, _, err := d.open(name, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer old.Close()
	return carry(old, f)
}

const groupBits fs.FileMode = 0o070

func sameOwner(a, b fs.FileInfo) bool {
	x, _, _ := owner(a)
	y, _, _ := owner(b)
	return x == y
}

// drop removes the temporary file after a failure.
func (d *Dir) drop(temp string, err error) error {
	if !errors.Is(err, ErrCrash) {
		_ = d.root.Remove(temp) // the caller gets the first error
	}
	return err
}

// tempName is `<file>.tmp.<16 hex>`, of a long name the beginning, unless the directory has a form of its own.
func tempName(name string, form func(random string) string) (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	random := hex.EncodeToString(b[:])
	if form != nil {
		return form(random), nil
	}
	mark := ".tmp." + random
	return beginning(name, longest-len(mark)) + mark, nil
}

// longest is the longest name of a file, in bytes.
const longest = 255

// beginning is as much of a name as room takes; it divides no character.
func beginning(name string, room int) string {
	if len(name) <= room {
		return name
	}
	cut := name[:room]
	for len(cut) > 0 && !utf8.ValidString(cut) && utf8.ValidString(name) {
		cut = cut[:len(cut)-1]
	}
	return cut
}
