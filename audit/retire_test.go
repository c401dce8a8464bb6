package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"memdesk/internal/atomicfile/faultfs"
	"memdesk/internal/clock"
)

// TestARetirementDuringAVerification: what was retired after the walk began must be no alarm.
func TestARetirementDuringAVerification(t *testing.T) {
	b, clk, _ := aged(t)
	l := b.open()
	w := walker{log: l, prev: genesis, full: true}
	if err := w.snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Retire(t.Context(), clk.Now().Add(-30*24*time.Hour)); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	w.begin()
	for i := range w.parts {
		if err := w.segment(t.Context(), i); err != nil {
			break // a segment that is gone cannot be read
		}
	}
	if w.rep.Reason != "" {
		t.Error(w.rep.Reason)
	}
}

// aged is a log whose first acts are a year old, anchored then and now.
func aged(t *testing.T) (b *bench, clk *clock.Fake, early []byte) {
	t.Helper()
	clk = clock.NewFake(time.Date(2025, 5, 21, 9, 0, 0, 0, time.UTC))
	b = newBench(t)
	b.options.Clock, b.options.SegmentBytes, b.options.FS = clk, 3000, quick{}
	b.acts(4)
	early, err := b.open().Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.acts(8)
	clk.Advance(365 * 24 * time.Hour)
	b.acts(8)
	return b, clk, early
}

// TestRetiredSegments: segments past their retention go, with a record; earlier proofs and anchors must
// hold, the rest must verify, and the log must continue.
func TestRetiredSegments(t *testing.T) {
	b, clk, early := aged(t)
	l := b.open()
	proof, err := l.Prove(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := l.Head(t.Context())
	n, err := l.Retire(t.Context(), clk.Now().Add(-30*24*time.Hour))
	if err != nil || n < 10 || uint64(n) >= head {
		t.Fatalf("%d of %d records went, %v", n, head, err)
	}
	rep := b.verify(Statement{Name: "of last year", Text: early})
	if !rep.OK || rep.Retired != uint64(n) || rep.Events < head-uint64(n) {
		t.Fatalf("%+v", rep)
	}
	for _, p := range rep.Proven {
		if p.State != ProvenHolds || p.Seq == 0 {
			t.Errorf("%+v", p)
		}
	}
	keys, _ := l.VerifierKeys()
	v, _ := note.NewVerifier(keys[0])
	if _, _, err := proof.Check(v); err != nil {
		t.Errorf("a proof of before: %v", err)
	}
	if _, err := l.Prove(t.Context(), 3); err == nil || !strings.Contains(err.Error(), "retired") {
		t.Errorf("a proof of a record that is gone: %v", err)
	}
	if _, err := b.open().Prove(t.Context(), uint64(n)+1); err != nil {
		t.Errorf("a proof of what was kept: %v", err)
	}
	if names, err := os.ReadFile(filepath.Join(b.dir, namesFile)); err != nil || strings.Contains(string(names), `"seq":3,`) {
		t.Errorf("a name of a retired record is left (%v)", err)
	}
	b.acts(6)
	b.wantOK()
	if again, err := b.open().Retire(t.Context(), clk.Now().Add(-30*24*time.Hour)); err != nil || again != 0 {
		t.Errorf("again: %d, %v", again, err)
	}
	clk.Advance(365 * 24 * time.Hour)
	b.acts(8)
	if again, err := b.open().Retire(t.Context(), clk.Now().Add(-30*24*time.Hour)); err != nil || again == 0 {
		t.Errorf("a year later: %d, %v", again, err)
	}
	b.acts(2)
	b.wantOK()
}

// TestWhatIsNotRetired: records that an anchor lacks, that have no outcome, or that are too young must stay.
func TestWhatIsNotRetired(t *testing.T) {
	b, clk, _ := aged(t)
	old := clk.Now().Add(-30 * 24 * time.Hour)
	if n, err := b.open().Retire(t.Context(), old.Add(-2*365*24*time.Hour)); err != nil || n != 0 {
		t.Errorf("what is young: %d, %v", n, err)
	}
	b.options.Anchors = append(b.options.Anchors, Anchor{Kind: "command", Command: "exit 1"})
	if n, err := b.open().Retire(t.Context(), old); err == nil || n != 0 {
		t.Errorf("with an anchor that is away: %d, %v", n, err)
	}
	b.options.Anchors = b.options.Anchors[:1]
	seq, err := b.open().Intent(t.Context(), Entry{Action: "forget"})
	if err != nil {
		t.Fatal(err)
	}
	clk.Advance(365 * 24 * time.Hour)
	b.acts(8)
	if _, err := b.open().Retire(t.Context(), clk.Now().Add(-24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	rep := b.wantOK()
	if len(rep.OpenIntents) != 1 || rep.Retired >= seq {
		t.Errorf("an act without an outcome: %+v", rep)
	}
}

// TestAGapThatNobodySigned: a gap made by hand must be found.
func TestAGapThatNobodySigned(t *testing.T) {
	change := func(b *bench, f func(*retired)) {
		var r retired
		at := filepath.Join(b.dir, retiredFile)
		text, err := os.ReadFile(at)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		f(&r)
		text, _ = json.Marshal(r)
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tamper := range map[string]func(*bench){
		"without the file":    func(b *bench) { _ = os.Remove(filepath.Join(b.dir, retiredFile)) },
		"another hash":        func(b *bench) { change(b, func(r *retired) { r.Hash = strings.Repeat("0", 64) }) },
		"another root":        func(b *bench) { change(b, func(r *retired) { r.Roots[0][3] ^= 1 }) },
		"fewer leaves":        func(b *bench) { change(b, func(r *retired) { r.Size, r.Roots = 0, nil }) },
		"another number":      func(b *bench) { change(b, func(r *retired) { r.Seq-- }) },
		"one segment further": func(b *bench) { further(t, b) },
		"damaged":             func(b *bench) { _ = os.WriteFile(filepath.Join(b.dir, retiredFile), []byte("{"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			b, clk, _ := aged(t)
			if n, err := b.open().Retire(t.Context(), clk.Now().Add(-30*24*time.Hour)); err != nil || n == 0 {
				t.Fatal(n, err)
			}
			b.acts(3)
			b.wantOK()
			b.t = t
			tamper(b)
			b.wantFound("")
		})
	}
}

// further removes the oldest kept segment and claims that it was retired.
func further(t *testing.T, b *bench) {
	t.Helper()
	l := b.open()
	parts, err := l.listParts()
	if err != nil || len(parts) < 3 {
		t.Fatal(len(parts), err)
	}
	next, err := l.firstRecord(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.readRetired()
	if err != nil {
		t.Fatal(err)
	}
	r.Segment, r.Seq, r.Hash = parts[0].number, next.Seq-1, next.Prev
	if err := l.rootsOf(&r); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(r)
	if err := os.WriteFile(filepath.Join(b.dir, retiredFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(b.dir, parts[0].name)); err != nil {
		t.Fatal(err)
	}
}

// TestKilledWhileRetiring: after a kill at every step the log must verify and continue.
func TestKilledWhileRetiring(t *testing.T) {
	for n := 0; ; n++ {
		b, clk, _ := aged(t)
		ffs := faultfs.New(faultfs.CrashAt(n))
		ffs.FS = quick{}
		b.options.FS = ffs
		_, err := b.open().Retire(context.Background(), clk.Now().Add(-30*24*time.Hour))
		if len(ffs.Steps()) <= n {
			if err != nil {
				t.Error(err)
			}
			return
		}
		b.options.FS = nil
		if rep := b.verify(); !rep.OK {
			t.Fatalf("step %d (%s): %s", n, ffs.Steps()[n], rep.Reason)
		}
		b.acts(1)
		b.wantOK()
		if _, err := b.open().Retire(t.Context(), clk.Now().Add(-30*24*time.Hour)); err != nil {
			t.Fatalf("step %d: again: %v", n, err)
		}
		b.wantOK()
		gone, err := b.open().readRetired()
		if err != nil || gone.Seq == 0 {
			t.Fatalf("step %d: %+v %v", n, gone, err)
		}
		for number := range gone.Segment {
			if _, err := os.Stat(filepath.Join(b.dir, segment(number+1))); err == nil {
				t.Errorf("step %d: retired segment %d is still there", n, number+1)
			}
		}
		names, err := os.ReadFile(filepath.Join(b.dir, namesFile))
		if err != nil {
			t.Fatal(err)
		}
		for raw := range bytes.Lines(names) {
			if row, ok := parseName(raw); !ok || row.Seq <= gone.Seq {
				t.Errorf("step %d: the clear name of retired record %d is still there", n, row.Seq)
			}
		}
	}
}
