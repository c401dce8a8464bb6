package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/audit"
)

// filled is a log of 60 acts over several segments, on ten items in turn.
func filled(t *testing.T) (setup, *audit.Log) {
	t.Helper()
	s := fresh(t)
	s.limit = 20_000
	s.fs = audit.Quick{}
	l := s.open(t)
	for i := range 60 {
		e := audit.Entry{Action: "forget", Store: "a", Target: fmt.Sprintf("item-%d", i%10), Reason: fmt.Sprintf("reason %d", i)}
		if i%2 == 1 {
			e.Action, e.Store = "retain", "b"
		}
		act(t, l, e)
	}
	if rep := verify(t, s.dir); rep.Segments < 4 {
		t.Fatalf("%d segments, want several", rep.Segments)
	}
	return s, l
}

func seqs(t *testing.T, l *audit.Log, f audit.Filter, limit int) []uint64 {
	t.Helper()
	var out []uint64
	for cursor := ""; ; {
		page, err := l.List(context.Background(), f, limit, cursor)
		must(t, err)
		if len(page.Rows) > limit {
			t.Fatalf("%d rows in a page of %d", len(page.Rows), limit)
		}
		for _, r := range page.Rows {
			out = append(out, r.Seq)
		}
		if cursor = page.Next; cursor == "" {
			return out
		}
	}
}

func TestPagesHoldEveryRecordOnce(t *testing.T) {
	s, l := filled(t)
	n := verify(t, s.dir).Events
	var want []uint64
	for seq := uint64(1); seq <= n; seq++ {
		want = append(want, seq)
	}
	for _, limit := range []int{1, 7, 40, 1000} {
		if diff := cmp.Diff(want, seqs(t, l, audit.Filter{OldestFirst: true}, limit)); diff != "" {
			t.Errorf("oldest first by %d (-want +got):\n%s", limit, diff)
		}
		got := seqs(t, l, audit.Filter{}, limit)
		slices.Reverse(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("newest first by %d (-want +got):\n%s", limit, diff)
		}
	}
}

// A record that arrives between two pages must not shift the next page.
func TestACursorStaysWhereItIs(t *testing.T) {
	_, l := filled(t)
	ctx := context.Background()
	first, err := l.List(ctx, audit.Filter{}, 5, "")
	must(t, err)
	act(t, l, forget)
	second, err := l.List(ctx, audit.Filter{}, 5, first.Next)
	must(t, err)
	if got, want := second.Rows[0].Seq, first.Rows[4].Seq-1; got != want {
		t.Errorf("the next page begins with %d, want %d", got, want)
	}
	for _, bad := range []string{"x", "new.1", "new.1.0x", "new.99.0", "old.1.0", first.Next + "0", "new.1.99999999", "new.-1.5"} {
		if _, err := l.List(ctx, audit.Filter{}, 5, bad); !errors.Is(err, audit.ErrBadCursor) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
}

func TestFilters(t *testing.T) {
	_, l := filled(t)
	at := func(n int) time.Time {
		page, err := l.List(context.Background(), audit.Filter{OldestFirst: true}, n, "")
		must(t, err)
		return page.Rows[n-1].TS
	}
	cases := map[string]struct {
		f    audit.Filter
		want int
	}{
		"action":          {audit.Filter{Action: "retain"}, 60},
		"store":           {audit.Filter{Store: "a"}, 60},
		"phase":           {audit.Filter{Phase: audit.PhaseIntent}, 60},
		"result":          {audit.Filter{Result: audit.OK, Action: "forget"}, 30},
		"target in clear": {audit.Filter{Target: " item-3 "}, 12},
		"unknown target":  {audit.Filter{Target: "item-77"}, 0},
		"unknown subject": {audit.Filter{Subject: "x"}, 0},
		"actor":           {audit.Filter{Actor: "unauthenticated ann@pts/0", Store: "b"}, 60},
		"another actor":   {audit.Filter{Actor: "bob"}, 0},
		"since":           {audit.Filter{Since: at(100)}, len(seqs(t, l, audit.Filter{}, 1000)) - 99},
		"until":           {audit.Filter{Until: at(100)}, 99},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{3, 1000} {
				if got := seqs(t, l, c.f, limit); len(got) != c.want {
					t.Errorf("%d records by pages of %d, want %d", len(got), limit, c.want)
				}
			}
		})
	}
}

func TestNamesAreJoined(t *testing.T) {
	_, l := filled(t)
	page, err := l.List(context.Background(), audit.Filter{Store: "b"}, 1000, "")
	must(t, err)
	for _, r := range page.Rows {
		if !strings.HasPrefix(r.Name, "item-") || !strings.HasPrefix(r.Reason, "reason ") || strings.TrimPrefix(r.Name, "item-") != r.Reason[len(r.Reason)-1:] {
			t.Fatalf("record %d has name %q and reason %q", r.Seq, r.Name, r.Reason)
		}
	}
}

func TestADamagedLineIsShown(t *testing.T) {
	s, l := filled(t)
	edit(t, filepath.Join(s.dir, "log-000002.jsonl"), func(b []byte) []byte { b[2000] = 0; return b })
	for _, oldest := range []bool{true, false} {
		page, err := l.List(context.Background(), audit.Filter{OldestFirst: oldest, Store: "nobody's"}, 1000, "")
		if err != nil || len(page.Rows) != 1 || page.Rows[0].Damaged == "" {
			t.Errorf("oldest first %v: %+v %v, want the damaged line alone", oldest, page.Rows, err)
		}
	}
}

func TestEraseNames(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	l := s.open(t)
	ann := audit.Entry{Action: "forget", Store: "a", Target: "topics/ann.md", Subject: "Ann@Example.org", Reason: "Ann asked"}
	bob := audit.Entry{Action: "forget", Store: "a", Target: "topics/bob.md", Subject: "bob@example.org", Reason: "Bob asked"}
	aside := audit.Entry{Action: "forget", Store: "a", Target: "notes.md", Reason: "mentions ANN@example.org"}
	mary := audit.Entry{Action: "retain", Store: "a", Target: "au-175.md", Reason: "like u-17"} // a bystander, whose id contains a term
	alias := audit.Entry{Action: "retain", Store: "a", Target: "plain.md", Subject: "U-17"}
	for _, e := range []audit.Entry{ann, bob, aside, alias, mary} {
		act(t, l, e)
	}
	chain := read(t, filepath.Join(s.dir, firstSegment))
	old, err := os.Open(filepath.Join(s.dir, "names.jsonl"))
	must(t, err)
	defer old.Close()
	terms := []string{"  ann@example.ORG ", "u-17", " "}
	n, err := l.EraseNames(ctx, terms, func(text string) bool { return strings.Contains(text, "ANN@") })
	if err != nil || n != 3 {
		t.Errorf("erased %d rows, %v, want 3", n, err)
	}
	if n, err := l.EraseNames(ctx, terms, audit.Nobody); err != nil || n != 0 {
		t.Errorf("erased %d rows again, %v", n, err)
	}
	for name, body := range snapshot(t, s.dir) {
		if strings.Contains(strings.ToLower(body), "ann@example") || strings.Contains(body, "topics/ann") || strings.Contains(body, "Ann asked") {
			t.Errorf("%s still holds the name", name)
		}
	}
	// The bytes of the unlinked file must be gone too.
	if info, err := old.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the old side table still has %d bytes, %v", info.Size(), err)
	}
	if !strings.HasPrefix(read(t, filepath.Join(s.dir, firstSegment)), chain) {
		t.Error("the chain was rewritten")
	}
	wantOK(t, s.dir, 12)
	page, err := l.List(ctx, audit.Filter{Phase: audit.PhaseIntent, OldestFirst: true}, 0, "")
	must(t, err)
	var names []string
	for _, r := range page.Rows {
		names = append(names, r.Name+"|"+r.Reason)
	}
	if diff := cmp.Diff([]string{"|", "topics/bob.md|Bob asked", "|", "|", "au-175.md|like u-17"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestHashesAreNormalised(t *testing.T) {
	s := fresh(t)
	l := s.open(t)
	act(t, l, forget)
	hash := func(f func(string) (string, error), v string) string {
		h, err := f(v)
		must(t, err)
		return h
	}
	if hash(l.HashSubject, "Jos\u00e9@Example.org") != hash(l.HashSubject, " jose\u0301@example.ORG\n") {
		t.Error("one subject has two hashes")
	}
	if hash(l.HashTarget, "Jos\u00e9") != hash(l.HashTarget, "Jose\u0301 ") {
		t.Error("one target has two hashes")
	}
	if hash(l.HashTarget, "A") == hash(l.HashTarget, "a") {
		t.Error("targets differ by case")
	}
	if hash(l.HashTarget, "a") == hash(l.HashSubject, "a") {
		t.Error("a target hashes as a subject")
	}
}

func TestHostileText(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	l := s.open(t)
	evil := "\x1b[2J\u202e\"},{\\\n%00\xff" + strings.Repeat("x", 5000)
	e := audit.Entry{Action: evil, Store: evil, Scope: evil, Tier: evil, Target: evil, Subject: evil, Plan: evil, Reason: evil, Counts: map[string]int64{evil: -1, "b": 2}}
	seq, err := l.Intent(ctx, e)
	must(t, err)
	must(t, l.Outcome(ctx, seq, audit.Result{Verdict: audit.Verdict(evil), Class: evil}))
	wantOK(t, s.dir, 3)
	for _, c := range []byte(read(t, filepath.Join(s.dir, firstSegment))) {
		if c != '\n' && (c < 0x20 || c > 0x7e) {
			t.Fatalf("byte %#x in the log", c)
		}
	}
	page, err := l.List(ctx, audit.Filter{Action: evil}, 0, "")
	if err != nil || len(page.Rows) != 2 || len(page.Rows[0].Action) > 160 || !strings.HasSuffix(page.Rows[0].Action, "%~") {
		t.Errorf("%+v %v", page.Rows, err)
	}
	many := map[string]int64{}
	for i := range 40 {
		many[fmt.Sprint(i)] = 1
	}
	if _, err := l.Intent(ctx, audit.Entry{Action: "a", Counts: many}); !errors.Is(err, audit.ErrNotWritable) {
		t.Errorf("too many counts: %v", err)
	}
}

// The outcome must name an item whose id the store made, for those who look for the records of that item.
func TestAnOutcomeNamesTheItemThatItMade(t *testing.T) {
	ctx := context.Background()
	s := fresh(t)
	l := s.open(t)
	seq, err := l.Intent(ctx, audit.Entry{Action: "retain", Store: "a", Origin: "client x"})
	must(t, err)
	must(t, l.Outcome(ctx, seq, audit.Result{Verdict: audit.OK, Target: "a:made-7"}))
	act(t, l, audit.Entry{Action: "forget", Store: "a", Target: "a:made-7", Reason: "old"})
	page, err := l.List(ctx, audit.Filter{Target: "a:made-7", OldestFirst: true}, 0, "")
	must(t, err)
	var got []string
	for _, r := range page.Rows {
		got = append(got, fmt.Sprintf("%s %s %s %q %q", r.Action, r.Phase, r.Name, r.Reason, r.Origin))
	}
	want := []string{`retain outcome a:made-7 "" "client x"`, `forget intent a:made-7 "old" ""`, `forget outcome a:made-7 "old" ""`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the records of the item (-want +got):\n%s", diff)
	}
	if rep := wantOK(t, s.dir, 5); rep.Names.OK != 2 || rep.Names.Forged != 0 {
		t.Errorf("names %+v", rep.Names)
	}
	if n, err := l.EraseNames(ctx, nil, func(text string) bool { return strings.HasSuffix(text, "made-7") }); err != nil || n != 2 {
		t.Errorf("erased %d rows, %v", n, err)
	}
}

// A record about an erased person must keep no clear text: the erasure was before it.
func TestNoClearTextOfAnErasedPerson(t *testing.T) {
	s := fresh(t)
	broken := false
	s.names = func(texts ...string) (bool, error) {
		if broken {
			return false, errors.New("the list is damaged")
		}
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "Zelda") }), nil
	}
	l := s.open(t)
	act(t, l, audit.Entry{Action: "retain", Store: "a", Target: "a:Zelda.md"})
	act(t, l, audit.Entry{Action: "forget", Store: "a", Target: "a:1", Reason: "asked by Zelda"})
	act(t, l, audit.Entry{Action: "retain", Store: "a", Target: "a:2", Origin: "source user:Zelda"})
	act(t, l, audit.Entry{Action: "forget", Store: "a", Target: "a:3", Reason: "tidy"})
	broken = true
	act(t, l, audit.Entry{Action: "forget", Store: "a", Target: "a:Zelda-4"})
	for name, body := range snapshot(t, s.dir) {
		if strings.Contains(body, "Zelda") {
			t.Errorf("%s holds the name", name)
		}
	}
	if rep := wantOK(t, s.dir, 11); rep.Names.OK != 1 || rep.Names.Absent != 4 {
		t.Errorf("names %+v", rep.Names)
	}
	page, err := l.List(context.Background(), audit.Filter{Target: "a:Zelda.md"}, 0, "")
	must(t, err)
	if len(page.Rows) != 2 {
		t.Errorf("%d records found by the hash of the name, want 2", len(page.Rows))
	}
}
