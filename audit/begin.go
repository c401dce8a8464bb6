package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"memdesk/internal/atomicfile"
)

// begin makes the log with its first record, unless it exists. Everything is prepared in a sibling directory
// and renamed, so a log is never half made: a directory with a key but without records was made by somebody
// else. A missing log is an alarm, not a beginning.
func (l *Log) begin() error {
	none, err := l.absent()
	if err != nil {
		return err
	}
	if why := l.trace(); none && why != "" {
		return errGone(why)
	}
	if err := l.make(); err != nil {
		return err
	}
	return l.markBegun()
}

// make makes the log, whatever traces of an earlier log there are.
func (l *Log) make() error {
	info, err := l.fs.Lstat(l.dir)
	if err == nil {
		if err := private(info); err != nil {
			return err
		}
		if empty, err := l.isEmpty(); err != nil || !empty {
			return errors.Join(err, l.foreign())
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look at the audit directory: %w", bare(err))
	}
	parent := filepath.Dir(l.dir)
	if err := atomicfile.MakeDirs(l.fs, parent); err != nil {
		return fmt.Errorf("make the state directory: %w", bare(err))
	}
	l.sweepBegun(parent)
	temp, err := l.prepared(parent)
	if err != nil {
		return fmt.Errorf("make the audit directory: %w", bare(err))
	}
	if err := l.fs.Rename(temp, l.dir); err != nil {
		l.removeAll(temp)
		if empty, eerr := l.isEmpty(); eerr == nil && !empty {
			return nil // another process was first: use its log
		}
		return fmt.Errorf("make the audit directory: %w", bare(err))
	}
	if err := l.fs.SyncDir(parent); err != nil {
		return fmt.Errorf("flush the state directory: %w", bare(err))
	}
	return nil
}

// prepared makes the sibling directory. It retries when another process's sweep removed it as stale just
// before its lock was taken.
func (l *Log) prepared(parent string) (temp string, err error) {
	for range 3 {
		temp = filepath.Join(parent, "."+filepath.Base(l.dir)+".new."+atomicfile.Suffix())
		if err = l.prepare(temp); err == nil {
			return temp, nil
		}
		l.removeAll(temp)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return "", err
}

// foreign refuses a directory with files of which none is a log's; a damaged log always has some.
func (l *Log) foreign() error {
	entries, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return fmt.Errorf("look at the audit directory: %w", bare(err))
	}
	for _, e := range entries {
		if _, ok := segmentNumber(e.Name()); ok || e.Name() == headFile || e.Name() == keyFile || e.Name() == lockFile {
			return nil
		}
	}
	return errors.New("the audit directory holds other files and no log: move them away")
}

// prepare fills a directory with lock, key, first segment and head.
func (l *Log) prepare(dir string) error {
	if err := l.fs.Mkdir(dir, 0o700); err != nil {
		return err
	}
	at := l.in(dir)
	unlock, err := at.lock(noWait, true) // held until the rename, against a sweep
	if err != nil {
		return err
	}
	defer unlock()
	k := newKey()
	if err := atomicfile.WriteFS(l.fs, at.path(keyFile), k.encode(), atomicfile.Options{}); err != nil {
		return err
	}
	first := l.record(Entry{Action: ActionBegin}, k)
	first.Phase, first.Result = PhaseNote, OK
	h, err := at.startSegment(1, &first, head{Hash: genesis})
	if err != nil {
		return err
	}
	return at.replaceHead(h)
}

// in returns the same log with its files in another directory.
func (l *Log) in(dir string) *Log {
	return &Log{fs: l.fs, clock: l.clock, dir: dir, start: l.start, base: l.base}
}

// sweepBegun removes a half-made log of a killed process. A directory whose lock is held belongs to a live
// one.
func (l *Log) sweepBegun(parent string) {
	entries, err := l.fs.ReadDir(parent)
	if err != nil {
		return // tidying only; the rename reports a problem
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "."+filepath.Base(l.dir)+".new.") || !e.IsDir() {
			continue
		}
		at := l.in(filepath.Join(parent, e.Name()))
		f, err := l.fs.OpenFile(at.path(lockFile), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			l.removeAll(at.dir)
		}
		if err != nil {
			continue
		}
		if got, err := f.TryLock(true); err == nil && got {
			l.removeAll(at.dir)
		}
		f.Close()
	}
}

// removeAll removes a flat directory that no reader can know yet.
func (l *Log) removeAll(dir string) {
	entries, err := l.fs.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if l.fs.Remove(filepath.Join(dir, e.Name())) != nil {
			return
		}
	}
	if l.fs.Remove(dir) != nil {
		return // the next log that is begun here sweeps it
	}
}
