package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memdesk/internal/atomicfile"
)

// flushed records how much of each file the last flush covered, and can delay a flush.
type flushed struct {
	atomicfile.OS
	mu     sync.Mutex
	covers map[string]int64
	count  int // flushes of segments
	hold   func()
}

type flushedFile struct {
	atomicfile.File
	fs   *flushed
	name string
}

func (f *flushed) OpenFile(name string, flag int, perm os.FileMode) (atomicfile.File, error) {
	file, err := f.OS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return flushedFile{file, f, filepath.Base(name)}, nil
}

func (f flushedFile) Sync() error {
	_, segment := segmentNumber(f.name)
	f.fs.mu.Lock()
	hold := f.fs.hold
	f.fs.mu.Unlock()
	if segment && hold != nil {
		hold()
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.covers[f.name] = info.Size()
	if segment {
		f.fs.count++
	}
	return nil
}

// TestAppendsShareAFlush: callers of two logs that arrive during a flush must be written together, and
// none may continue before a flush covers its record.
func TestAppendsShareAFlush(t *testing.T) {
	const callers = 32
	dir := filepath.Join(t.TempDir(), "audit")
	fs := &flushed{covers: map[string]int64{}}
	one, err := Open(Options{Dir: dir, FS: fs, Actor: Actor{ID: "one"}})
	if err != nil {
		t.Fatal(err)
	}
	two, err := Open(Options{Dir: dir, FS: fs, Actor: Actor{ID: "two"}, Beside: one})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := one.Intent(ctx, Entry{Action: "begin"}); err != nil {
		t.Fatal(err)
	}
	before := fs.count
	held := make(chan struct{})
	fs.hold = func() { // the first flush waits until all others are queued
		close(held)
		for {
			one.group.mu.Lock()
			n := len(one.group.queue)
			one.group.mu.Unlock()
			if n == callers-1 {
				break
			}
		}
		fs.mu.Lock()
		fs.hold = nil
		fs.mu.Unlock()
	}
	var all sync.WaitGroup
	for i := range callers {
		if i == 1 {
			<-held // so that the first is written alone
		}
		all.Go(func() {
			l := []*Log{one, two}[i%2]
			seq, err := l.Intent(ctx, Entry{Action: "forget", Target: fmt.Sprint("item ", i), Reason: "r"})
			if err != nil {
				t.Error(err)
				return
			}
			fs.mu.Lock()
			size := fs.covers[segment(1)]
			fs.mu.Unlock()
			b, err := os.ReadFile(filepath.Join(dir, segment(1)))
			if at := bytes.Index(b, fmt.Appendf(nil, `"seq":%d,`, seq)); err != nil || at < 0 || int64(at) > size {
				t.Errorf("record %d stands at %d, flushed are %d bytes (%v)", seq, at, size, err)
			}
			if err := l.Outcome(ctx, seq, Result{Verdict: OK}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// Two flushes for the first, two for the 31 together; outcomes arrive at any time.
	if most := 2 * (2 + callers); fs.count-before > most {
		t.Errorf("%d flushes of the segment for %d records", fs.count-before, 2*callers)
	}
	rep, err := Verify(ctx, dir)
	if err != nil || !rep.OK || rep.Names.OK != callers || len(rep.OpenIntents) != 1 {
		t.Errorf("%+v %v", rep, err)
	}
	page, err := one.List(ctx, Filter{Actor: "two", Phase: PhaseIntent}, 100, "")
	if err != nil || len(page.Rows) != callers/2 {
		t.Errorf("%d records by the second log, %v", len(page.Rows), err)
	}
}

// TestSharedAppendFails: at every step of a shared append the disk fails or the process dies. Every
// reported record must exist; the log must verify and continue.
func TestSharedAppendFails(t *testing.T) {
	ctx := context.Background()
	for name, fault := range Faults(1500) {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				dir := filepath.Join(t.TempDir(), "audit")
				base, err := Open(Options{Dir: dir, FS: quick{}})
				if err != nil {
					t.Fatal(err)
				}
				first, err := base.Intent(ctx, Entry{Action: "forget", Target: "x"})
				if err != nil {
					t.Fatal(err)
				}
				ffs := AtStep(n, fault)
				l, err := Open(Options{Dir: dir, FS: ffs, SegmentBytes: 3000})
				if err != nil {
					t.Fatal(err)
				}
				var batch []*waiting
				for i := range 6 {
					w := &waiting{log: l, ctx: ctx, phase: PhaseIntent, entry: Entry{Action: "forget", Target: fmt.Sprint("item ", i)}}
					if i == 3 {
						w = &waiting{log: l, ctx: ctx, phase: PhaseOutcome, res: Result{Verdict: OK}, link: first}
					}
					batch = append(batch, w)
				}
				l.mu.Lock()
				l.commit(ctx, batch)
				l.mu.Unlock()
				if len(ffs.Steps()) <= n {
					return
				}
				what := fmt.Sprintf("step %d (%s)", n, ffs.Steps()[n])
				rep, err := Verify(ctx, dir)
				if err != nil || !rep.OK {
					t.Fatalf("%s: %+v %v", what, rep, err)
				}
				next, err := Open(Options{Dir: dir, FS: quick{}})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := next.Intent(ctx, Entry{Action: "after"}); err != nil {
					t.Fatalf("%s: going on: %v", what, err)
				}
				page, err := next.List(ctx, Filter{}, 100, "")
				if err != nil {
					t.Fatal(err)
				}
				there := map[string]bool{}
				for _, r := range page.Rows {
					there[r.Hash] = true
				}
				for i, w := range batch {
					if w.err == nil && !there[w.rec.Hash] {
						t.Errorf("%s: record %d of the batch was acknowledged and is gone", what, i)
					}
					if w.err != nil && !errors.Is(refuse(w.err), ErrNotWritable) {
						t.Errorf("%s: %v", what, w.err)
					}
				}
				if fault.Err == syscall.ENOSPC && strings.HasPrefix(what, "allocate") && batch[3].err != nil {
					t.Errorf("%s: the outcome finds no room: %v", what, batch[3].err)
				}
			}
		})
	}
}

// TestWhoGivesUpHoldsNobodyUp: the first caller's context ends while another process holds the log; the
// others must be written once it is free.
func TestWhoGivesUpHoldsNobodyUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := l.Intent(ctx, Entry{Action: "begin"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := l.lock(ctx, true) // takes the lock as another process would
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(ctx)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := l.Intent(gone, Entry{Action: "first"}); first <- err }()
	waitFor(l, func() bool { return l.group.busy })
	go func() { _, err := l.Intent(ctx, Entry{Action: "second"}); second <- err }()
	waitFor(l, func() bool { return len(l.group.queue) == 1 })
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
	unlock()
	if err := <-second; err != nil {
		t.Errorf("the second: %v", err)
	}
}

// TestALeaderThatGivesUpFailsAlone: the deadline of the caller that writes for several must not end the others' wait,
// of whatever phase the batch is.
func TestALeaderThatGivesUpFailsAlone(t *testing.T) {
	for _, phase := range []Phase{PhaseIntent, PhaseOutcome} {
		l, err := Open(Options{Dir: filepath.Join(t.TempDir(), "audit")})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		seq, err := l.Intent(ctx, Entry{Action: "begin"})
		if err != nil {
			t.Fatal(err)
		}
		unlock, err := l.lock(ctx, true) // takes the lock as another process would
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		wait := func(ctx context.Context) *waiting {
			return &waiting{log: l, ctx: ctx, phase: phase, entry: Entry{Action: "begin"}, res: Result{Verdict: OK}, link: seq, done: make(chan struct{})}
		}
		batch := []*waiting{wait(short), wait(ctx)}
		if alone := l.commit(short, batch); !alone || !errors.Is(batch[0].err, context.DeadlineExceeded) || batch[1].err != nil {
			t.Errorf("%s: alone %v, %v, %v", phase, alone, batch[0].err, batch[1].err)
		}
		cancel()
		unlock()
	}
}

func waitFor(l *Log, ok func() bool) {
	for {
		l.group.mu.Lock()
		there := ok()
		l.group.mu.Unlock()
		if there {
			return
		}
	}
}
