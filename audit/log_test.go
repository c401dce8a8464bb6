package audit_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/audit"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
)

var epoch = time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC)

// ticking advances by a millisecond at every reading.
type ticking struct{ *clock.Fake }

func (t ticking) Now() time.Time { return t.Advance(time.Millisecond) }

type setup struct {
	dir   string
	limit int64
	fs    atomicfile.FS
	clock clock.Clock

	traces func() string
	marks  func() []audit.Mark
	names  func(texts ...string) (bool, error)
}

func (s setup) open(t testing.TB) *audit.Log {
	t.Helper()
	l, err := audit.Open(audit.Options{
		Dir: s.dir, Clock: s.clock, Tool: "memdesk 1.0", Actor: audit.Actor{ID: "unauthenticated ann@pts/0"}, Role: "operator",
		Session: "pts/0", SegmentBytes: s.limit, FS: s.fs, Traces: s.traces, Marks: s.marks, Names: s.names,
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func fresh(t testing.TB) setup {
	return setup{dir: filepath.Join(t.TempDir(), "state", "memdesk", "audit"), clock: ticking{clock.NewFake(epoch)}}
}

var forget = audit.Entry{
	Action: "forget", Store: "crewship", Tier: "topics", Target: "topics/ann-müller.md", Subject: "Ann.Müller@example.org",
	Reason: "asked by Ann", Counts: map[string]int64{"items": 1},
}

func act(t testing.TB, l *audit.Log, e audit.Entry) uint64 {
	t.Helper()
	seq, err := l.Intent(context.Background(), e)
	if err != nil {
		t.Fatalf("intent: %v", err)
	}
	if err := l.Outcome(context.Background(), seq, audit.Result{Verdict: audit.OK, Counts: map[string]int64{"removed": 1}}); err != nil {
		t.Fatalf("outcome: %v", err)
	}
	return seq
}

func verify(t testing.TB, dir string) audit.Report {
	t.Helper()
	rep, err := audit.Verify(context.Background(), dir)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	return rep
}

func wantOK(t testing.TB, dir string, events uint64) audit.Report {
	t.Helper()
	rep := verify(t, dir)
	if !rep.OK || rep.Events != events {
		t.Fatalf("ok %v events %d reason %q, want ok with %d", rep.OK, rep.Events, rep.Reason, events)
	}
	return rep
}

func TestIntentAndOutcome(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	if err := l.Note(context.Background(), audit.Entry{Action: "retain", Store: "vault"}, audit.Result{Verdict: audit.Refused, Class: "permission denied"}); err != nil {
		t.Fatal(err)
	}
	rep := wantOK(t, s.dir, 4)
	page, err := l.List(context.Background(), audit.Filter{OldestFirst: true}, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	type short struct {
		Seq            uint64
		Action, Store  string
		Phase          audit.Phase
		Link           uint64
		Result         audit.Verdict
		Class          string
		Name, Reason   string
		Counts         map[string]int64
		Target, Hashed bool
	}
	var got []short
	for _, r := range page.Rows {
		got = append(got, short{
			r.Seq, r.Action, r.Store, r.Phase, r.Link, r.Result, r.Class, r.Name, r.Reason, r.Counts,
			r.Target != "", strings.HasPrefix(r.Target, "hmac:"+r.Key+":") && strings.HasPrefix(r.Subject, "hmac:"+r.Key+":"),
		})
	}
	name, reason := forget.Target, forget.Reason
	want := []short{
		{1, "audit.begin", "", audit.PhaseNote, 0, audit.OK, "", "", "", nil, false, false},
		{2, "forget", "crewship", audit.PhaseIntent, 0, "", "", name, reason, map[string]int64{"items": 1}, true, true},
		{3, "forget", "crewship", audit.PhaseOutcome, 2, audit.OK, "", name, reason, map[string]int64{"removed": 1}, true, true},
		{4, "retain", "vault", audit.PhaseNote, 0, audit.Refused, "permission denied", "", "", nil, false, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if last := page.Rows[3]; last.Hash != rep.Head || last.Prev != page.Rows[2].Hash {
		t.Errorf("hash %s prev %s, head %s", last.Hash, last.Prev, rep.Head)
	}
}

func TestNothingInClear(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	names := read(t, filepath.Join(s.dir, "names.jsonl"))
	if !strings.Contains(names, "asked by Ann") {
		t.Errorf("the side table lacks the reason:\n%s", names)
	}
	for _, f := range []string{"log-000001.jsonl", "head.json", "key", "lock"} {
		body := strings.ToLower(read(t, filepath.Join(s.dir, f)))
		for _, clear := range []string{"ann-m", "ann.m", "example.org", "asked"} {
			if strings.Contains(body, clear) {
				t.Errorf("%s holds %q in clear", f, clear)
			}
		}
		if f == "head.json" && strings.Contains(body, "prev") {
			t.Error("head.json looks like a log")
		}
	}
	if strings.Contains(strings.ToLower(names), "example.org") {
		t.Error("the side table holds the subject's id")
	}
}

func TestModes(t *testing.T) {
	s := fresh(t)
	act(t, s.open(t), forget)
	for path, want := range map[string]fs.FileMode{"": 0o700, "..": 0o700, "log-000001.jsonl": 0o600, "head.json": 0o600, "key": 0o600, "lock": 0o600, "names.jsonl": 0o600} {
		info, err := os.Stat(filepath.Join(s.dir, path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestReadingLeavesNoTrace(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	ctx := context.Background()
	if err := l.Writable(); err != nil {
		t.Errorf("writable: %v", err)
	}
	page, err := l.List(ctx, audit.Filter{Target: "x"}, 10, "")
	if err != nil || len(page.Rows) != 0 || page.Next != "" {
		t.Errorf("list: %v %v", page, err)
	}
	if open, err := l.OpenIntents(ctx); err != nil || len(open) != 0 {
		t.Errorf("open intents: %v %v", open, err)
	}
	if _, err := l.HashSubject("x"); !errors.Is(err, audit.ErrNoKey) {
		t.Errorf("hash: %v", err)
	}
	if n, err := l.EraseNames(ctx, []string{"ann"}, audit.Nobody); n != 0 || err != nil {
		t.Errorf("erase: %d %v", n, err)
	}
	wantOK(t, s.dir, 0)
	if _, err := os.Stat(filepath.Dir(filepath.Dir(s.dir))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was created: %v", err)
	}
	act(t, s.open(t), forget)
	was := snapshot(t, s.dir)
	wantOK(t, s.dir, 3)
	if _, err := l.List(ctx, audit.Filter{}, 10, ""); err != nil {
		t.Error(err)
	}
	if err := l.Writable(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(was, snapshot(t, s.dir)); diff != "" {
		t.Errorf("reading changed (-before +after):\n%s", diff)
	}
}

func TestNotWritable(t *testing.T) {
	ctx := context.Background()
	cases := map[string]func(t *testing.T, s setup){
		"a file stands where the state directory should be": func(t *testing.T, s setup) {
			put(t, filepath.Dir(s.dir), "")
		},
		"a file stands two levels up": func(t *testing.T, s setup) {
			put(t, filepath.Dir(filepath.Dir(s.dir)), "")
		},
		"a file stands where the audit directory should be": func(t *testing.T, s setup) {
			mkdir(t, filepath.Dir(s.dir), 0o700)
			put(t, s.dir, "")
		},
		"the audit directory is a link": func(t *testing.T, s setup) {
			mkdir(t, filepath.Dir(s.dir), 0o700)
			other := t.TempDir()
			if err := os.Symlink(other, s.dir); err != nil {
				t.Fatal(err)
			}
		},
		"the audit directory is open to others": func(t *testing.T, s setup) { mkdir(t, s.dir, 0o755) },
		"the audit directory holds something else": func(t *testing.T, s setup) {
			mkdir(t, s.dir, 0o700)
			put(t, filepath.Join(s.dir, "notes.txt"), "mine")
		},
		"the key is readable by others": func(t *testing.T, s setup) {
			act(t, s.open(t), forget)
			if err := os.Chmod(filepath.Join(s.dir, "key"), 0o640); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			spoil(t, s)
			l := s.open(t)
			was := snapshot(t, filepath.Dir(filepath.Dir(s.dir)))
			if err := l.Writable(); !errors.Is(err, audit.ErrNotWritable) {
				t.Errorf("writable says %v", err)
			} else if strings.Contains(err.Error(), s.dir) {
				t.Errorf("the message names an absolute path: %v", err)
			}
			if _, err := l.Intent(ctx, forget); !errors.Is(err, audit.ErrNotWritable) {
				t.Errorf("intent says %v", err)
			}
			if diff := cmp.Diff(was, snapshot(t, filepath.Dir(filepath.Dir(s.dir)))); diff != "" {
				t.Errorf("a refusal changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAnEmptyDirectoryIsUsed(t *testing.T) {
	s := fresh(t)
	mkdir(t, s.dir, 0o700)
	l := s.open(t)
	if err := l.Writable(); err != nil {
		t.Fatal(err)
	}
	wantOK(t, s.dir, 0)
	act(t, l, forget)
	wantOK(t, s.dir, 3)
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func put(t testing.TB, path, body string) {
	t.Helper()
	mkdir(t, filepath.Dir(path), 0o700)
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, path string, perm fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, perm); err != nil {
		t.Fatal(err)
	}
}

// snapshot is every file below dir with its content.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			out[rel] = "dir"
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = string(bytes.Clone(b))
		default:
			out[rel] = d.Type().String()
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}
