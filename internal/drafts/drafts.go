// Package drafts holds the texts that an operator is editing, as private files outside every store: an editor
// needs a file, and typed text must survive a store's refusal or a broken line. It also holds writes that a
// store took until they have proved stable. It reads and writes no item.
package drafts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
)

// Keep is the lifetime of a text that was put aside.
const Keep = 30 * 24 * time.Hour

// The names inside the directory.
const (
	aside   = "kept"    // texts that were put aside, one file each
	about   = "notes"   // notes of those texts, under the same names
	session = "session" // prefix of the directory of one session
	lock    = "lock"    // held while the session lives
)

// Folder holds all drafts: one directory per session, and one for texts put aside. It is safe for concurrent
// use, also by several processes.
type Folder struct {
	// May refuses the texts put aside to a reader who may not see them. Nil: all may.
	May func() error
	// Believed is the time against which texts expire, where the clock may have leapt ahead. Nil: the clock's.
	Believed func(now time.Time) time.Time

	dir   string
	clock clock.Clock
	ready func() error

	mu   sync.Mutex
	held atomicfile.File // the lock of this session; nil before the first draft
	mine string          // directory of this session
	n    int
}

// New names the folder and makes nothing. ready makes the directory above it.
func New(dir string, c clock.Clock, ready func() error) *Folder {
	return &Folder{dir: dir, clock: c, ready: ready}
}

// Draft is one file being edited.
type Draft struct {
	folder *Folder
	path   string
}

// Path is where the file is.
func (d *Draft) Path() string { return d.path }

// Open makes a file of mode 0600 that holds text. The name is for people and for the editor; it may hold any
// characters.
func (f *Folder) Open(name, text string) (*Draft, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.begin(); err != nil {
		return nil, err
	}
	f.n++
	dir := filepath.Join(f.mine, strconv.Itoa(f.n)+"-"+sum(text))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, atomicfile.Pathless(err)
	}
	d := &Draft{folder: f, path: filepath.Join(dir, safetext.FileName(name))}
	return d, d.Write(text)
}

// begin makes the directory of this session and holds its lock.
func (f *Folder) begin() error {
	if f.held != nil {
		return nil
	}
	if err := f.ready(); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return atomicfile.Pathless(err)
	}
	dir, err := os.MkdirTemp(f.dir, session+"-")
	if err != nil {
		return atomicfile.Pathless(err)
	}
	held, err := atomicfile.OS{}.OpenFile(filepath.Join(dir, lock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return atomicfile.Pathless(err)
	}
	if ok, err := held.TryLock(true); err != nil || !ok {
		_ = held.Close()
		return errors.Join(errors.New("the drafts of this session cannot be locked"), atomicfile.Pathless(err))
	}
	f.held, f.mine = held, dir
	return nil
}

// Read is the current text of the file.
func (d *Draft) Read() (string, error) {
	b, err := atomicfile.ReadFile(d.path)
	return string(b), atomicfile.Pathless(err)
}

// Write replaces the text of the file. Where it cannot, the earlier text stays whole.
func (d *Draft) Write(text string) error {
	return atomicfile.Pathless(atomicfile.Write(d.path, []byte(text), 0o600))
}

// Note records the purpose of the text, in the caller's own words: it is put aside and removed with the text.
func (d *Draft) Note(note string) error {
	return atomicfile.Pathless(os.WriteFile(noteOf(d.path), []byte(note), 0o600))
}

// noteOf is the note file of a draft: outside its directory, where an editor works.
func noteOf(path string) string { return filepath.Dir(path) + ".note" }

// Discard removes the file, the editor's leftovers beside it, and its note.
func (d *Draft) Discard() error {
	return atomicfile.Pathless(errors.Join(os.RemoveAll(filepath.Dir(d.path)), ignoreAbsent(os.Remove(noteOf(d.path)))))
}

// Keep puts the text aside, safe from every sweep until Keep has passed, and returns its path.
func (d *Draft) Keep() (string, error) {
	path, err := d.folder.keep(d.path, noteOf(d.path))
	if err != nil {
		return path, err
	}
	return path, d.Discard()
}

// keep links a file, and its note, into the directory of texts put aside.
func (f *Folder) keep(path, note string) (string, error) {
	dir := filepath.Join(f.dir, aside)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return path, atomicfile.Pathless(err)
	}
	stamp := f.clock.Now().UTC().Format("20060102-150405")
	for n := 0; n < 1000; n++ {
		name := stamp + "-" + filepath.Base(path)
		if n > 0 {
			name = stamp + "-" + strconv.Itoa(n) + "-" + filepath.Base(path)
		}
		to := filepath.Join(dir, name)
		if err := os.Link(path, to); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return path, atomicfile.Pathless(err)
		}
		f.keepNote(note, name)
		now := f.clock.Now() // from now on, not from its last change
		return to, atomicfile.Pathless(errors.Join(os.Chtimes(to, now, now), os.Chmod(to, 0o600)))
	}
	return path, errors.New("no free name for the text that is put aside")
}

// keepNote keeps the note of a draft beside its text. A failure is ignored: without a note the text can still
// be read and copied.
func (f *Folder) keepNote(note, name string) {
	dir := filepath.Join(f.dir, about)
	if _, err := os.Stat(note); err == nil && os.MkdirAll(dir, 0o700) == nil {
		to := filepath.Join(dir, name)
		_ = os.Remove(to) // an old note of a text without one now
		_ = os.Link(note, to)
	}
}

// Close ends the session: changed drafts are put aside, the rest is removed. It returns their paths.
func (f *Folder) Close() (kept []string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		return nil, nil
	}
	kept, err = f.clear(f.mine)
	err = errors.Join(err, f.held.Close())
	f.held = nil
	return kept, err
}

// Leave ends the session of an operator who is gone: changed drafts stay for the Sweep of the next session,
// which reports them.
func (f *Folder) Leave() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held == nil {
		return nil
	}
	err := f.held.Close()
	f.held = nil
	return atomicfile.Pathless(err)
}

// Sweep cleans up after sessions that were cut off: it puts changed texts aside and returns them, and removes
// the rest, and texts put aside longer than Keep ago. Live sessions are left alone. It makes nothing.
func (f *Folder) Sweep() (kept []string, err error) {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, ignoreAbsent(err)
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), session+"-") {
			continue
		}
		got, cerr := f.sweep(filepath.Join(f.dir, e.Name()))
		kept, err = append(kept, got...), errors.Join(err, cerr)
	}
	return kept, errors.Join(err, f.expire())
}

// sweep clears one session if nobody holds its lock.
func (f *Folder) sweep(dir string) ([]string, error) {
	held, err := atomicfile.OS{}.OpenFile(filepath.Join(dir, lock), os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		// A directory without a lock belongs to a session that is starting, unless it is old.
		st, serr := os.Stat(dir)
		if serr != nil || f.clock.Now().Sub(st.ModTime()) < time.Hour {
			return nil, nil
		}
		return f.clear(dir)
	}
	if err != nil {
		return nil, atomicfile.Pathless(err)
	}
	defer held.Close()
	if ok, err := held.TryLock(true); err != nil || !ok {
		return nil, atomicfile.Pathless(err)
	}
	return f.clear(dir)
}

// clear removes a session's directory after saving its changed texts.
func (f *Folder) clear(dir string) (kept []string, err error) {
	drafts, err := os.ReadDir(dir)
	if err != nil {
		return nil, atomicfile.Pathless(err)
	}
	for _, d := range drafts {
		_, was, ok := strings.Cut(d.Name(), "-")
		if !d.IsDir() || !ok {
			continue
		}
		files, ferr := os.ReadDir(filepath.Join(dir, d.Name()))
		err = errors.Join(err, atomicfile.Pathless(ferr))
		for _, file := range files {
			path := filepath.Join(dir, d.Name(), file.Name())
			if !file.Type().IsRegular() || backup(path) || !changed(path, was) {
				continue
			}
			to, kerr := f.keep(path, noteOf(path))
			if kerr != nil {
				return kept, kerr // remove only what is safe elsewhere
			}
			kept = append(kept, to) // this includes the swap file of an editor that was cut off
		}
	}
	return kept, errors.Join(err, atomicfile.Pathless(os.RemoveAll(dir)))
}

// backup reports whether a file is an editor's copy of the earlier text, which stands beside the text itself, or
// the beginning of a text whose Write was cut off.
func backup(path string) bool {
	if name := filepath.Base(path); name[0] == '.' && unfinished.MatchString(name) {
		return true
	}
	for _, ending := range []string{"~", ".bak"} {
		if of, ok := strings.CutSuffix(path, ending); ok {
			_, err := os.Lstat(of)
			return err == nil
		}
	}
	return false
}

// unfinished matches the end of atomicfile.HiddenTemp.
var unfinished = regexp.MustCompile(`\.tmp\.[0-9a-f]{16}$`)

// changed reports whether a file differs from its first text. An unreadable file counts as changed.
func changed(path, was string) bool {
	b, err := atomicfile.ReadFile(path)
	return err != nil || len(b) > 0 && sum(string(b)) != was
}

// expire removes texts put aside too long ago, and notes without a text.
func (f *Folder) expire() error {
	now := f.clock.Now()
	if f.Believed != nil {
		now = f.Believed(now)
	}
	_, err := f.released(func(at time.Time, _ string, _ ...[]byte) bool { return now.Sub(at) > Keep })
	dir := filepath.Join(f.dir, aside)
	entries, derr := os.ReadDir(dir)
	if derr != nil {
		return errors.Join(err, ignoreAbsent(derr))
	}
	for _, e := range entries {
		if st, serr := e.Info(); serr == nil && now.Sub(st.ModTime()) > Keep {
			err = errors.Join(err, f.drop(e.Name()))
		}
	}
	notes, _ := os.ReadDir(filepath.Join(f.dir, about))
	for _, e := range notes {
		if _, serr := os.Lstat(filepath.Join(dir, e.Name())); errors.Is(serr, fs.ErrNotExist) {
			err = errors.Join(err, atomicfile.Pathless(os.Remove(filepath.Join(f.dir, about, e.Name()))))
		}
	}
	return err
}

// drop removes a text that was put aside, its note first: a note alone would still name the subject.
func (f *Folder) drop(name string) error {
	return errors.Join(ignoreAbsent(os.Remove(filepath.Join(f.dir, about, name))), ignoreAbsent(os.Remove(filepath.Join(f.dir, aside, name))))
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return atomicfile.Pathless(err)
}

// Erase removes the texts put aside, held, or left by sessions that were cut off, where concerns is true of
// the text or of its note, and counts them. Texts being edited now stay.
func (f *Folder) Erase(concerns func(name string, text []byte) bool) (int, error) {
	if _, err := f.Sweep(); err != nil {
		return 0, err
	}
	erased, err := f.released(func(_ time.Time, name string, texts ...[]byte) bool {
		return slices.ContainsFunc(texts, func(b []byte) bool { return concerns(name, b) })
	})
	dir := filepath.Join(f.dir, aside)
	entries, derr := os.ReadDir(dir)
	if derr != nil {
		return erased, errors.Join(err, ignoreAbsent(derr))
	}
	for _, e := range entries {
		text, rerr := atomicfile.ReadFile(filepath.Join(dir, e.Name()))
		note, nerr := atomicfile.ReadFile(filepath.Join(f.dir, about, e.Name()))
		err = errors.Join(err, ignoreAbsent(rerr), ignoreAbsent(nerr))
		switch {
		case rerr != nil:
		case concerns(e.Name(), text), nerr == nil && concerns(e.Name(), note):
			if rerr := f.drop(e.Name()); rerr != nil {
				err = errors.Join(err, rerr)
				continue
			}
			erased++
		}
	}
	return erased, err
}
