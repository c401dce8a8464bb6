package gdpr

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"memdesk/internal/atomicfile"
	"memdesk/internal/filelock"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// runLog records which steps of a plan are done, across crashes. Every step is idempotent, so a line that is
// lost in a crash only repeats its step. It holds numbers and no names.
type runLog struct {
	mu    sync.Mutex
	f     *os.File
	plan  string
	done  map[[2]int]string // what was done
	spans []runLine         // ranges of steps
	rows  map[int]int64     // by store: rows that its scrubs have removed or rewritten
	size  int64             // size of the journal when it was opened
	loose int               // lines not flushed yet
}

type runLine struct {
	Plan  string `json:"plan"`
	Store int    `json:"store"`
	Step  int    `json:"step"`
	To    int    `json:"to,omitempty"` // the last of several steps that were done at once
	What  string `json:"what"`         // removed, absent, edited, clean; scrubbed
	Rows  int64  `json:"rows,omitempty"`
}

// ErrBusy is wrapped by errors about a request that another process works on.
var ErrBusy = errors.New("another process works on this request")

// openRun takes the run's lock and reads which steps of this plan are done. Conflict when another process has
// the lock.
func (d *Desk) openRun(id, plan string) (*runLog, error) {
	path := d.dir("runs", id+".jsonl")
	f, err := atomicfile.Open(path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, model.E(model.Unavailable, "gdpr-erase", statedir.Cause(err))
	}
	free, err := filelock.Try(f, true)
	if err != nil {
		return nil, errors.Join(model.E(model.Unavailable, "gdpr-erase", err), f.Close())
	}
	if !free {
		return nil, errors.Join(model.E(model.Conflict, "gdpr-erase", ErrBusy), f.Close())
	}
	b, err := atomicfile.ReadFile(path)
	if err != nil {
		return nil, errors.Join(model.E(model.Unavailable, "gdpr-erase", atomicfile.Pathless(err)), filelock.Close(f))
	}
	l := &runLog{f: f, plan: plan, done: map[[2]int]string{}, rows: map[int]int64{}, size: int64(len(b))}
	for line := range bytes.Lines(b) {
		var r runLine
		if json.Unmarshal(line, &r) == nil && r.Plan == plan { // skip a torn line
			l.take(r)
		}
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		if _, err := f.Write([]byte{'\n'}); err != nil {
			return nil, errors.Join(model.E(model.Unavailable, "gdpr-erase", statedir.Cause(err)), filelock.Close(f))
		}
		l.size++ // the next to open it must find the same
	}
	return l, nil
}

// what says what a step did; empty where it is not done.
func (l *runLog) what(store, step int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.spans {
		if r.Store == store && r.Step <= step && step <= r.To {
			return r.What
		}
	}
	return l.done[[2]int{store, step}]
}

// stepClean is what a step did that found its item changed and without the subject.
const stepClean = "clean"

func (l *runLog) take(r runLine) {
	if r.Rows > 0 {
		l.rows[r.Store] += r.Rows
		return
	}
	if r.To > r.Step {
		l.spans = append(l.spans, r)
		return
	}
	l.done[[2]int{r.Store, r.Step}] = r.What
}

// flushEvery bounds how many steps a power cut may repeat.
const flushEvery = 64

// markAll records steps that one transaction did.
func (l *runLog) markAll(store, from, to int, what string) error {
	if err := l.line(runLine{Plan: l.plan, Store: store, Step: from, To: to, What: what}); err != nil {
		return err
	}
	return l.flush()
}

// scrubbed adds rows to the count of a store's scrubs and returns the total.
func (l *runLog) scrubbed(store int, rows int64) (int64, error) {
	var err error
	if rows > 0 {
		err = l.line(runLine{Plan: l.plan, Store: store, Step: -1, What: "scrubbed", Rows: rows})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rows[store], err
}

func (l *runLog) mark(store, step int, what string) error {
	return l.line(runLine{Plan: l.plan, Store: store, Step: step, What: what})
}

func (l *runLog) line(r runLine) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := json.Marshal(r)
	if err != nil {
		return model.E(model.Internal, "gdpr-erase", err)
	}
	if _, err := l.f.Write(append(b, '\n')); err != nil {
		return model.E(model.Unavailable, "gdpr-erase", statedir.Cause(err))
	}
	l.take(r)
	if l.loose++; l.loose >= flushEvery {
		return l.flushLocked()
	}
	return nil
}

func (l *runLog) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flushLocked()
}

func (l *runLog) flushLocked() error {
	l.loose = 0
	if err := l.f.Sync(); err != nil {
		return model.E(model.Unavailable, "gdpr-erase", statedir.Cause(err))
	}
	return nil
}

func (l *runLog) close() error { return errors.Join(l.flush(), filelock.Close(l.f)) }

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return model.E(model.Unavailable, "gdpr", atomicfile.Pathless(err))
	}
	return nil
}
