package jobs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
)

const (
	version = 1
	suffix  = ".jsonl"
	tail    = 64 << 10 // of a journal, which holds its newest line
	maxText = 512      // bytes of a title or note
)

// entry is one line of a journal. Every line has the whole status, so the first and the last line suffice for
// a list.
type entry struct {
	V       int       `json:"v"`
	At      time.Time `json:"at"`
	State   State     `json:"state"`
	Step    string    `json:"step,omitempty"` // salted hash of a completed step's key
	Kind    string    `json:"kind,omitempty"` // first line only, like title and salt
	Title   string    `json:"title,omitempty"`
	Salt    string    `json:"salt,omitempty"`
	PID     int       `json:"pid"`
	Done    int64     `json:"done"`
	Total   int64     `json:"total"`
	Unit    string    `json:"unit,omitempty"`
	Note    string    `json:"note,omitempty"`
	Steps   int       `json:"steps"`
	Class   string    `json:"class,omitempty"`
	Started time.Time `json:"started"`
}

func (e entry) status(id ID, first entry) Status {
	return Status{
		ID: id, Kind: first.Kind, Title: first.Title, State: e.State, Done: e.Done, Total: e.Total, Unit: e.Unit, Note: e.Note,
		Steps: e.Steps, Class: e.Class, PID: e.PID, Started: first.Started, Updated: e.At,
	}
}

// journal is the open file of a job; the holder of its lock runs the job.
type journal struct {
	f     atomicfile.File
	salt  string
	steps map[string]bool
	torn  bool // the file may end inside a line
}

// stepKey is a salted hash: the journal never holds a step's key, which may name a person.
func (j *journal) stepKey(key string) string {
	sum := sha256.Sum256([]byte(j.salt + "\x00" + key))
	return hex.EncodeToString(sum[:16])
}

// append writes one line with one write; sync makes it durable. A line cut short by an error is closed by the
// next.
func (j *journal) append(e entry, sync bool) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode journal: %w", err)
	}
	line = append(line, '\n')
	if j.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := j.f.Write(line)
	if err == nil && n != len(line) {
		err = io.ErrShortWrite
	}
	if j.torn = err != nil; j.torn {
		return fmt.Errorf("write journal: %w", statedir.Cause(err))
	}
	if !sync {
		return nil
	}
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("flush journal: %w", statedir.Cause(err))
	}
	return nil
}

// createJournal makes a job's file and takes its lock.
func createJournal(ctx context.Context, fsys atomicfile.FS, path, salt string) (*journal, error) {
	f, err := fsys.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", statedir.Cause(err))
	}
	if err := take(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("flush directory: %w", statedir.Cause(err)), f.Close())
	}
	return &journal{f: f, salt: salt, steps: map[string]bool{}}, nil
}

// openFile opens an existing job's file; ErrNotFound without one.
func openFile(fsys atomicfile.FS, path string, flag int) (atomicfile.File, error) {
	f, err := fsys.OpenFile(path, flag|syscall.O_NOFOLLOW, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("open journal: %w", atomicfile.Pathless(err))
	}
	return f, nil
}

// openJournal takes the lock of an existing job and reads its completed steps; ErrRunning when a process
// holds it.
func openJournal(ctx context.Context, fsys atomicfile.FS, path string) (*journal, entry, entry, error) {
	f, err := openFile(fsys, path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, entry{}, entry{}, err
	}
	j := &journal{f: f, steps: map[string]bool{}}
	if err := take(ctx, f); err != nil {
		return nil, entry{}, entry{}, errors.Join(err, f.Close())
	}
	first, last, err := j.read()
	if err != nil {
		return nil, entry{}, entry{}, errors.Join(err, f.Close())
	}
	return j, first, last, nil
}

// read fills in the completed steps and the salt, and returns the first and the last line.
func (j *journal) read() (first, last entry, err error) {
	// A line at a time: a copy of a million items has a million of them.
	for r := bufio.NewReader(j.f); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			j.torn = len(line) > 0
			break
		}
		if err != nil {
			return first, last, fmt.Errorf("read journal: %w", atomicfile.Pathless(err))
		}
		for _, e := range entries(line) {
			if first.V == 0 {
				first = e
			}
			last = e
			if e.Step != "" {
				j.steps[e.Step] = true
			}
		}
	}
	if first.V != version || first.Kind == "" || first.Salt == "" {
		return first, last, errors.New("journal has no beginning: the job never began")
	}
	j.salt = first.Salt
	return first, last, nil
}

// entries reads whole lines. One that is cut short or damaged is skipped, which at worst repeats a step.
func entries(b []byte) []entry {
	var out []entry
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		b = rest
		var e entry
		if whole && json.Unmarshal(line, &e) == nil && e.V == version {
			out = append(out, e)
		}
	}
	return out
}

// take waits briefly for the lock: a list takes a shared one in passing.
func take(ctx context.Context, f atomicfile.File) error {
	for range 100 {
		got, err := f.TryLock(true)
		if err != nil {
			return fmt.Errorf("lock journal: %w", err)
		}
		if got {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return ErrRunning
}

// readStatus reads a journal's first and newest lines and checks whether its process lives. It changes
// nothing.
func readStatus(fsys atomicfile.FS, path string, id ID) (Status, error) {
	f, err := openFile(fsys, path, os.O_RDONLY)
	if err != nil {
		return Status{}, err
	}
	defer f.Close()
	// Checked before the lines are read: a job that ends in between counts as ended.
	dead, err := f.TryLock(false)
	if err != nil {
		return Status{}, fmt.Errorf("look at lock: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return Status{}, fmt.Errorf("look at journal: %w", atomicfile.Pathless(err))
	}
	begin, err := readAt(f, 0, min(info.Size(), tail))
	if err != nil {
		return Status{}, err
	}
	end, err := readAt(f, max(0, info.Size()-tail), min(info.Size(), tail))
	if err != nil {
		return Status{}, err
	}
	firsts, lasts := entries(begin), entries(end)
	if len(firsts) == 0 || len(lasts) == 0 {
		return Status{ID: id, State: Interrupted, Updated: info.ModTime()}, nil
	}
	st := lasts[len(lasts)-1].status(id, firsts[0])
	if dead && !st.State.Ended() {
		st.State = Interrupted
	}
	return st, nil
}

func readAt(f io.ReaderAt, off, n int64) ([]byte, error) {
	b := make([]byte, n)
	if _, err := f.ReadAt(b, off); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read journal: %w", atomicfile.Pathless(err))
	}
	return b, nil
}

func clip(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "�")
}
