package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/statedir"
)

// Options say where jobs live.
type Options struct {
	Dir   string // <state>/jobs; made with the first job
	Clock clock.Clock
	FS    atomicfile.FS // nil means the machine's files
	// Poll is how often a job checks for requests of other processes; 0 means 250 ms.
	Poll time.Duration
}

// Runner runs jobs of this process and sees those of others. Close ends it.
type Runner struct {
	fs    atomicfile.FS
	clock clock.Clock
	dir   string
	poll  time.Duration
	slots chan struct{}
	swept sync.Once

	mu     sync.Mutex
	live   map[ID]*Handle
	ended  map[ID]error // why ended jobs of this process did not come to their end: a journal holds no text of an error
	closed bool
	wg     sync.WaitGroup
}

// parallel is how many jobs of a runner run at once; the others are queued.
const parallel = 4

// Open names the directory; it creates nothing.
func Open(o Options) (*Runner, error) {
	if o.Dir == "" {
		return nil, errors.New("open jobs: no directory")
	}
	o.Clock = clock.Or(o.Clock)
	if o.FS == nil {
		o.FS = atomicfile.OS{}
	}
	return &Runner{
		fs: o.FS, clock: o.Clock, dir: o.Dir, poll: cmp.Or(o.Poll, 250*time.Millisecond), slots: make(chan struct{}, parallel), live: map[ID]*Handle{}, ended: map[ID]error{},
	}, nil
}

// Keep is how long the journal of an ended job is kept.
const Keep = 90 * 24 * time.Hour

// Start begins a job and returns once its journal is durable. The job keeps the values of ctx, but does not
// end with it. The first Start of a runner sweeps what ended more than Keep ago.
func (r *Runner) Start(ctx context.Context, s Spec) (ID, error) {
	if s.Kind == "" || s.Run == nil {
		return "", errors.New("start job: kind and run are needed")
	}
	if err := atomicfile.MakeDirs(r.fs, r.dir); err != nil {
		return "", fmt.Errorf("start job: make directory: %w", statedir.Cause(err))
	}
	now := r.clock.Now().UTC()
	r.swept.Do(func() { _, _ = r.Sweep(ctx, now.Add(-Keep)) }) // housekeeping: the job does not depend on it
	id := ID(now.Format("20060102t150405") + "-" + atomicfile.Suffix())
	j, err := createJournal(ctx, r.fs, r.path(id), atomicfile.Suffix()+atomicfile.Suffix())
	if err != nil {
		return "", fmt.Errorf("start job: %w", err)
	}
	first := entry{
		V: version, At: now, State: Queued, Kind: clip(s.Kind), Title: clip(s.Title), Salt: j.salt, PID: os.Getpid(), Started: now,
	}
	if err := j.append(first, true); err != nil {
		return "", fmt.Errorf("start job: %w", errors.Join(err, j.f.Close(), r.fs.Remove(r.path(id))))
	}
	if err := r.launch(ctx, id, j, first, first, s); err != nil {
		return "", fmt.Errorf("start job: %w", errors.Join(err, r.fs.Remove(r.path(id))))
	}
	return id, nil
}

// Recover continues a job that was interrupted, failed or cancelled; s.Kind must be its kind. ErrRunning when
// a process has it, ErrEnded when it is done.
func (r *Runner) Recover(ctx context.Context, id ID, s Spec) error {
	if !id.valid() {
		return fmt.Errorf("recover job: %w", ErrNotFound)
	}
	j, first, last, err := openJournal(ctx, r.fs, r.path(id))
	if err != nil {
		return fmt.Errorf("recover job: %w", err)
	}
	switch {
	case s.Run == nil || s.Kind != first.Kind:
		err = fmt.Errorf("job is of kind %q", first.Kind)
	case last.State == Done:
		err = ErrEnded
	}
	if err == nil { // a request to the process that had the job is none to this one
		if err = atomicfile.Pathless(r.fs.Remove(r.controlPath(id))); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		last.State, last.PID, last.Class = Queued, os.Getpid(), ""
		last.Step, last.Kind, last.Title, last.Salt, last.Steps = "", "", "", "", len(j.steps)
		last.At = r.clock.Now().UTC()
		err = j.append(last, true)
	}
	if err != nil {
		return fmt.Errorf("recover job: %w", errors.Join(err, j.f.Close()))
	}
	if err := r.launch(ctx, id, j, first, last, s); err != nil {
		return fmt.Errorf("recover job: %w", err)
	}
	return nil
}

// launch hands the journal to a goroutine of its own.
func (r *Runner) launch(ctx context.Context, id ID, j *journal, first, now entry, s Spec) error {
	now.Kind, now.Title, now.Salt = "", "", ""
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	h := &Handle{id: id, clock: r.clock, cancel: cancel, first: first, journal: j, now: now, changed: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		cancel(ErrClosed)
		return errors.Join(ErrClosed, j.f.Close())
	}
	r.live[id] = h
	delete(r.ended, id)
	r.wg.Add(2)
	go r.obey(run, h)
	go r.run(run, h, s)
	return nil
}

// run waits for a slot, works, and journals the end.
func (r *Runner) run(ctx context.Context, j *Handle, s Spec) {
	defer r.wg.Done()
	defer j.cancel(nil)
	err := r.work(ctx, j, s)
	state, class := Done, ""
	switch cause := context.Cause(ctx); {
	case err == nil:
	case errors.Is(cause, ErrClosed):
		state = Interrupted
	case errors.Is(cause, ErrCancelled):
		state, class = Cancelled, "cancelled"
	default:
		state, class = Failed, classify(s, err)
	}
	j.end(state, class, err)
	st, _, _ := j.look()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live[j.id] != j { // recovered since its end
		return
	}
	delete(r.live, j.id)
	if st.Err != nil {
		r.ended[j.id] = st.Err
	}
}

func (r *Runner) work(ctx context.Context, j *Handle, s Spec) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := j.begin(); err != nil {
		return err
	}
	if err := j.Wait(ctx); err != nil {
		return err
	}
	return guarded(ctx, j, s)
}

// errPanic carries no value of the panic: it may hold content.
var errPanic = errors.New("the work panicked")

func guarded(ctx context.Context, h *Handle, s Spec) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return s.Run(ctx, h)
}

func classify(s Spec, err error) string {
	switch {
	case errors.Is(err, errPanic):
		return "panic"
	case s.Classify != nil:
		return s.Classify(err)
	}
	return "failed"
}

// Close ends every job of this process and waits for them until ctx ends. They can be recovered.
func (r *Runner) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	for _, j := range r.live {
		j.cancel(ErrClosed)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() { r.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close jobs: %w", ctx.Err())
	}
}

// Get is one job's status.
func (r *Runner) Get(ctx context.Context, id ID) (Status, error) {
	if err := ctx.Err(); err != nil {
		return Status{}, err
	}
	if !id.valid() {
		return Status{}, ErrNotFound
	}
	if j := r.mine(id); j != nil {
		st, _, _ := j.look()
		return st, nil
	}
	st, err := readStatus(r.fs, r.path(id), id)
	if err == nil && st.State != Done && st.PID == os.Getpid() {
		r.mu.Lock()
		defer r.mu.Unlock()
		st.Err = r.ended[id]
	}
	return st, err
}

// Steps reports which steps a job has completed by now, by their keys. It takes no lock.
func (r *Runner) Steps(ctx context.Context, id ID) (completed func(key string) bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !id.valid() {
		return nil, ErrNotFound
	}
	f, err := openFile(r.fs, r.path(id), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j := &journal{f: f, steps: map[string]bool{}}
	if _, _, err := j.read(); err != nil {
		return nil, err
	}
	return func(key string) bool { return j.steps[j.stepKey(key)] }, nil
}

// List is every job, newest first; none when there is no directory. One whose journal cannot be read is
// Unreadable: it does not hide the others.
func (r *Runner) List(ctx context.Context) ([]Status, error) {
	entries, err := r.fs.ReadDir(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list jobs: %w", atomicfile.Pathless(err))
	}
	var out []Status
	for _, e := range slices.Backward(entries) {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if id := ID(name); ok && id.valid() {
			st, err := r.Get(ctx, id)
			if errors.Is(err, ErrNotFound) {
				continue // swept meanwhile
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("list jobs: %w", ctx.Err())
			}
			if err != nil {
				st = Status{ID: id, State: Unreadable, Err: err}
			}
			out = append(out, st)
		}
	}
	return out, nil
}

// Sweep removes the journals of jobs that ended before t and of those that never began, and returns their
// number. An interrupted job stays: it is unfinished.
func (r *Runner) Sweep(ctx context.Context, t time.Time) (int, error) {
	all, err := r.List(ctx)
	if err != nil {
		return 0, fmt.Errorf("sweep jobs: %w", err)
	}
	n := 0
	for _, st := range all {
		if !(st.State.Ended() || st.State == Interrupted && st.Kind == "") || !st.Updated.Before(t) {
			continue
		}
		if j := r.mine(st.ID); j != nil && !j.over() { // still at work; one that is over stays in live until its goroutine ends
			continue
		}
		if err := r.fs.Remove(r.path(st.ID)); err != nil {
			return n, fmt.Errorf("sweep jobs: %w", atomicfile.Pathless(err))
		}
		for _, request := range []string{r.controlPath(st.ID), r.controlPath(st.ID) + ".taken"} {
			if err := r.fs.Remove(request); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return n, fmt.Errorf("sweep jobs: %w", atomicfile.Pathless(err))
			}
		}
		n++
	}
	return n, nil
}

// Owns reports whether this runner has the job: it ends with Close, and keeps the job until it has ended.
func (r *Runner) Owns(id ID) bool { return r.mine(id) != nil }

func (r *Runner) mine(id ID) *Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[id]
}

func (r *Runner) path(id ID) string        { return filepath.Join(r.dir, string(id)+suffix) }
func (r *Runner) controlPath(id ID) string { return filepath.Join(r.dir, string(id)+".control") }

var idForm = regexp.MustCompile(`^[0-9]{8}t[0-9]{6}-[0-9a-f]{16}$`)

func (id ID) valid() bool { return idForm.MatchString(string(id)) }
