package rootdir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/model"
)

// ErrChanged is in the Conflict error of a Swap or a Take whose file no longer was as the caller had seen
// it. Nothing of another writer's has been lost.
var ErrChanged = errors.New("another writer changed it at the same moment")

// Seen is the file as its caller read it before deciding.
type Seen struct {
	Exists bool
	Data   []byte
	// Large is set, and Data empty, for a file over MaxRead: it can be taken, and its size and time are compared.
	Large *Meta
}

// Swapped describes the side effects of an exchange.
type Swapped struct {
	// Copies are the names, below the directory, of new conflict copies: another writer's bytes that nobody
	// had seen.
	Copies []string
	// Overtaken: right after the exchange another writer's bytes were in the file; the own ones are among
	// Copies.
	Overtaken bool
}

// Guard is called right before the exchange and may refuse it; nil: it may go on.
type Guard func() error

// Limits of an exchange. A writer that opened the old file may write to it for this long at most, or gets
// its text as a conflict copy.
const (
	writerWait  = 250 * time.Millisecond
	writerPause = 2 * time.Millisecond
	copyTries   = 1000
	lateComers  = time.Millisecond
)

// Swap is Write against what the caller has seen, also when another writer takes
// no lock: where the system can exchange two files it looks at what came out, and
// a foreign change goes back into its place, or into a conflict copy beside it
// when the place has changed once more. Elsewhere a change between the last look
// and the rename is lost (CanExchange tells). A changed file is a Conflict that
// holds ErrChanged.
func (d *Dir) Swap(name string, seen Seen, data []byte, made New, now time.Time, guard Guard) (Swapped, error) {
	s, err := d.swapper(name, now)
	if err != nil {
		return Swapped{}, err
	}
	defer s.in.Close()
	err = s.swap(seen, data, made, guard)
	return s.result(), s.wrap("write", err)
}

// Take is Remove with the same check as Swap: the file is moved aside, compared, and only then unlinked. A
// file open for writing elsewhere is put back and is Locked.
func (d *Dir) Take(name string, seen Seen, now time.Time, guard Guard) (Swapped, error) {
	s, err := d.swapper(name, now)
	if err != nil {
		return Swapped{}, err
	}
	defer s.in.Close()
	err = s.take(seen, guard)
	return s.result(), s.wrap("remove", err)
}

// swapper is one exchange in an opened parent directory.
type swapper struct {
	in     Dir
	dir    string // of the parent, below the store
	base   string
	now    time.Time
	copies []string
	over   bool
	// old is the temporary name of the file that the exchange took out; it goes last.
	old string
}

func (d *Dir) swapper(name string, now time.Time) (*swapper, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	parent, err := d.root.OpenRoot(filepath.FromSlash(parentOf(name)))
	if err != nil {
		return nil, fail("write", name, err)
	}
	return &swapper{in: Dir{root: parent, fault: d.fault}, dir: parentOf(name), base: baseOf(name), now: now}, nil
}

func (s *swapper) result() Swapped {
	out := Swapped{Overtaken: s.over}
	for _, c := range s.copies {
		out.Copies = append(out.Copies, s.full(c))
	}
	return out
}

func (s *swapper) full(name string) string {
	if s.dir == "." {
		return name
	}
	return s.dir + "/" + name
}

func (s *swapper) wrap(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrChanged):
		return model.Errorf(model.Conflict, op, "%q: %w", s.full(s.base), err)
	}
	return fail(op, s.full(s.base), err)
}

func (s *swapper) swap(seen Seen, data []byte, made New, guard Guard) error {
	old, err := s.in.root.Lstat(s.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return notPlain(old)
	}
	if (old != nil) != seen.Exists {
		return ErrChanged
	}
	temp, err := s.in.temporary(s.base, data, old, made)
	if err != nil {
		return err
	}
	if err := s.in.at(StepRename); err != nil {
		return s.in.drop(temp, err)
	}
	if guard != nil {
		if err := guard(); err != nil {
			return s.in.drop(temp, err)
		}
	}
	if seen.Exists {
		err = s.exchange(temp, seen, data)
	} else if err = place(s.in.root, temp, s.base); errors.Is(err, fs.ErrExist) {
		err = s.in.drop(temp, ErrChanged)
	} else if err != nil {
		err = s.in.drop(temp, err)
	}
	if err != nil {
		return err
	}
	err = s.sync()
	if errors.Is(err, ErrCrash) {
		return fmt.Errorf("written, but not known to be durable: %w", err)
	}
	if s.old != "" { // the new text is durable by then; so must be the removal of the old one
		err = errors.Join(err, s.discard(s.old, seen))
		if err == nil {
			err = s.sync()
		}
	}
	if err != nil {
		return fmt.Errorf("written, but not known to be durable: %w", bare(err))
	}
	return s.verify(data, made)
}

// sync makes the directory's names durable.
func (s *swapper) sync() error {
	if err := s.in.at(StepSyncDir); err != nil {
		return err
	}
	return syncDir(s.in.root, ".")
}

// exchange swaps the new file in and checks the one that it took out.
func (s *swapper) exchange(temp string, seen Seen, data []byte) error {
	mine, err := s.in.root.Lstat(temp)
	if err != nil {
		return s.in.drop(temp, err)
	}
	err = exchange(s.in.root, temp, s.base)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return s.renameOver(temp, seen)
	case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		return s.in.drop(temp, ErrChanged)
	case err != nil:
		return s.in.drop(temp, err)
	}
	if err := s.in.at(StepExchange); err != nil {
		return err // the process died here: the removed file stays beside the new one
	}
	f, err := s.reopen(temp)
	if err != nil {
		return s.putBack(temp, mine, data)
	}
	defer f.Close()
	same, free, err := isStill(f, seen)
	switch {
	case err == nil && same && free:
		s.old = temp
		return nil
	case err == nil && same: // another process has it open: later writes go into a copy
		return s.setAside(temp)
	}
	return s.putBack(temp, mine, data)
}

func (s *swapper) reopen(name string) (*os.File, error) {
	f, _, err := s.in.open(name, os.O_RDONLY)
	return f, err
}

// discard unlinks a file that was taken out, unless another process has written to it. A writer that had
// found the name but not yet opened the file can come late: discard waits a moment for it, checks the
// handle once more after the unlink, and keeps late text in a copy.
func (s *swapper) discard(name string, want Seen) error {
	f, err := s.reopen(name)
	if err != nil {
		return s.setAside(name)
	}
	defer f.Close()
	time.Sleep(lateComers)
	if same, free, err := isStill(f, want); err != nil || !same || !free {
		return s.setAside(name)
	}
	if err := s.in.root.Remove(name); err != nil {
		return err
	}
	if same, _, err := isStill(f, want); err == nil && same {
		return nil
	}
	if want.Large != nil {
		return errors.New("it is removed, and another program wrote to it meanwhile: it is too large to be kept")
	}
	late, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return err
	}
	temp, err := s.in.sibling(s.base, late, nil, New{Mode: 0o600})
	if err != nil {
		return err
	}
	return s.setAside(temp)
}

// isStill reports whether a file whose old name is gone is still as it was seen; free: no process has it open
// for writing.
func isStill(f *os.File, want Seen) (same, free bool, err error) {
	for waited := time.Duration(0); ; waited += writerPause {
		if free = unwritten(f); free || waited >= writerWait {
			break
		}
		time.Sleep(writerPause)
	}
	if want.Large != nil {
		fi, err := f.Stat()
		if err != nil {
			return false, free, err
		}
		now := metaOf(fi) // its change time is that of the new name
		return now.ino == want.Large.ino && now.Size == want.Large.Size && now.Modified.Equal(want.Large.Modified), free, nil
	}
	got := make([]byte, len(want.Data)+1)
	n, err := f.ReadAt(got, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err == nil && bytes.Equal(got[:n], want.Data), free, err
}

// readFull fills the buffer as far as the file goes.
func readFull(f io.Reader, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		m, err := f.Read(buf[n:])
		n += m
		if m == 0 || err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return n, err
		}
	}
	return n, nil
}

// putBack returns a foreign file to its name. When yet another file has that name by then, that one becomes
// a conflict copy.
func (s *swapper) putBack(foreign string, mine fs.FileInfo, data []byte) error {
	err := exchange(s.in.root, foreign, s.base)
	if errors.Is(err, fs.ErrNotExist) { // another writer removed the new file
		if err = place(s.in.root, foreign, s.base); err == nil {
			return ErrChanged
		}
	}
	if err != nil {
		return errors.Join(s.setAside(foreign), ErrChanged)
	}
	now, err := s.in.root.Lstat(foreign)
	if err == nil && os.SameFile(now, mine) {
		return errors.Join(s.discard(foreign, Seen{Data: data}), ErrChanged)
	}
	return errors.Join(s.setAside(foreign), ErrChanged)
}

// renameOver is the exchange on systems without one: it checks once more and renames; a write in between is
// lost.
func (s *swapper) renameOver(temp string, seen Seen) error {
	now, _, err := s.in.Read(s.base, 0)
	if err != nil || !bytes.Equal(now, seen.Data) {
		return s.in.drop(temp, ErrChanged)
	}
	if err := s.in.root.Rename(temp, s.base); err != nil {
		return s.in.drop(temp, err)
	}
	return nil
}

// verify reads the file again. If it lacks the own bytes, a writer has replaced it without seeing them:
// they are kept in a copy.
func (s *swapper) verify(data []byte, made New) error {
	now, _, err := s.in.Read(s.base, 0)
	if err == nil && bytes.Contains(now, data) {
		return nil
	}
	s.over = true
	temp, err := s.in.sibling(s.base, data, nil, made)
	if err != nil {
		return fmt.Errorf("written, but overtaken by another writer at once, and no copy could be kept: %w", bare(err))
	}
	return s.setAside(temp)
}

func (s *swapper) take(seen Seen, guard Guard) error {
	temp, err := tempName(s.base, nil)
	if err != nil {
		return err
	}
	if err := s.in.at(StepRemove); err != nil {
		return err
	}
	if guard != nil {
		if err := guard(); err != nil {
			return err
		}
	}
	old, err := s.in.root.Lstat(s.base)
	if err == nil {
		if !old.Mode().IsRegular() {
			return notPlain(old)
		}
		err = s.in.root.Rename(s.base, temp)
	}
	if errors.Is(err, fs.ErrNotExist) { // gone since
		return ErrChanged
	}
	if err != nil {
		return err
	}
	f, err := s.reopen(temp)
	var same, free bool
	if err == nil {
		defer f.Close()
		same, free, err = isStill(f, seen)
	}
	if err != nil || !same || !free {
		if perr := place(s.in.root, temp, s.base); perr != nil {
			err = errors.Join(err, s.setAside(temp))
		}
		switch {
		case err != nil:
			return err
		case !same:
			return ErrChanged
		}
		return model.Errorf(model.Locked, "remove", "%q is open for writing in another program; close it there and try again", s.full(s.base))
	}
	if err := s.discard(temp, seen); err != nil {
		return err
	}
	if err := syncDir(s.in.root, "."); err != nil {
		return fmt.Errorf("removed, but not known to be durable: %w", bare(err))
	}
	return nil
}

// setAside renames a file to a conflict copy (conflict-names.md, row 15).
func (s *swapper) setAside(temp string) error {
	for n := range copyTries {
		name := CopyName(s.base, s.now, n)
		err := place(s.in.root, temp, name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("another writer's bytes stand in %q, which could not be renamed: %w", s.full(temp), bare(err))
		}
		s.copies = append(s.copies, name)
		return syncDir(s.in.root, ".")
	}
	return fmt.Errorf("another writer's bytes stand in %q: every name for a copy is taken", s.full(temp))
}

// CopyName is the nth name of a conflict copy of a file made at a time: `stem (conflict
// YYYY-MM-DD-HH-MM-SS).ext`, then with ` (n)` after the group. A stem that would make it too long is cut.
func CopyName(base string, at time.Time, n int) string {
	stem, ext := base, ""
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		stem, ext = base[:i], base[i:]
	}
	mark := at.UTC().Format(" (conflict 2006-01-02-15-04-05)")
	if n > 0 {
		mark += fmt.Sprintf(" (%d)", n)
	}
	if room := longest - len(mark) - len(ext); room > 0 {
		stem = beginning(stem, room)
	}
	return stem + mark + ext
}

// linkPlace is place by a hard link, which fails when the name is taken.
func linkPlace(dir *os.Root, from, to string) error {
	if err := dir.Link(from, to); err != nil {
		return err
	}
	return dir.Remove(from)
}
