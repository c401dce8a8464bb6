package audit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
)

// Removing a whole log must raise an alarm while other traces prove that it existed.
func TestALogThatIsGoneIsAnAlarm(t *testing.T) {
	for name, tt := range map[string]struct {
		do     func(t *testing.T, dir string)
		traces string
	}{
		"the directory removed": {func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, ""},
		"the directory emptied": {func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o700))
		}, ""},
		"the mark of its beginning too": {func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Remove(dir+".begun"))
		}, "2 receipts of erasures"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			s := fresh(t)
			act(t, s.open(t), forget)
			s.traces = func() string { return tt.traces }
			tt.do(t, s.dir)
			l := s.open(t)
			rep, err := l.Verify(ctx)
			if err != nil || rep.OK || rep.Acknowledged || !strings.Contains(rep.Reason, "the audit log is gone") || !strings.Contains(rep.Reason, tt.traces) {
				t.Fatalf("%+v, %v", rep, err)
			}
			if err := s.open(t).Writable(); !errors.Is(err, audit.ErrTampered) {
				t.Errorf("writable: %v", err)
			}
			if _, err := s.open(t).Intent(ctx, forget); !errors.Is(err, audit.ErrTampered) || !errors.Is(err, audit.ErrNotWritable) {
				t.Errorf("intent: %v", err)
			}
			must(t, s.open(t).Acknowledge(ctx, "restored without its state"))
			act(t, s.open(t), forget)
			if rep, err = s.open(t).Verify(ctx); err != nil || rep.OK || !rep.Acknowledged || !strings.Contains(rep.Reason, "gone") {
				t.Errorf("after the acknowledgement: %+v, %v", rep, err)
			}
			must(t, os.RemoveAll(s.dir))
			if _, err := s.open(t).Intent(ctx, forget); !errors.Is(err, audit.ErrTampered) {
				t.Errorf("gone again: %v", err)
			}
		})
	}
}

// TestANewDeskIsNoAlarm: without traces nothing is missing, and a check must create nothing.
func TestANewDeskIsNoAlarm(t *testing.T) {
	s := fresh(t)
	s.traces = func() string { return "" }
	l := s.open(t)
	rep, err := l.Verify(context.Background())
	if err != nil || !rep.OK || l.Writable() != nil {
		t.Fatalf("%+v, %v, %v", rep, err, l.Writable())
	}
	if err := l.Acknowledge(context.Background(), "nothing"); err == nil {
		t.Error("an alarm that was none is acknowledged")
	}
	if _, err := os.Lstat(filepath.Dir(s.dir)); err == nil {
		t.Error("looking has made the state directory")
	}
	act(t, l, forget)
}

// TestAChangeBeforeAnAcknowledgementIsNotCoveredByIt: an acknowledgement covers only the breaks it was
// given for.
func TestAChangeBeforeAnAcknowledgementIsNotCoveredByIt(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	act(t, l, forget)
	flip := func(seq int) {
		edit(t, filepath.Join(s.dir, firstSegment), func(b []byte) []byte {
			ls := bytes.SplitAfter(b, []byte("\n"))
			ls[seq-1] = bytes.Replace(ls[seq-1], []byte(`"forget"`), []byte(`"recall"`), 1)
			return bytes.Join(ls, nil)
		})
	}
	flip(4)
	must(t, s.open(t).Acknowledge(ctx, "seen"))
	act(t, s.open(t), forget)
	edit(t, filepath.Join(s.dir, "log-000002.jsonl"), func(b []byte) []byte { return bytes.Replace(b, []byte(`"forget"`), []byte(`"recall"`), 1) })
	if _, err := s.open(t).Intent(ctx, forget); !errors.Is(err, audit.ErrTampered) {
		t.Errorf("a change behind the acknowledgement: %v", err)
	}
}

// TestWholeSegmentsAreNotReadAgain: an intact segment is skipped, but one that changed since must be read.
func TestWholeSegmentsAreNotReadAgain(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	s.limit = 2000
	l := s.open(t)
	for range 3 {
		act(t, l, forget)
	}
	first := filepath.Join(s.dir, firstSegment)
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(first, old, old)) // sets the modification time only: the system stamps the change itself
	waitUntilSettled(t, first)
	act(t, s.open(t), forget)
	act(t, s.open(t), forget)
	known := read(t, filepath.Join(s.dir, "known.json"))
	if !strings.Contains(known, firstSegment) {
		t.Fatalf("a whole segment is not known: %s", known)
	}
	edit(t, first, func(b []byte) []byte { return bytes.Replace(b, []byte(`"forget"`), []byte(`"recall"`), 1) })
	must(t, os.Chtimes(first, old, old))
	if _, err := s.open(t).Intent(ctx, forget); !errors.Is(err, audit.ErrTampered) {
		t.Errorf("a sealed segment that was changed afterwards: %v", err)
	}
}

// waitUntilSettled polls until the file's change time is old enough to be unique.
func waitUntilSettled(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	began := audit.ChangeTime(info)
	if began == 0 {
		t.Skip("the system does not tell when a file was changed")
	}
	for time.Since(time.Unix(0, began)) <= audit.Settled {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestMarksOutsideTheLog: a statement about the log's length must reveal a truncation.
func TestMarksOutsideTheLog(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	seq, hash, err := l.Head(ctx)
	must(t, err)
	if seq != 3 || len(hash) != 64 {
		t.Fatalf("head %d %q", seq, hash)
	}
	marks := func(m ...audit.Mark) func() []audit.Mark { return func() []audit.Mark { return m } }
	at := time.Date(2026, 5, 21, 9, 0, 1, 0, time.UTC)
	for name, tt := range map[string]struct {
		mark audit.Mark
		want string
	}{
		"as it was":      {audit.Mark{What: "the receipt of r1", Seq: seq, Hash: hash, At: at}, ""},
		"other record":   {audit.Mark{What: "the receipt of r1", Seq: seq, Hash: strings.Repeat("0", 64), At: at}, "record 3 is another one than the receipt of r1 names"},
		"beyond the end": {audit.Mark{What: "the receipt of r1", Seq: 9, Hash: hash, At: at}, "the log ends with record 3, the receipt of r1 was made at record 9"},
	} {
		t.Run(name, func(t *testing.T) {
			other := s
			other.marks = marks(tt.mark)
			rep, err := other.open(t).Verify(ctx)
			if err != nil || rep.OK != (tt.want == "") || rep.Reason != tt.want {
				t.Errorf("%+v, %v", rep, err)
			}
			if err := other.open(t).Writable(); (err != nil) != (tt.want != "") {
				t.Errorf("writable: %v", err)
			}
		})
	}
	s.marks = marks(audit.Mark{What: "the receipt of r1", Seq: 9, Hash: hash, At: at.Add(-time.Hour)})
	if _, err := s.open(t).Intent(ctx, forget); err == nil {
		t.Fatal("a lost end takes records")
	}
	must(t, s.open(t).Acknowledge(ctx, "restored from the back-up"))
	act(t, s.open(t), forget)
}

// TestMarksAreFoundInAnyOrder: receipts are read in the order of their names, and two may name one record.
func TestMarksAreFoundInAnyOrder(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	seq, hash, err := l.Head(t.Context())
	must(t, err)
	mark := func(what string, seq uint64, hash string) audit.Mark {
		return audit.Mark{What: what, Seq: seq, Hash: hash, At: epoch.Add(time.Hour)}
	}
	s.marks = func() []audit.Mark {
		return []audit.Mark{mark("r9", 9, hash), mark("r3", seq, hash), mark("r4", seq, "another"), mark("r1", 1, "another")}
	}
	rep, err := s.open(t).Verify(t.Context())
	if err != nil || rep.Reason != "record 1 is another one than r1 names" {
		t.Errorf("%+v, %v", rep, err)
	}
	must(t, s.open(t).Acknowledge(t.Context(), "seen"))
	page, err := s.open(t).List(t.Context(), audit.Filter{}, 1, "")
	if err != nil || page.Rows[0].Counts["breaks"] != 2 {
		t.Errorf("%+v, %v; want the breaks of r1 and r4", page.Rows, err)
	}
}

// TestABrokenLogIsNotReadAtEachLook: a console looks every few seconds. The verdict ends with the damage, and with an
// acknowledgement.
func TestABrokenLogIsNotReadAtEachLook(t *testing.T) {
	s := fresh(t)
	act(t, s.open(t), forget)
	walks := 0
	s.marks = func() []audit.Mark { walks++; return nil }
	l, first := s.open(t), filepath.Join(s.dir, firstSegment)
	was := []byte(read(t, first))
	broken := bytes.Replace(was, []byte(`"forget"`), []byte(`"recall"`), 1)
	must(t, os.WriteFile(first, broken, 0o600))
	for range 3 {
		if err := l.Writable(); !errors.Is(err, audit.ErrTampered) {
			t.Fatal(err)
		}
	}
	if walks != 1 {
		t.Errorf("three looks read the log %d times", walks)
	}
	waitUntilSettled(t, first)
	must(t, os.WriteFile(first, was, 0o600))
	if err := l.Writable(); err != nil {
		t.Errorf("as it was: %v", err)
	}
	l = s.open(t)
	must(t, os.WriteFile(first, broken, 0o600))
	if err := l.Writable(); err == nil {
		t.Error("the damage is not found")
	}
	must(t, s.open(t).Acknowledge(t.Context(), "seen"))
	if err := l.Writable(); err != nil {
		t.Errorf("another process has acknowledged it: %v", err)
	}
}

// TestNamesAreThoseOfTheirRecords: a clear name may be shown only if its keyed hash is in the chain,
// and a missing one must be reported.
func TestNamesAreThoseOfTheirRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		do    func(t *testing.T, dir string)
		state audit.NameState
		shown string
		count func(audit.Names) int64
	}{
		"untouched": {func(*testing.T, string) {}, audit.NameOK, forget.Target, func(n audit.Names) int64 { return n.OK }},
		"another name": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "names.jsonl"), func(b []byte) []byte { return bytes.Replace(b, []byte("ann-"), []byte("bob-"), 1) })
		}, audit.NameForged, "", func(n audit.Names) int64 { return n.Forged }},
		"table removed": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "names.jsonl"))) },
			audit.NameAbsent, "", func(n audit.Names) int64 { return n.Absent }},
		"key removed": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "key"))) },
			audit.NameUnchecked, "", func(n audit.Names) int64 { return n.Unchecked }},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			s := fresh(t)
			act(t, s.open(t), forget)
			tt.do(t, s.dir)
			l := s.open(t)
			page, err := l.List(ctx, audit.Filter{}, 10, "")
			must(t, err)
			for _, r := range page.Rows {
				if r.Target == "" {
					if r.NameState != "" {
						t.Errorf("record %d has no target and a name that is %s", r.Seq, r.NameState)
					}
					continue
				}
				if r.Name != tt.shown || r.NameState != tt.state {
					t.Errorf("record %d: name %q is %q, want %q %q", r.Seq, r.Name, r.NameState, tt.shown, tt.state)
				}
			}
			rep := verify(t, s.dir)
			if !rep.OK || tt.count(rep.Names) != 1 {
				t.Errorf("%+v", rep)
			}
		})
	}
}
