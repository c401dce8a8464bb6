package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"memdesk/internal/atomicfile/faultfs"
)

// TestATornLineIsNoAlarm: what a killed append left must be set aside by whatever writes next, and the log's own
// notes write too.
func TestATornLineIsNoAlarm(t *testing.T) {
	for name, do := range map[string]func(context.Context, *Log) error{
		"the first checkpoint": func(ctx context.Context, l *Log) error {
			if err := os.RemoveAll(l.inTree("")); err != nil {
				return err
			}
			_, err := l.Checkpoint(ctx)
			return err
		},
		"another checkpoint": func(ctx context.Context, l *Log) error { _, err := l.Checkpoint(ctx); return err },
		"another key":        func(ctx context.Context, l *Log) error { return l.RotateKey(ctx) },
		"a retirement": func(ctx context.Context, l *Log) error {
			n, err := l.Retire(ctx, time.Now().Add(time.Hour))
			if n == 0 && err == nil {
				err = errors.New("nothing was retired")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.options.FS, b.options.SegmentBytes = quick{}, 3000
			if name == "the first checkpoint" {
				b.options.Anchors = nil
				l := b.open()
				act(t, l)
			} else {
				b.acts(4)
			}
			h, err := b.open().readHead()
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(filepath.Join(b.dir, h.Segment), os.O_WRONLY|os.O_APPEND, 0)
			if err == nil {
				_, err = f.WriteString(`{"action":"forg`)
				f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := do(t.Context(), b.open()); err != nil {
				t.Error(err)
			}
			b.wantOK()
			b.acts(1)
			b.wantOK()
		})
	}
}

// TestKilledWhileRotatingTheKey: after a kill at every step the log must verify, go on and take another key.
func TestKilledWhileRotatingTheKey(t *testing.T) {
	for n := 0; ; n++ {
		b := newBench(t)
		b.options.FS = quick{}
		b.acts(2)
		ffs := faultfs.New(faultfs.CrashAt(n))
		ffs.FS = quick{}
		b.options.FS = ffs
		err := b.open().RotateKey(t.Context())
		if len(ffs.Steps()) <= n {
			if err != nil {
				t.Error(err)
			}
			return
		}
		step := ffs.Steps()[n]
		b.options.FS = quick{}
		if rep := b.verify(); !rep.OK {
			t.Errorf("step %d (%s): %s", n, step, rep.Reason)
			continue
		}
		b.acts(1)
		b.wantOK()
		if err := b.open().RotateKey(t.Context()); err != nil {
			t.Fatalf("step %d (%s): again: %v", n, step, err)
		}
		b.acts(1)
		b.wantOK()
	}
}

// TestAKeyEpochIsNoted: a new key of the hashes is on record, whatever writes first.
func TestAKeyEpochIsNoted(t *testing.T) {
	b := newBench(t)
	b.acts(1)
	if err := os.Remove(filepath.Join(b.dir, keyFile)); err != nil {
		t.Fatal(err)
	}
	if err := b.open().RotateKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, err := b.open().List(t.Context(), Filter{Action: ActionKey}, 0, "")
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("%d notes of a new key, %v", len(page.Rows), err)
	}
	b.wantOK()
}

// TestAFailedFlushConcernsEveryLog: the pages behind a failed flush must not be trusted by the other logs that
// write to the same directory in this process.
func TestAFailedFlushConcernsEveryLog(t *testing.T) {
	b := newBench(t)
	b.options.FS = quick{}
	b.acts(1)
	flushes := 0
	ffs := faultfs.New(func(_ int, step string) *faultfs.Fault {
		if step != "sync "+segment(1) {
			return nil
		}
		if flushes++; flushes != 2 { // of an append, that behind its bytes
			return nil
		}
		return &faultfs.Fault{Err: syscall.EIO}
	})
	ffs.FS = quick{}
	b.options.FS = ffs
	one := b.open()
	b.options.Beside = one
	two := b.open()
	if _, err := one.Intent(t.Context(), Entry{Action: "forget"}); !errors.Is(err, syscall.EIO) {
		t.Fatalf("%v, want the failed flush", err)
	}
	act(t, two)
	rep := b.wantOK()
	if rep.Segments != 2 || len(rep.OpenIntents) != 0 {
		t.Errorf("%d segments, %d open intents; want a new segment, and the refused act not in it", rep.Segments, len(rep.OpenIntents))
	}
}

// TestAnAcknowledgementNeedsAReading: an operator cannot acknowledge what could not be read: such a note would
// cover every later change, too.
func TestAnAcknowledgementNeedsAReading(t *testing.T) {
	b := newBench(t)
	b.options.FS, b.options.SegmentBytes = quick{}, 3000
	b.acts(4)
	b.options.FS = ailing{name: segment(1), from: 100}
	l := b.open()
	if err := l.Acknowledge(t.Context(), "seen"); !errors.Is(err, syscall.EIO) {
		t.Errorf("%v, want the read error", err)
	}
	b.options.FS = quick{}
	b.wantOK()
}
