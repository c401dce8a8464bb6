package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memdesk/audit"
	"memdesk/internal/atomicfile/faultfs"
)

// onStep applies a fault to the nth step that matches.
func onStep(match string, nth int, f faultfs.Fault) func(int, string) *faultfs.Fault {
	seen := -1
	return func(_ int, step string) *faultfs.Fault {
		if !strings.HasPrefix(step, match) {
			return nil
		}
		if seen++; seen == nth {
			return &f
		}
		return nil
	}
}

// The process dies, or the disk fails, at every step of two acts across a segment boundary. Every
// reported record must exist, the chain must verify, and the next process must continue.
func TestKilledAtEveryStep(t *testing.T) {
	ctx := context.Background()
	for name, fault := range audit.Faults(100) {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				s := fresh(t)
				s.limit = 2500
				l := audit.AtStep(n, fault)
				s.fs = l
				log := s.open(t)
				recorded := map[uint64]bool{}
				outcomes := 0
				for range 3 {
					seq, err := log.Intent(ctx, forget)
					if err != nil {
						if !errors.Is(err, audit.ErrNotWritable) {
							t.Fatalf("step %d: %v is no refusal", n, err)
						}
						continue
					}
					recorded[seq] = true
					if log.Outcome(ctx, seq, audit.Result{Verdict: audit.OK}) == nil {
						outcomes++
					}
				}
				if len(l.Steps()) <= n {
					break
				}
				what := fmt.Sprintf("step %d (%s)", n, l.Steps()[n])
				rep, err := audit.Verify(ctx, s.dir)
				if err != nil || !rep.OK {
					t.Fatalf("%s: right after: %+v %v", what, rep, err)
				}
				s.fs = audit.Quick{}
				next := s.open(t)
				if err := next.Writable(); err != nil {
					t.Fatalf("%s: not writable afterwards: %v", what, err)
				}
				act(t, next, forget)
				rep, err = audit.Verify(ctx, s.dir)
				if err != nil || !rep.OK {
					t.Fatalf("%s: after going on: %+v %v", what, rep, err)
				}
				page, err := next.List(ctx, audit.Filter{}, 1000, "")
				if err != nil {
					t.Fatal(err)
				}
				ended := 0
				for _, r := range page.Rows {
					if r.Damaged != "" {
						t.Errorf("%s: damaged row %s", what, r.Damaged)
					}
					if r.Phase == audit.PhaseIntent {
						if r.Name != forget.Target {
							t.Errorf("%s: record %d has the name %q", what, r.Seq, r.Name)
						}
						delete(recorded, r.Seq)
					}
					if r.Phase == audit.PhaseOutcome {
						ended++
					}
				}
				if len(recorded) > 0 || ended < outcomes+1 {
					t.Errorf("%s: lost intents %v, %d outcomes of %d", what, recorded, ended, outcomes+1)
				}
				entries, err := os.ReadDir(filepath.Dir(s.dir))
				if err != nil || len(entries) > 2 || len(entries) == 2 && entries[1].Name() != "audit.begun" {
					t.Errorf("%s: left beside the log: %v %v", what, entries, err)
				}
				for name := range snapshot(t, s.dir) {
					if strings.Contains(name, ".tmp.") {
						t.Errorf("%s: left in the log: %s", what, name)
					}
				}
			}
		})
	}
}

// One append must first write names, then flush, write, flush, then write the head.
func TestOrderOfAnAppend(t *testing.T) {
	s := fresh(t)
	l := faultfs.New(nil)
	s.fs = l
	log := s.open(t)
	act(t, log, forget)
	from := len(l.Steps())
	_, err := log.Intent(context.Background(), forget)
	must(t, err)
	got := strings.Join(l.Steps()[from:], ", ")
	want := "create lock, create names.jsonl, write names.jsonl, sync names.jsonl, allocate log-000001.jsonl, sync log-000001.jsonl, " +
		"write log-000001.jsonl, sync log-000001.jsonl, write head.json, sync head.json"
	if got != want {
		t.Errorf("steps\n%s\nwant\n%s", got, want)
	}
}

func TestFullDiskRefusesTheActAndKeepsTheOutcome(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	full := false
	l := faultfs.New(func(_ int, step string) *faultfs.Fault {
		// A full disk has no new blocks, but writes into reserved space work.
		if full && (strings.HasPrefix(step, "allocate") || strings.HasSuffix(step, "names.jsonl") && strings.HasPrefix(step, "write")) {
			return &faultfs.Fault{Err: syscall.ENOSPC}
		}
		return nil
	})
	s.fs = l
	log := s.open(t)
	seq, err := log.Intent(ctx, forget)
	must(t, err)
	full = true
	if err := log.Outcome(ctx, seq, audit.Result{Verdict: audit.OK}); err != nil {
		t.Errorf("the outcome of a running act: %v", err)
	}
	for _, e := range []audit.Entry{forget, {Action: "forget"}} {
		if _, err := log.Intent(ctx, e); !errors.Is(err, audit.ErrNotWritable) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a new act: %v", err)
		} else if !strings.Contains(err.Error(), "`memdesk info` says where it lies): make room there") {
			t.Errorf("the refusal says neither where nor what to do: %v", err)
		}
	}
	full = false
	act(t, log, forget)
	wantOK(t, s.dir, 5)
}

// After a failed flush the segment's pages must not be trusted again.
func TestFailedFlushLeavesTheSegment(t *testing.T) {
	ctx := context.Background()
	for nth := range 2 {
		s := fresh(t)
		act(t, s.open(t), forget)
		s.fs = faultfs.New(onStep("sync "+firstSegment, nth, faultfs.Fault{Err: syscall.EIO}))
		log := s.open(t)
		if _, err := log.Intent(ctx, forget); !errors.Is(err, audit.ErrNotWritable) {
			t.Fatalf("a failed flush passed: %v", err)
		}
		act(t, log, forget)
		rep := wantOK(t, s.dir, 6)
		if rep.Segments != 2 || len(rep.OpenIntents) != 0 {
			t.Errorf("flush %d: %d segments, %d open intents; want a new segment and the refused act not in it", nth, rep.Segments, len(rep.OpenIntents))
		}
	}
}

func TestOpenIntents(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	s.limit = 2000
	l := s.open(t)
	act(t, l, forget)
	first, err := l.Intent(ctx, forget)
	must(t, err)
	second, err := l.Intent(ctx, audit.Entry{Action: "retain", Store: "vault", Target: "b.md"})
	must(t, err)
	act(t, l, forget)
	next := s.open(t)
	open, err := next.OpenIntents(ctx)
	must(t, err)
	if len(open) != 2 || open[0].Seq != first || open[1].Seq != second || open[0].Name != forget.Target || open[1].Name != "b.md" {
		t.Fatalf("open intents %+v", open)
	}
	// Recovery in another process.
	must(t, next.Outcome(ctx, first, audit.Result{Verdict: audit.Unknown}))
	if err := next.Outcome(ctx, first+1000, audit.Result{Verdict: audit.OK}); err == nil {
		t.Error("an outcome for a record that is not there")
	}
	if err := next.Outcome(ctx, 1, audit.Result{Verdict: audit.OK}); err == nil {
		t.Error("an outcome for a note")
	}
	if err := next.Outcome(ctx, second, audit.Result{}); err == nil {
		t.Error("an outcome without a verdict")
	}
	open, err = next.OpenIntents(ctx)
	if err != nil || len(open) != 1 || open[0].Seq != second {
		t.Errorf("open intents %+v %v", open, err)
	}
	page, err := next.List(ctx, audit.Filter{Result: audit.Unknown}, 0, "")
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Link != first || page.Rows[0].Name != forget.Target || page.Rows[0].Store != "crewship" {
		t.Errorf("the recovery's outcome: %+v %v", page.Rows, err)
	}
}
