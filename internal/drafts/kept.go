package drafts

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"memdesk/internal/atomicfile"
)

// Kept is a text that was put aside.
type Kept struct {
	Name  string // of the file: the time, and the purpose of the text
	Path  string
	At    time.Time // it is removed Keep after this
	Bytes int64
	Note  string // of the draft; empty: unknown
}

// Purpose reads the note; false where it is none, or names no store.
func (k Kept) Purpose() (p Purpose, ok bool) {
	err := json.Unmarshal([]byte(k.Note), &p)
	return p, err == nil && p.Store != ""
}

// Kept lists the texts put aside that still exist, the last one first. It makes and removes nothing.
func (f *Folder) Kept() ([]Kept, error) {
	if err := f.may(); err != nil {
		return nil, err
	}
	dir := filepath.Join(f.dir, aside)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ignoreAbsent(atomicfile.Pathless(err))
	}
	var out []Kept
	for _, e := range entries {
		st, err := e.Info()
		if err != nil || !st.Mode().IsRegular() {
			continue // it vanished, or is another program's
		}
		if f.clock.Now().Sub(st.ModTime()) <= Keep {
			note, _ := atomicfile.ReadFile(filepath.Join(f.dir, about, e.Name()))
			out = append(out, Kept{e.Name(), filepath.Join(dir, e.Name()), st.ModTime(), st.Size(), string(note)})
		}
	}
	slices.SortStableFunc(out, func(a, b Kept) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Name, a.Name)) })
	return out, nil
}

func (f *Folder) may() error {
	if f.May == nil {
		return nil
	}
	return f.May()
}

// ErrGone is the error of a list that is older than what it shows.
var ErrGone = errors.New("this text was saved, thrown away or put aside anew since the list was read: list the kept texts again")

// ReadKept is the text of one of them, ErrGone where it is kept no more.
func (f *Folder) ReadKept(name string) (string, error) {
	if err := f.may(); err != nil {
		return "", err
	}
	if name != filepath.Base(name) {
		return "", fs.ErrInvalid
	}
	b, err := atomicfile.ReadFile(filepath.Join(f.dir, aside, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrGone
	}
	return string(b), atomicfile.Pathless(err)
}

// Drop removes one of them, once it is stored or discarded. An absent one is no error.
func (f *Folder) Drop(name string) error {
	if name != filepath.Base(name) || name == "." {
		return fs.ErrInvalid
	}
	return f.drop(name)
}
