package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/internal/atomicfile"
	"memdesk/internal/atomicfile/faultfs"
	"memdesk/internal/clock"
	"memdesk/jobs"
)

var epoch = time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC)

func open(t *testing.T, dir string, fsys atomicfile.FS) *jobs.Runner {
	t.Helper()
	r, err := jobs.Open(jobs.Options{Dir: dir, Clock: clock.NewFake(epoch), FS: fsys, Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// last follows a job to its end.
func last(t *testing.T, r *jobs.Runner, id jobs.ID) jobs.Status {
	t.Helper()
	ch, err := r.Watch(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	var st jobs.Status
	for st = range ch {
	}
	return st
}

// until follows a job until its status satisfies want.
func until(t *testing.T, r *jobs.Runner, id jobs.ID, want func(jobs.Status) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ch, err := r.Watch(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	for st := range ch {
		if want(st) {
			return
		}
	}
	t.Fatal("the job ended before it was as wanted")
}

func in(s jobs.State) func(jobs.Status) bool {
	return func(st jobs.Status) bool { return st.State == s }
}

func start(t *testing.T, r *jobs.Runner, run func(context.Context, *jobs.Handle) error) jobs.ID {
	t.Helper()
	id, err := r.Start(context.Background(), jobs.Spec{Kind: "copy", Title: "copy 3 items", Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRunToTheEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "jobs")
	r := open(t, dir, nil)
	id := start(t, r, func(ctx context.Context, h *jobs.Handle) error {
		h.Progress(1, 3, "items", "first")
		if err := h.Step(ctx, "a", func(context.Context) error { return nil }); err != nil {
			return err
		}
		h.Progress(3, 3, "items", "all")
		return h.Checkpoint(ctx)
	})
	want := jobs.Status{
		ID: id, Kind: "copy", Title: "copy 3 items", State: jobs.Done, Done: 3, Total: 3, Unit: "items", Note: "all",
		Steps: 1, PID: os.Getpid(), Started: epoch, Updated: epoch,
	}
	if diff := cmp.Diff(want, last(t, r, id)); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
	// Another runner must read it from the journal alone.
	all, err := open(t, dir, nil).List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]jobs.Status{want}, all); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for path, mode := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, string(id)+".jsonl"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v, %v, want %v", info.Mode(), err, mode)
		}
	}
}

func TestReadingLeavesNoTrace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "jobs")
	r := open(t, dir, nil)
	ctx := context.Background()
	if all, err := r.List(ctx); err != nil || len(all) != 0 {
		t.Errorf("list: %v %v", all, err)
	}
	for _, id := range []jobs.ID{"20260521t090000-0123456789abcdef", "../../etc/passwd", ""} {
		if _, err := r.Get(ctx, id); !errors.Is(err, jobs.ErrNotFound) {
			t.Errorf("get %q: %v", id, err)
		}
		if err := r.Ask(ctx, id, jobs.Cancel); !errors.Is(err, jobs.ErrNotFound) {
			t.Errorf("cancel %q: %v", id, err)
		}
		if err := r.Recover(ctx, id, jobs.Spec{}); !errors.Is(err, jobs.ErrNotFound) {
			t.Errorf("recover %q: %v", id, err)
		}
	}
	if n, err := r.Sweep(ctx, epoch.AddDate(1, 0, 0)); n != 0 || err != nil {
		t.Errorf("sweep: %d %v", n, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made: %v", err)
	}
}

func TestHowJobsEnd(t *testing.T) {
	secret := errors.New("ann@example.org is gone")
	cases := map[string]struct {
		run   func(context.Context, *jobs.Handle) error
		state jobs.State
		class string
	}{
		"an error": {func(context.Context, *jobs.Handle) error { return secret }, jobs.Failed, "sorted"},
		"a panic":  {func(context.Context, *jobs.Handle) error { panic("ann@example.org") }, jobs.Failed, "panic"},
		"a failed step": {func(ctx context.Context, h *jobs.Handle) error {
			return h.Step(ctx, "a", func(context.Context) error { return secret })
		}, jobs.Failed, "sorted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, nil)
			id, err := r.Start(context.Background(), jobs.Spec{Kind: "k", Run: c.run, Classify: func(error) string { return "sorted" }})
			if err != nil {
				t.Fatal(err)
			}
			st := last(t, r, id)
			if st.State != c.state || st.Class != c.class || st.Err == nil || st.Steps != 0 {
				t.Errorf("%+v, want %s %s", st, c.state, c.class)
			}
			b, err := os.ReadFile(filepath.Join(dir, string(id)+".jsonl"))
			if err != nil || strings.Contains(string(b), "example") {
				t.Errorf("the journal holds the error's text (%v):\n%s", err, b)
			}
		})
	}
}

// TestTheErrorOfAnEndedJob: who begins to watch a job after its end must hear why it failed.
func TestTheErrorOfAnEndedJob(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "jobs"), nil)
	broken := errors.New("broken")
	id := start(t, r, func(context.Context, *jobs.Handle) error { return broken })
	for r.Owns(id) {
		time.Sleep(time.Millisecond)
	}
	if st := last(t, r, id); st.State != jobs.Failed || !errors.Is(st.Err, broken) {
		t.Errorf("%+v", st)
	}
	if err := r.Recover(t.Context(), id, jobs.Spec{Kind: "copy", Run: func(context.Context, *jobs.Handle) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	if st := last(t, r, id); st.State != jobs.Done || st.Err != nil {
		t.Errorf("recovered: %+v", st)
	}
}

func TestStepKeysAreNotInClear(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, nil)
	id := start(t, r, func(ctx context.Context, h *jobs.Handle) error {
		return h.Step(ctx, "topics/ann.md", func(context.Context) error { return nil })
	})
	last(t, r, id)
	b, err := os.ReadFile(filepath.Join(dir, string(id)+".jsonl"))
	if err != nil || strings.Contains(string(b), "ann") {
		t.Errorf("the journal holds the key (%v):\n%s", err, b)
	}
}

func TestCancelAndPause(t *testing.T) {
	for _, where := range []string{"same process", "another process"} {
		t.Run(where, func(t *testing.T) {
			dir := t.TempDir()
			ctx := context.Background()
			r := open(t, dir, nil)
			other := r
			if where == "another process" {
				other = open(t, dir, nil)
			}
			turn := make(chan struct{})
			id := start(t, r, func(ctx context.Context, h *jobs.Handle) error {
				for i := 0; ; i++ {
					err := h.Step(ctx, fmt.Sprint(i), func(ctx context.Context) error {
						select {
						case turn <- struct{}{}:
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					})
					if err != nil {
						return err
					}
				}
			})
			<-turn
			if err := other.Ask(ctx, id, jobs.Pause); err != nil {
				t.Fatal(err)
			}
			// The current step may end; then nothing may happen until the job is resumed.
			go func() {
				select {
				case <-turn:
				case <-t.Context().Done():
				}
			}()
			until(t, r, id, in(jobs.Paused))
			if err := other.Ask(ctx, id, jobs.Resume); err != nil {
				t.Fatal(err)
			}
			until(t, r, id, in(jobs.Running))
			<-turn
			if err := other.Ask(ctx, id, jobs.Cancel); err != nil {
				t.Fatal(err)
			}
			if st := last(t, r, id); st.State != jobs.Cancelled || st.Class != "cancelled" {
				t.Errorf("%+v, want cancelled", st)
			}
			if err := other.Ask(ctx, id, jobs.Cancel); !errors.Is(err, jobs.ErrEnded) {
				t.Errorf("cancelling again: %v", err)
			}
		})
	}
}

func TestQueue(t *testing.T) {
	r := open(t, t.TempDir(), nil)
	release := make(chan struct{})
	for range 4 {
		first := start(t, r, func(context.Context, *jobs.Handle) error { <-release; return nil })
		until(t, r, first, in(jobs.Running))
	}
	fifth := start(t, r, func(context.Context, *jobs.Handle) error { return nil })
	if st, err := r.Get(context.Background(), fifth); err != nil || st.State != jobs.Queued {
		t.Errorf("%+v %v, want queued", st, err)
	}
	close(release)
	if st := last(t, r, fifth); st.State != jobs.Done {
		t.Errorf("%+v, want done", st)
	}
}

// The end of the caller's context must not end the job.
func TestAJobOutlivesItsCaller(t *testing.T) {
	r := open(t, t.TempDir(), nil)
	ctx, cancel := context.WithCancel(context.Background())
	release := make(chan struct{})
	id, err := r.Start(ctx, jobs.Spec{Kind: "k", Run: func(ctx context.Context, h *jobs.Handle) error {
		<-release
		return ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	close(release)
	if st := last(t, r, id); st.State != jobs.Done {
		t.Errorf("%+v, want done", st)
	}
}

func TestClosedAndRecovered(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	r := open(t, dir, nil)
	ran := map[string]int{}
	work := func(stop bool) func(context.Context, *jobs.Handle) error {
		return func(ctx context.Context, h *jobs.Handle) error {
			for _, key := range []string{"a", "b", "c"} {
				if stop && key == "c" {
					if err := h.Checkpoint(ctx); err != nil {
						return err
					}
					<-ctx.Done()
					return context.Cause(ctx)
				}
				if err := h.Step(ctx, key, func(context.Context) error { ran[key]++; return nil }); err != nil {
					return err
				}
			}
			return nil
		}
	}
	id := start(t, r, work(true))
	until(t, r, id, func(st jobs.Status) bool { return st.Steps == 2 })
	next := open(t, dir, nil)
	if err := next.Recover(ctx, id, jobs.Spec{Kind: "copy", Run: work(false)}); !errors.Is(err, jobs.ErrRunning) {
		t.Errorf("recovering a job that runs: %v", err)
	}
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if st, err := next.Get(ctx, id); err != nil || st.State != jobs.Interrupted || st.Steps != 2 {
		t.Fatalf("%+v %v, want interrupted after 2 steps", st, err)
	}
	if err := next.Recover(ctx, id, jobs.Spec{Kind: "erase", Run: work(false)}); err == nil {
		t.Error("a job of another kind was recovered")
	}
	if err := next.Recover(ctx, id, jobs.Spec{Kind: "copy", Run: work(false)}); err != nil {
		t.Fatal(err)
	}
	if st := last(t, next, id); st.State != jobs.Done || st.Steps != 3 {
		t.Errorf("%+v, want done after 3 steps", st)
	}
	if diff := cmp.Diff(map[string]int{"a": 1, "b": 1, "c": 1}, ran); diff != "" {
		t.Errorf("steps run (-want +got):\n%s", diff)
	}
	if err := next.Recover(ctx, id, jobs.Spec{Kind: "copy", Run: work(false)}); !errors.Is(err, jobs.ErrEnded) {
		t.Errorf("recovering a job that is done: %v", err)
	}
	if _, err := r.Start(ctx, jobs.Spec{Kind: "k", Run: work(false)}); !errors.Is(err, jobs.ErrClosed) {
		t.Errorf("starting after close: %v", err)
	}
}

// The process dies at every step of the file layer, with and without the step done and with half a line
// written; the next process must see an interrupted job, and after its recovery every step must have
// had its effect, at most one of them twice.
func TestKilledAtEveryStep(t *testing.T) {
	ctx := context.Background()
	for _, fault := range []faultfs.Fault{{Crash: true}, {Crash: true, After: true}, {Crash: true, Part: 20}, {Err: syscall.EIO}, {Err: syscall.ENOSPC, Part: 20}} {
		for n := 0; ; n++ {
			dir := filepath.Join(t.TempDir(), "jobs")
			l := faultfs.New(func(i int, _ string) *faultfs.Fault {
				if i == n {
					return &fault
				}
				return nil
			})
			ran := map[string]int{}
			work := func(ctx context.Context, h *jobs.Handle) error {
				for _, key := range []string{"a", "b", "c"} {
					if err := h.Step(ctx, key, func(context.Context) error { ran[key]++; return nil }); err != nil {
						return err
					}
				}
				return nil
			}
			spec := jobs.Spec{Kind: "copy", Run: work}
			r, err := jobs.Open(jobs.Options{Dir: dir, Clock: clock.NewFake(epoch), FS: l})
			if err != nil {
				t.Fatal(err)
			}
			id, err := r.Start(ctx, spec)
			if err == nil {
				// Watch reads the end of a job from its file, which a dead layer cannot do.
				if watch, err := r.Watch(ctx, id); err == nil {
					for range watch {
					}
				}
			}
			if err := r.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if len(l.Steps()) <= n {
				break // the whole run has fewer steps
			}
			what := fmt.Sprintf("%+v at step %d (%s)", fault, n, l.Steps()[n])
			next := open(t, dir, nil)
			all, err := next.List(ctx)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for _, st := range all {
				if st.Kind == "" || st.State == jobs.Done {
					continue // it never began, and its caller knows; or only the close failed
				}
				if st.State != jobs.Interrupted && st.State != jobs.Failed {
					t.Fatalf("%s: state %s", what, st.State)
				}
				if err := next.Recover(ctx, st.ID, spec); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if st := last(t, next, st.ID); st.State != jobs.Done || st.Steps != 3 {
					t.Fatalf("%s: recovered to %+v", what, st)
				}
			}
			twice := 0
			for key, times := range ran {
				if times > 1 {
					twice++
				}
				if times > 2 {
					t.Errorf("%s: step %s ran %d times", what, key, times)
				}
			}
			if twice > 1 || (len(ran) != 0 && len(ran) != 3) {
				t.Errorf("%s: steps run %v", what, ran)
			}
		}
	}
}

// A truncated line must not swallow the next one.
func TestATornLineStandsAlone(t *testing.T) {
	dir := t.TempDir()
	var cut atomic.Bool // the runner looks for requests meanwhile
	l := faultfs.New(func(_ int, step string) *faultfs.Fault {
		if strings.HasPrefix(step, "write") && cut.CompareAndSwap(true, false) {
			return &faultfs.Fault{Err: syscall.ENOSPC, Part: 20}
		}
		return nil
	})
	r := open(t, dir, l)
	id := start(t, r, func(ctx context.Context, h *jobs.Handle) error {
		return h.Step(ctx, "a", func(context.Context) error { cut.Store(true); return nil })
	})
	if st := last(t, r, id); st.State != jobs.Failed || !errors.Is(st.Err, syscall.ENOSPC) {
		t.Errorf("%+v, want failed for want of space", st)
	} else if !strings.Contains(st.Err.Error(), "make room there") {
		t.Errorf("the failure does not say what to do: %v", st.Err)
	}
	if st, err := open(t, dir, nil).Get(context.Background(), id); err != nil || st.State != jobs.Failed {
		t.Errorf("the journal says %+v %v, want failed", st, err)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	r := open(t, dir, nil)
	done := start(t, r, func(context.Context, *jobs.Handle) error { return nil })
	last(t, r, done)
	broken := start(t, r, func(ctx context.Context, h *jobs.Handle) error { <-ctx.Done(); return ctx.Err() })
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	next := open(t, dir, nil)
	if n, err := next.Sweep(ctx, epoch); n != 0 || err != nil {
		t.Errorf("swept %d, %v: not older", n, err)
	}
	if n, err := next.Sweep(ctx, epoch.Add(time.Second)); n != 1 || err != nil {
		t.Errorf("swept %d, %v, want 1", n, err)
	}
	all, err := next.List(ctx)
	if err != nil || len(all) != 1 || all[0].ID != broken {
		t.Errorf("left %+v %v, want the interrupted one", all, err)
	}
}

// TestStartingSweeps: journals must not gather for ever, and each must stay for its time.
func TestStartingSweeps(t *testing.T) {
	dir := t.TempDir()
	work := func(context.Context, *jobs.Handle) error { return nil }
	r := open(t, dir, nil)
	old := start(t, r, work)
	last(t, r, old)
	for _, tt := range []struct {
		age   time.Duration
		stays bool
	}{{jobs.Keep - time.Hour, true}, {jobs.Keep + time.Hour, false}} {
		later, err := jobs.Open(jobs.Options{Dir: dir, Clock: clock.NewFake(epoch.Add(tt.age)), Poll: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		last(t, later, start(t, later, work))
		if _, err := later.Get(t.Context(), old); errors.Is(err, jobs.ErrNotFound) == tt.stays {
			t.Errorf("after %s: %v", tt.age, err)
		}
		if err := later.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestOneUnreadableJournalHidesNoOther: it is shown as unreadable, and stays.
func TestOneUnreadableJournalHidesNoOther(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, nil)
	good := start(t, r, func(context.Context, *jobs.Handle) error { return nil })
	last(t, r, good)
	const bad = "20260521t100000-0123456789abcdef"
	if err := os.Symlink(filepath.Join(dir, string(good)+".jsonl"), filepath.Join(dir, bad+".jsonl")); err != nil {
		t.Fatal(err)
	}
	all, err := r.List(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != bad || all[0].State != jobs.Unreadable || all[0].Err == nil || all[1].State != jobs.Done {
		t.Errorf("%+v, %v", all, err)
	}
	if n, err := r.Sweep(t.Context(), epoch.AddDate(1, 0, 0)); n != 1 || err != nil {
		t.Errorf("swept %d, %v, want the one that ended", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := r.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled list gives %+v, %v", all, err)
	}
}

func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir, nil)
	id := start(t, r, func(context.Context, *jobs.Handle) error { return errors.New("x") })
	last(t, r, id)
	path := filepath.Join(dir, string(id)+".jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(b) {
		if err := os.WriteFile(path, b[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		st, err := open(t, dir, nil).Get(context.Background(), id)
		if err != nil || (st.State != jobs.Interrupted) {
			t.Fatalf("cut at %d: %+v %v, want interrupted", cut, st, err)
		}
	}
}

func TestSpawnHasASessionOfItsOwn(t *testing.T) {
	if _, err := jobs.Spawn(filepath.Join(t.TempDir(), "absent")); err == nil || strings.Contains(err.Error(), t.TempDir()) {
		t.Errorf("spawning nothing: %v", err)
	}
	fifo := filepath.Join(t.TempDir(), "out")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	pid, err := jobs.Spawn("/bin/sh", "-c", `cut -d" " -f1,6,7 /proc/self/stat > "$0"`, fifo)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	var child, session, tty int
	if _, err := fmt.Sscan(string(b), &child, &session, &tty); err != nil || session != pid || tty != 0 {
		t.Errorf("session %d terminal %d (%v), want session %d without a terminal", session, tty, err, pid)
	}
}

// A request that its process did not live to read must not reach the job once that is recovered.
func TestARequestDiesWithItsProcess(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	deaf := func() *jobs.Runner { // reads no request in time
		r, err := jobs.Open(jobs.Options{Dir: dir, Clock: clock.NewFake(epoch), Poll: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	killed, next := deaf(), deaf()
	id := start(t, killed, func(ctx context.Context, _ *jobs.Handle) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	until(t, killed, id, in(jobs.Running))
	if err := next.Ask(ctx, id, jobs.Pause); err != nil {
		t.Fatal(err)
	}
	if err := killed.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := next.Recover(ctx, id, jobs.Spec{Kind: "copy", Run: func(context.Context, *jobs.Handle) error { return nil }}); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.control")); err != nil || len(left) != 0 {
		t.Errorf("the recovered job would read %q, %v", left, err)
	}
	if err := next.Close(ctx); err != nil {
		t.Fatal(err)
	}
}
