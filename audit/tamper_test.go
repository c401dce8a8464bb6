package audit_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/internal/clock"
)

const firstSegment = "log-000001.jsonl"

// Flipping the low bit of any byte, or the case of any letter, in any file that the chain covers must
// be found.
func TestEveryFlippedByteIsFound(t *testing.T) {
	s := fresh(t)
	s.limit = 1500
	l := s.open(t)
	act(t, l, forget)
	act(t, l, forget)
	rep := wantOK(t, s.dir, 6)
	if rep.Segments != 2 {
		t.Fatalf("%d segments, want 2", rep.Segments)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	flipped := 0
	for _, e := range entries {
		if e.Name() == "names.jsonl" || e.Name() == "known.json" || e.Name() == "lock" {
			continue
		}
		path := filepath.Join(s.dir, e.Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		body := []byte(read(t, path))
		for i, b := range body {
			for _, mask := range []byte{0x01, 0x20} {
				if mask == 0x20 && !('A' <= b&^0x20 && b&^0x20 <= 'Z') {
					continue // the case bit, for letters only
				}
				if _, err := f.WriteAt([]byte{b ^ mask}, int64(i)); err != nil {
					t.Fatal(err)
				}
				if rep := verify(t, s.dir); rep.OK || rep.Reason == "" {
					t.Errorf("%s: byte %d (%q) xor %#x was not found", e.Name(), i, b, mask)
				}
				flipped++
			}
			if _, err := f.WriteAt([]byte{b}, int64(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantOK(t, s.dir, 6)
	t.Logf("%d flips found", flipped)
}

// edit rewrites a file in place, keeping its inode.
func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b := change([]byte(read(t, path)))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
}

func lines(b []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTampering(t *testing.T) {
	last := "log-000003.jsonl"
	cases := map[string]struct {
		do       func(t *testing.T, dir string)
		firstBad uint64
		words    string
	}{
		"middle record deleted": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, firstSegment), func(b []byte) []byte {
				ls := lines(b)
				return bytes.Join(append(ls[:1:1], ls[2:]...), nil)
			})
		}, 2, ""},
		"two records reordered": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, firstSegment), func(b []byte) []byte {
				ls := lines(b)
				return bytes.Join([][]byte{ls[1], ls[0], append(ls[2], '\n')}, nil)
			})
		}, 1, ""},
		"a record repeated": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, firstSegment), func(b []byte) []byte {
				ls := lines(b)
				return bytes.Join([][]byte{ls[0], ls[0], ls[1]}, nil)
			})
		}, 2, ""},
		"a sealed segment cut at a record": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, firstSegment), func(b []byte) []byte { return lines(b)[0] })
		}, 2, "was cut from"},
		"a sealed segment grown": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, firstSegment), func(b []byte) []byte { return append(b, "x"...) })
		}, 0, "behind its last record"},
		"segments swapped": {func(t *testing.T, dir string) {
			a, b, c := filepath.Join(dir, firstSegment), filepath.Join(dir, "log-000002.jsonl"), filepath.Join(dir, "c")
			must(t, os.Rename(a, c))
			must(t, os.Rename(b, a))
			must(t, os.Rename(c, b))
		}, 1, ""},
		"a sealed segment gone": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "log-000002.jsonl")))
		}, 0, "log-000002.jsonl is gone"},
		"the first segment gone": {func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, firstSegment)))
		}, 1, "log-000001.jsonl is gone"},
		"the newest segment gone": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, last))) }, 0, "is gone"},
		"every segment gone": {func(t *testing.T, dir string) {
			for _, n := range []string{firstSegment, "log-000002.jsonl", last} {
				must(t, os.Remove(filepath.Join(dir, n)))
			}
		}, 1, "the segments are gone"},
		"only the key left": {func(t *testing.T, dir string) {
			for _, n := range []string{firstSegment, "log-000002.jsonl", last, "head.json", "lock", "names.jsonl"} {
				must(t, os.Remove(filepath.Join(dir, n)))
			}
		}, 1, "head.json is gone"},
		"the head gone": {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "head.json"))) }, 0, "head.json is gone"},
		"the newest segment cut at a record": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, last), func(b []byte) []byte { return lines(b)[0] })
		}, 0, "was cut from"},
		"the newest segment cut in a record": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, last), func(b []byte) []byte { return b[:len(b)-9] })
		}, 0, "inside a record"},
		"the newest segment emptied": {func(t *testing.T, dir string) { must(t, os.Truncate(filepath.Join(dir, last), 0)) }, 0, "was cut from"},
		"the newest segment replaced by a copy": {func(t *testing.T, dir string) {
			b := read(t, filepath.Join(dir, last))
			must(t, os.WriteFile(filepath.Join(dir, "copy"), []byte(b), 0o600))
			must(t, os.Rename(filepath.Join(dir, "copy"), filepath.Join(dir, last)))
		}, 0, "another file"},
		"the newest segment is a link": {func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, last), filepath.Join(dir, "aside")))
			must(t, os.Symlink("aside", filepath.Join(dir, last)))
		}, 0, ""},
		"the last record changed": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, last), func(b []byte) []byte {
				i := bytes.LastIndex(b, []byte(`"ok"`))
				b[i+1] = 'O'
				return b
			})
		}, 0, "was changed"},
		"a whole foreign record behind the last": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, last), func(b []byte) []byte { return append(b, lines(b)[0]...) })
		}, 10, "record 7 follows record 9"},
		"a forged record behind the last": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, last), func(b []byte) []byte {
				ls := lines(b)
				forged := bytes.Replace(ls[len(ls)-1], []byte(`"seq":9,`), []byte(`"seq":10,`), 1)
				return append(append(b, forged...), '\n')
			})
		}, 10, "record 10 was changed"},
		"many lines behind the last": {func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, last), func(b []byte) []byte { return append(b, "x\ny\n"...) })
		}, 0, "unreadable"},
		"a next segment put there": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "log-000004.jsonl"), []byte(read(t, filepath.Join(dir, firstSegment))), 0o600))
		}, 10, "record 1 follows record 9"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			s := fresh(t)
			s.limit = 2000
			s.fs = audit.Quick{}
			l := s.open(t)
			for range 3 {
				act(t, l, forget)
			}
			if _, err := os.Stat(filepath.Join(s.dir, last)); err != nil {
				t.Fatal(err)
			}
			wantOK(t, s.dir, 9)
			c.do(t, s.dir)
			rep, err := l.Verify(ctx)
			if err == nil && rep.OK {
				t.Fatal("verifies")
			}
			if !strings.Contains(rep.Reason, c.words) || rep.Reason == "" {
				t.Errorf("reason %q, want %q in it", rep.Reason, c.words)
			}
			if err == nil && (rep.FirstBad == 0 || (c.firstBad != 0 && rep.FirstBad != c.firstBad)) {
				t.Errorf("first bad record %d, want %d (%s)", rep.FirstBad, c.firstBad, rep.Reason)
			}
			if err != nil {
				return
			}
			// The Log that verified must refuse, and so must all others.
			if _, err := l.Intent(ctx, forget); !errors.Is(err, audit.ErrNotWritable) || !errors.Is(err, audit.ErrTampered) {
				t.Errorf("the log that saw it appends: %v", err)
			}
			other := s.open(t)
			if err := other.Writable(); err == nil {
				t.Error("another log is writable")
			}
			if _, err := s.open(t).Intent(ctx, forget); !errors.Is(err, audit.ErrTampered) {
				t.Errorf("another log appends: %v", err)
			}
			must(t, l.Acknowledge(ctx, "seen, ticket 12"))
			act(t, l, forget)
			act(t, s.open(t), forget)
			rep = verify(t, s.dir)
			if !rep.OK && !rep.Acknowledged {
				t.Errorf("acknowledged, yet: %+v", rep)
			}
			page, err := l.List(ctx, audit.Filter{Action: audit.ActionAcknowledge}, 5, "")
			if err != nil || !slices.ContainsFunc(page.Rows, func(r audit.Row) bool { return r.Reason == "seen, ticket 12" }) {
				t.Errorf("the acknowledgement is not listed: %v %+v", err, page.Rows)
			}
		})
	}
}

// An unchanged copy put in place of the log is an alarm, but no damage.
func TestAnAcknowledgedRestoreVerifies(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	path := filepath.Join(s.dir, firstSegment)
	must(t, os.WriteFile(path+".copy", []byte(read(t, path)), 0o600))
	must(t, os.Rename(path+".copy", path))
	if rep := verify(t, s.dir); rep.OK {
		t.Fatal("a replaced file verifies")
	}
	if err := l.Acknowledge(context.Background(), "  "); err == nil {
		t.Error("acknowledged without a reason")
	}
	must(t, l.Acknowledge(context.Background(), "restored from the backup of 20 May"))
	act(t, l, forget)
	wantOK(t, s.dir, 6)
}

// A copy of a running desk may have its head from before the newest records, and a part of one: it must verify once
// it is acknowledged.
func TestAnAcknowledgedCopyWithAnOlderHeadVerifies(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	older := read(t, filepath.Join(s.dir, "head.json"))
	act(t, l, forget)
	of := s
	of.dir = filepath.Join(t.TempDir(), "audit")
	must(t, os.CopyFS(of.dir, os.DirFS(s.dir)))
	must(t, os.Chmod(of.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(of.dir, "head.json"), []byte(older), 0o600))
	edit(t, filepath.Join(of.dir, firstSegment), func(b []byte) []byte { return append(b, `{"action":"for`...) })
	l = of.open(t)
	must(t, l.Acknowledge(context.Background(), "a copy"))
	act(t, l, forget)
	wantOK(t, of.dir, 8)
}

// Segments that continue the chain, made in a copy and put beside the saved head, must be found: a
// killed process leaves at most one.
func TestForgedSegmentsAreFound(t *testing.T) {
	s := fresh(t)
	act(t, s.open(t), forget)
	forged := s
	forged.dir = filepath.Join(t.TempDir(), "audit")
	must(t, os.CopyFS(forged.dir, os.DirFS(s.dir)))
	must(t, os.Chmod(forged.dir, 0o700))
	for _, n := range []string{firstSegment, "head.json", "key", "lock", "names.jsonl"} {
		must(t, os.Chmod(filepath.Join(forged.dir, n), 0o600))
	}
	l := forged.open(t)
	for _, n := range []string{"log-000002.jsonl", "log-000003.jsonl"} {
		must(t, l.Acknowledge(context.Background(), "forged"))
		put(t, filepath.Join(s.dir, n), read(t, filepath.Join(forged.dir, n)))
	}
	if rep := verify(t, s.dir); rep.OK || rep.Reason != "the log ends with record 5, the saved head is record 4" {
		t.Errorf("%+v", rep)
	}
	must(t, s.open(t).Acknowledge(context.Background(), "seen"))
	if rep := verify(t, s.dir); rep.OK || !rep.Acknowledged {
		t.Errorf("acknowledged: %+v", rep)
	}
}

// Segment and head restored together: only a Log that has seen more can notice.
func TestRollbackIsSeenByARunningLog(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	old := snapshot(t, s.dir)
	act(t, l, forget)
	for _, n := range []string{firstSegment, "head.json"} {
		edit(t, filepath.Join(s.dir, n), func([]byte) []byte { return []byte(old[n]) })
	}
	if _, err := l.Intent(context.Background(), forget); !errors.Is(err, audit.ErrTampered) {
		t.Errorf("appends to a log that went back: %v", err)
	}
}

func TestUnlinkedWhileOpen(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	seq, err := l.Intent(context.Background(), forget)
	must(t, err)
	must(t, os.Remove(filepath.Join(s.dir, firstSegment)))
	if err := l.Outcome(context.Background(), seq, audit.Result{Verdict: audit.OK}); !errors.Is(err, audit.ErrTampered) {
		t.Errorf("outcome into an unlinked file: %v", err)
	}
	must(t, os.RemoveAll(s.dir))
	if err := l.Outcome(context.Background(), seq, audit.Result{Verdict: audit.OK}); !errors.Is(err, audit.ErrNotWritable) {
		t.Errorf("outcome without a directory: %v", err)
	}
}

func TestUnreadableIsNotOK(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit")
	put(t, path, "")
	if rep, err := audit.Verify(context.Background(), path); err == nil || rep.OK {
		t.Errorf("a file instead of a directory: %+v %v", rep, err)
	}
	if rep, err := audit.Verify(context.Background(), filepath.Join(path, "audit")); err == nil || rep.OK {
		t.Errorf("a file above the directory: %+v %v", rep, err)
	}
}

func TestTornLastLine(t *testing.T) {
	for name, torn := range map[string]string{
		"half a record": `{"action":"forget","act`, "zeros": "\x00\x00\x00\x00", "zeros and a newline": "\x00\x00\n", "one byte": "{",
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			s := fresh(t)
			act(t, s.open(t), forget)
			edit(t, filepath.Join(s.dir, firstSegment), func(b []byte) []byte { return append(b, torn...) })
			rep := wantOK(t, s.dir, 3)
			if rep.Torn != int64(len(torn)) || !strings.Contains(rep.Reason, "cut short") {
				t.Errorf("torn %d reason %q", rep.Torn, rep.Reason)
			}
			l := s.open(t)
			must(t, l.Writable())
			act(t, l, forget)
			rep = wantOK(t, s.dir, 6)
			page, err := l.List(ctx, audit.Filter{Action: audit.ActionTorn}, 0, "")
			if err != nil || len(page.Rows) != 1 || page.Rows[0].Counts["torn"] != int64(len(torn)) {
				t.Fatalf("events of the torn line: %+v %v", page.Rows, err)
			}
			all, err := l.List(ctx, audit.Filter{}, 0, "")
			if err != nil || len(all.Rows) != 6 {
				t.Errorf("%d rows, %v, want 6: what was set aside is no record", len(all.Rows), err)
			}
			if !strings.HasSuffix(read(t, filepath.Join(s.dir, firstSegment)), torn) {
				t.Error("the torn bytes were not kept")
			}
			edit(t, filepath.Join(s.dir, firstSegment), func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
			if rep := verify(t, s.dir); rep.OK {
				t.Error("a change to the torn bytes was not found")
			}
		})
	}
}

func TestClockStepBack(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	c := clock.NewFake(epoch)
	s.clock = c
	l := s.open(t)
	act(t, l, forget)
	c.Advance(-time.Hour)
	act(t, s.open(t), forget)
	c.Advance(2 * time.Hour)
	act(t, l, forget)
	page, err := l.List(ctx, audit.Filter{Action: audit.ActionClock}, 0, "")
	if err != nil || len(page.Rows) != 1 || page.Rows[0].Counts["step_ns"] != -int64(time.Hour) || page.Rows[0].Seq != 4 {
		t.Errorf("clock events %+v, %v, want one of -1h at record 4", page.Rows, err)
	}
	wantOK(t, s.dir, 8)
}

func TestDestroyedKeyBeginsAnEpoch(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	before, err := l.HashTarget(forget.Target)
	must(t, err)
	must(t, os.Remove(filepath.Join(s.dir, "key")))
	if rep := wantOK(t, s.dir, 3); !strings.Contains(rep.Reason, "key is gone") {
		t.Errorf("reason %q", rep.Reason)
	}
	act(t, l, forget)
	after, err := l.HashTarget(forget.Target)
	must(t, err)
	if before == after {
		t.Error("the new epoch hashes as the old one")
	}
	page, err := l.List(ctx, audit.Filter{Action: audit.ActionKey}, 0, "")
	if err != nil || len(page.Rows) != 1 {
		t.Errorf("key events %+v %v", page.Rows, err)
	}
	wantOK(t, s.dir, 6)
}

// TestALookupSaysWhatItCannotJudge: without the key of their time nobody can tell whether records name an item, which
// is not the same as no record.
func TestALookupSaysWhatItCannotJudge(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	look := func(f audit.Filter, rows, unsearched int) {
		t.Helper()
		page, err := l.List(context.Background(), f, 0, "")
		if err != nil || len(page.Rows) != rows || page.Unsearched != unsearched {
			t.Errorf("%+v: %d rows, %d not judged, %v; want %d and %d", f, len(page.Rows), page.Unsearched, err, rows, unsearched)
		}
	}
	ofIt := audit.Filter{Target: forget.Target}
	look(ofIt, 2, 0)
	look(audit.Filter{Target: "another"}, 0, 0)
	must(t, os.Remove(filepath.Join(s.dir, "key")))
	look(ofIt, 0, 2)
	look(audit.Filter{Target: forget.Target, Action: "retain"}, 0, 0)
	act(t, l, forget)
	look(ofIt, 2, 2)
	look(audit.Filter{Target: "another"}, 0, 2)
	look(audit.Filter{}, 6, 0)
}

func TestDamagedKeyIsReplacedOnAcknowledgement(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	edit(t, filepath.Join(s.dir, "key"), func(b []byte) []byte { b[len(b)-2] ^= 1; return b })
	if _, err := l.Intent(context.Background(), forget); !errors.Is(err, audit.ErrNotWritable) {
		t.Errorf("appends with a damaged key: %v", err)
	}
	must(t, l.Acknowledge(context.Background(), "bad disk"))
	act(t, l, forget)
	wantOK(t, s.dir, 6)
}
