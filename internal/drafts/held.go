package drafts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// The directory of held writes, and the endings of their files: a write that must still prove stable, and a
// lost one.
const (
	written  = "written"
	watching = ".note"
	lost     = ".lost"
	apart    = "-" // ends what a write is of, in its name
)

// Purpose is the note of a text: what it was written for, enough to reopen it and to write it as if it had
// never been closed.
type Purpose struct {
	What  int                 `json:"what"` // in the console's own numbers; 0 is an edit of a whole item
	Store string              `json:"store"`
	Label string              `json:"label"`
	Kind  model.DocumentKind  `json:"kind"`
	Req   model.RetainRequest `json:"req"` // IfMatch is what the operator saw
}

// Held is a write that a store took and that the owner's program may silently undo.
type Held struct {
	Key  string
	Note string // the caller's own words; with a text, they include the JSON of a Purpose
	At   time.Time
	Lost bool
}

// Hold records a write of something, given by letters and digits: its text, where it has one, and a note. It stays until
// Release, or until Keep has passed.
func (f *Folder) Hold(of, name, note, text string) error {
	dir := filepath.Join(f.dir, written)
	if err := errors.Join(f.ready(), os.MkdirAll(dir, 0o700)); err != nil {
		return atomicfile.Pathless(err)
	}
	mine, err := os.MkdirTemp(dir, of+apart)
	if err == nil && text != "" {
		err = os.WriteFile(filepath.Join(mine, safetext.FileName(name)), []byte(text), 0o600)
	}
	if err == nil {
		err = atomicfile.Write(mine+watching, []byte(note), 0o600)
	}
	return atomicfile.Pathless(err)
}

// Held lists the held writes in no order: of some things, each given as to Hold, or of all for none given. A write held by an
// older memdesk names nothing and is always listed. Held makes and removes nothing.
func (f *Folder) Held(of ...string) (out []Held, err error) {
	dir := filepath.Join(f.dir, written)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	for _, e := range entries {
		ending := filepath.Ext(e.Name())
		if ending != watching && ending != lost {
			continue
		}
		if owner, _, named := strings.Cut(e.Name(), apart); len(of) > 0 && named && !slices.Contains(of, owner) { // skip without reading
			continue
		}
		note, err := atomicfile.ReadFile(filepath.Join(dir, e.Name()))
		info, ierr := e.Info()
		if err = errors.Join(err, ierr); errors.Is(err, fs.ErrNotExist) {
			continue // released meanwhile
		}
		if err != nil {
			return nil, atomicfile.Pathless(err)
		}
		h := Held{strings.TrimSuffix(e.Name(), ending), string(note), info.ModTime(), ending == lost}
		if h.Lost { // unless a kill came before its text was put aside
			_, err := os.Lstat(filepath.Join(dir, h.Key))
			h.Lost = errors.Is(err, fs.ErrNotExist)
		}
		out = append(out, h)
	}
	return out, nil
}

// Lose puts the text of a write aside, with its note, and marks the write as lost. first is false where
// another process has done so already, or has begun to.
func (f *Folder) Lose(h Held) (first bool, err error) {
	path := filepath.Join(f.dir, written, h.Key)
	if err := os.Rename(path+watching, path+lost); err == nil {
		first = true
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, atomicfile.Pathless(err)
	}
	texts, err := os.ReadDir(path)
	for _, t := range texts {
		if err == nil {
			_, err = f.keep(filepath.Join(path, t.Name()), path+lost)
		}
	}
	if err != nil {
		return first, ignoreAbsent(err)
	}
	return first, atomicfile.Pathless(os.RemoveAll(path))
}

// Release ends the watch over a write, lost or not. A text put aside stays.
func (f *Folder) Release(h Held) error {
	path := filepath.Join(f.dir, written, h.Key)
	return atomicfile.Pathless(errors.Join(os.RemoveAll(path), ignoreAbsent(os.Remove(path+watching)), ignoreAbsent(os.Remove(path+lost))))
}

// killed lists what a kill in Hold left: texts without a note, whose time is that of their directory, and
// temporary files.
func (f *Folder) killed(held []Held) (texts []Held, temps []fs.FileInfo, err error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, written))
	if err != nil {
		return nil, nil, ignoreAbsent(err)
	}
	for _, e := range entries {
		info, ierr := e.Info()
		switch {
		case errors.Is(ierr, fs.ErrNotExist):
		case ierr != nil:
			err = errors.Join(err, atomicfile.Pathless(ierr))
		case strings.Contains(e.Name(), watching+".tmp."):
			temps = append(temps, info)
		case e.IsDir() && !slices.ContainsFunc(held, func(h Held) bool { return h.Key == e.Name() }):
			texts = append(texts, Held{Key: e.Name(), At: info.ModTime()})
		}
	}
	return texts, temps, err
}

// released ends the watch over each write for which over is true, given the write's time, the name of its
// text, and its note and text. What a kill left goes likewise; of a temporary file over gets the text alone.
func (f *Folder) released(over func(at time.Time, name string, texts ...[]byte) bool) (n int, err error) {
	all, err := f.Held()
	texts, temps, kerr := f.killed(all)
	err = errors.Join(err, kerr)
	for _, t := range temps {
		path := filepath.Join(f.dir, written, t.Name())
		text, rerr := atomicfile.ReadFile(path)
		if err = errors.Join(err, ignoreAbsent(rerr)); over(t.ModTime(), "", text) {
			err = errors.Join(err, ignoreAbsent(os.Remove(path)))
		}
	}
	for _, h := range append(all, texts...) {
		name, texts := "", [][]byte{[]byte(h.Note)}
		dir := filepath.Join(f.dir, written, h.Key)
		files, derr := os.ReadDir(dir)
		err = errors.Join(err, ignoreAbsent(derr))
		for _, file := range files {
			text, rerr := atomicfile.ReadFile(filepath.Join(dir, file.Name()))
			name, texts, err = file.Name(), append(texts, text), errors.Join(err, ignoreAbsent(rerr))
		}
		if over(h.At, name, texts...) {
			n++
			err = errors.Join(err, f.Release(h))
		}
	}
	return n, err
}
