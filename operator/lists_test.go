package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/backends/demodata"
	"memdesk/conflict"
	"memdesk/internal/clock"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/quarantine/review"
)

func demoFleet(t *testing.T) *backends.Fleet {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	now := time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)
	if err := demodata.Seed(t.Context(), dir, now); err != nil {
		t.Fatal(err)
	}
	reg := backends.Builtin()
	cfg, err := backends.LoadConfig(reg, filepath.Join(dir, demodata.ConfigFile), true, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), reg, cfg.Stores, backends.Env{Clock: clock.Fixed(now)}, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = fleet.Close() })
	return fleet
}

func TestQuarantineSourcePages(t *testing.T) {
	s := &Quarantine{session: &Session{Fleet: demoFleet(t)}}
	var got []string
	q := PageQuery{Limit: 1}
	for {
		page, err := s.Entries(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Rows {
			got = append(got, e.Pattern)
			if d, err := s.Entry(t.Context(), e.Store, e.ID); err != nil || d.Body == "" {
				t.Errorf("%s: %v", e.ID, err)
			}
		}
		if page.Next == "" {
			if page.Total.AtLeast || page.Total.N != int64(len(got)) {
				t.Errorf("total at the end: %+v of %d", page.Total, len(got))
			}
			break
		}
		q.Cursor = page.Next
	}
	if len(got) != 3 {
		t.Errorf("found %v, want three", got)
	}
	// A busy machine ends a page before its limit (pageWait).
	count := func(q PageQuery) (n int) {
		for {
			page, err := s.Entries(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if n += len(page.Rows); page.Next == "" {
				return n
			}
			q.Cursor = page.Next
		}
	}
	if n := count(PageQuery{Limit: 10, Filter: "curl"}); n != 1 {
		t.Errorf("filter: %d", n)
	}
	if n := count(PageQuery{Limit: 10, Filter: "curl", Not: true}); n != 2 {
		t.Errorf("inverted filter: %d", n)
	}
	if n := count(PageQuery{Limit: 10, Filter: review.Poisoned.String()}) + count(PageQuery{Limit: 10, Filter: review.Clean.String()}); n != 3 {
		t.Errorf("the state in the list is no filter: %d", n)
	}
	if _, err := s.Entries(t.Context(), q); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a cursor of an older scan: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Entries(ctx, PageQuery{Limit: 10}); !errors.Is(err, model.Timeout) {
		t.Errorf("cancelled: %v", err)
	}
}

// trailOf is an operator's trail of a log, beside which the stores have noted some events.
func trailOf(log *audit.Log, clk clock.Clock, noted []StoreEvent, trouble string) *AuditTrail {
	return &AuditTrail{session: &Session{Options: Options{Clock: clk}, Log: log, roles: []Role{RoleOperator}},
		noted: func(context.Context) ([]StoreEvent, string) { return noted, trouble }}
}

func TestAuditSourcePages(t *testing.T) {
	log, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit"), Actor: audit.Actor{ID: "ana"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"retain", "forget", "retain"} {
		seq, err := log.Intent(t.Context(), audit.Entry{Action: action, Store: "s", Target: "s:x"})
		if err == nil {
			err = log.Outcome(t.Context(), seq, audit.Result{Verdict: audit.OK})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := trailOf(log, clock.System{}, nil, "")
	count := func(q PageQuery) (n int) {
		for {
			page, err := s.Events(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			n += len(page.Events)
			if page.Next == "" {
				return n
			}
			q.Cursor = page.Next
		}
	}
	for q, want := range map[PageQuery]int{
		{Limit: 2}: 4, {Limit: 100}: 4, {Limit: 100, Filter: "forget"}: 1, {Limit: 1, Filter: "ana retain"}: 2, {Limit: 2, Filter: "phase:intent"}: 3, {Limit: 2, Filter: "!phase:event"}: 7,
		{Limit: 100, Filter: "forget", Not: true}: 3, {Limit: 100, Filter: "action:forget !phase:intent"}: 1, {Limit: 100, Filter: "since:2001-01-01 outcome:ok phase:outcome"}: 3,
		{Limit: 1, Of: model.Ref{Store: "s", ID: "x"}}: 3, {Limit: 100, Of: model.Ref{Store: "t", ID: "x"}}: 0,
		{Limit: 100, Of: model.Ref{Store: "s", ID: "x"}, Filter: "forget"}: 1,
		{Limit: 100, Filter: "since:2101-01-01"}:                           0, {Limit: 100, Filter: "store:s !action:retain"}: 1,
	} {
		if got := count(q); got != want {
			t.Errorf("%+v: %d events, want %d", q, got, want)
		}
	}
}

// TestBrokenChainHidesNoIntent: a verification that stops early does not know which intents are open.
func TestBrokenChainHidesNoIntent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	log, err := audit.Open(audit.Options{Dir: dir, Actor: audit.Actor{ID: "ana"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // each is an intent without an outcome
		if _, err := log.Intent(t.Context(), audit.Entry{Action: "retain", Store: "s", Target: "s:x"}); err != nil {
			t.Fatal(err)
		}
	}
	segments, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	broken := false
	for _, name := range segments {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if changed := bytes.Replace(raw, []byte("retain"), []byte("retail"), 1); !bytes.Equal(raw, changed) {
			broken = true
			if err := os.WriteFile(name, changed, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := trailOf(log, clock.System{}, nil, "")
	page, err := s.Events(t.Context(), PageQuery{Limit: 100})
	if err != nil || !broken || !strings.Contains(page.Notice, "BROKEN") {
		t.Fatal(err, broken, page.Notice)
	}
	intents := 0
	for _, e := range page.Events {
		if e.Phase == string(audit.PhaseIntent) {
			intents++
		}
	}
	if intents != 2 { // the third record is damaged and has no phase
		t.Errorf("%d intents are listed, want 2", intents)
	}
	if first, second := s.verified(t.Context()), s.verified(t.Context()); !first.at.Equal(second.at) {
		t.Error("each page reads the whole of a broken log again")
	}
}

// TestStoreEventsStandAmongTheRecords: the stores' own events must appear once, in the order of time,
// for any page size, marked as theirs, and the filter must apply to them.
func TestStoreEventsStandAmongTheRecords(t *testing.T) {
	log, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit"), Actor: audit.Actor{ID: "ana"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		seq, err := log.Intent(t.Context(), audit.Entry{Action: "retain", Store: "s", Target: "s:x"})
		if err == nil {
			err = log.Outcome(t.Context(), seq, audit.Result{Verdict: audit.OK})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := log.List(t.Context(), audit.Filter{}, 100, "")
	if err != nil {
		t.Fatal(err)
	}
	var noted []StoreEvent
	for i, at := range []time.Time{got.Rows[0].TS.Add(time.Hour), got.Rows[2].TS, got.Rows[5].TS, got.Rows[6].TS.Add(-time.Hour)} {
		noted = append(noted, StoreEvent{"harbor", model.StoreEvent{At: at, Name: "run." + strconv.Itoa(i)}})
	}
	s := trailOf(log, clock.System{}, noted, "far does not answer")
	list := func(q PageQuery) (out []AuditEvent) {
		for {
			page, err := s.Events(t.Context(), q)
			if err != nil || page.Notice != "far does not answer" {
				t.Fatal(err, page.Notice)
			}
			out = append(out, page.Events...)
			if page.Next == "" {
				return out
			}
			q.Cursor = page.Next
		}
	}
	for _, limit := range []int{1, 2, 3, 100} {
		all := list(PageQuery{Limit: limit})
		seen := map[string]int{}
		for i, e := range all {
			if e.Noted {
				seen[e.Action]++
			}
			if i > 0 && e.At.After(all[i-1].At) {
				t.Errorf("limit %d: %s stands behind %s", limit, e.At, all[i-1].At)
			}
		}
		if len(all) != 8 || len(seen) != 4 || seen["run.1"] != 1 {
			t.Errorf("limit %d: %d events, of the stores %v", limit, len(all), seen)
		}
	}
	of, err := s.Events(t.Context(), PageQuery{Limit: 100, Of: model.Ref{Store: "s", ID: "x"}})
	if err != nil || len(of.Events) != 3 || of.Notice != "" {
		t.Errorf("an item has %d events, want those of the log: %q %v", len(of.Events), of.Notice, err)
	}
	if n := len(list(PageQuery{Limit: 100, Filter: "store:harbor phase:event"})); n != 4 {
		t.Errorf("%d of the store", n)
	}
	if n := len(list(PageQuery{Limit: 100, Filter: "!phase:event"})); n != 7 {
		t.Errorf("%d of the log", n)
	}
}

// TestIntentsNewerThanTheVerification: an act that began after the chain was verified is open until its
// outcome is there, and the verification says no more than it has read.
func TestIntentsNewerThanTheVerification(t *testing.T) {
	log, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit"), Actor: audit.Actor{ID: "ana"}})
	if err != nil {
		t.Fatal(err)
	}
	act := func() uint64 {
		seq, err := log.Intent(t.Context(), audit.Entry{Action: "retain", Store: "s", Target: "s:x"})
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	ended := func(seq uint64) {
		if err := log.Outcome(t.Context(), seq, audit.Result{Verdict: audit.OK}); err != nil {
			t.Fatal(err)
		}
	}
	s := trailOf(log, clock.Fixed(time.Unix(0, 0)), nil, "")
	open := func(want int) {
		t.Helper()
		page, err := s.Events(t.Context(), PageQuery{Limit: 100, Filter: "outcome:open"})
		if err != nil || len(page.Events) != want || !strings.Contains(page.Verified, "to record 3 at") {
			t.Errorf("%d open acts, want %d; %q %v", len(page.Events), want, page.Verified, err)
		}
	}
	ended(act())
	open(0) // verifies the chain, whose first record is of the log itself
	later := act()
	open(1)
	ended(later)
	open(0)
}

// TestACopyIsNotBegunTwice: an unfinished copy that cannot be taken up must stop the command, and a journal that
// cannot be read must be told.
func TestACopyIsNotBegunTwice(t *testing.T) {
	s := newSession(t, func(*Options) {})
	r, err := s.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.WithoutCancel(t.Context()))
	runs := 0
	spec := jobs.Spec{Kind: "copy", Title: "a to b", Run: func(context.Context, *jobs.Handle) error {
		runs++
		return errors.New("a disk is full")
	}}
	id, err := startOrRecover(t.Context(), r, spec, func(jobs.Status) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := follow(t.Context(), r, id, func(jobs.Status) {}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.State, "jobs")
	if err := os.MkdirAll(filepath.Join(dir, string(id)+".control", "x"), 0o700); err != nil { // it cannot be removed
		t.Fatal(err)
	}
	if again, err := startOrRecover(t.Context(), r, spec, func(jobs.Status) {}); err == nil {
		_, _ = follow(t.Context(), r, again, func(jobs.Status) {})
		t.Errorf("%s was begun beside %s", again, id)
	}
	if runs != 1 {
		t.Errorf("%d runs, want 1", runs)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "20260521t100000-0123456789abcdef.jsonl")); err != nil {
		t.Fatal(err)
	}
	if told := s.brokenOff(t.Context(), r); len(told) != 1 || !strings.Contains(told[0], "20260521t100000-0123456789abcdef") {
		t.Errorf("told %q", told)
	}
}

// TestAnItemKnowsItsConflict: a list of conflicts must leave behind what each item is in one, whatever its filter is, until
// the conflict is over.
func TestAnItemKnowsItsConflict(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{"boats.md": "five\n", "boats.sync-conflict-20261125-081512-QX7RT2A.md": "six\n", "yard.md": "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "rye.md": "rye\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t, func(*Options) {})
	s.Open(t.Context(), []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: dir}}, time.Second)
	l := s.Conflicts(NewChanges(t.Context()))
	known := func() string {
		out := ""
		for _, id := range []string{"boats.md", "boats.sync-conflict-20261125-081512-QX7RT2A.md", "yard.md", "rye.md"} {
			out += string(l.Part(model.Ref{Store: "notes", ID: id})) + ","
		}
		return out
	}
	if got := known(); got != ",,,," {
		t.Errorf("before a list: %s", got)
	}
	if page, err := l.Conflicts(t.Context(), PageQuery{Filter: "nothing has this", Limit: 9}); err != nil || len(page.Rows) > 0 {
		t.Fatal(page, err)
	}
	if got := known(); got != "conflict,copy,conflict,," {
		t.Errorf("after a list: %s", got)
	}
	page, err := l.Conflicts(t.Context(), PageQuery{Filter: "boats", Limit: 9})
	if err != nil || len(page.Rows) != 1 {
		t.Fatal(page, err)
	}
	if _, err := l.Resolve(t.Context(), page.Rows[0], conflict.Choice{Take: conflict.TakeBase, BaseRev: page.Rows[0].BaseRev}, "test"); err != nil {
		t.Fatal(err)
	}
	if got := known(); got != ",,conflict,," {
		t.Errorf("after the resolve: %s", got)
	}
}

// TestAStoreThatIsGoneSaysWhatToDo: the first words of a problem are read where a line is short, so it must begin with the
// store and the reason, without the operation.
func TestAStoreThatIsGoneSaysWhatToDo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ferry")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, func(*Options) {})
	s.Open(t.Context(), []backends.StoreConfig{{Name: "ferry", Kind: "vault", Path: dir}}, time.Second)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	page, err := s.Conflicts(NewChanges(t.Context())).Conflicts(t.Context(), PageQuery{Limit: 9})
	if want := `ferry: its directory is gone; mount it or correct its path`; err != nil || len(page.Problems) != 1 || page.Problems[0] != want {
		t.Errorf("%v, problems %q, want %q", err, page.Problems, want)
	}
}

// TestAnActHasItsSteps: what an erasure, a resolve and a take back did through others is in their row; a step that failed, another
// act of the same time and every record that a filter asks for stand for themselves.
func TestAnActHasItsSteps(t *testing.T) {
	log, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit"), Actor: audit.Actor{ID: "ana"}})
	if err != nil {
		t.Fatal(err)
	}
	begin := func(reason string, e audit.Entry) uint64 {
		e.Reason = reason
		seq, err := log.Intent(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		return seq
	}
	end := func(seq uint64, v audit.Verdict) {
		if err := log.Outcome(t.Context(), seq, audit.Result{Verdict: v}); err != nil {
			t.Fatal(err)
		}
	}
	erase := begin("", audit.Entry{Action: "gdpr-erase", Scope: "er-20261123-7d8db8e7", Plan: "5d41"})
	for store, v := range map[string]audit.Verdict{"a": audit.OK, "b": audit.Failed} {
		end(begin("erasure er-20261123-7d8db8e7", audit.Entry{Action: "scrub", Store: store}), v)
	}
	end(begin("", audit.Entry{Action: "retain", Store: "a", Target: "a:x"}), audit.OK)
	end(begin("erasure er-20261123-7d8db8e7", audit.Entry{Action: "forget", Store: "a", Target: "a:of maren", Plan: "5d41"}), audit.OK)
	end(begin("", audit.Entry{Action: "forget", Store: "a", Target: "a:maren by hand"}), audit.OK)
	if _, err := log.EraseNames(t.Context(), nil, func(text string) bool { return strings.Contains(text, "maren") }); err != nil {
		t.Fatal(err)
	}
	end(erase, audit.OK)
	resolve := begin("newer", audit.Entry{Action: "resolve", Store: "a", Target: "a:y"})
	end(begin("newer", audit.Entry{Action: "retain", Store: "a", Target: "a:y"}), audit.OK)
	end(resolve, audit.OK)
	takeback := begin("", audit.Entry{Action: "takeback"}) // it is of no one store
	for _, store := range []string{"a", "b"} {
		end(begin("", audit.Entry{Action: "forget", Store: store}), audit.OK)
	}
	end(begin("stale", audit.Entry{Action: "forget", Store: "a"}), audit.OK)
	end(takeback, audit.OK)
	s := trailOf(log, clock.System{}, nil, "")
	rows := func(filter string) (out []string) {
		page, err := s.Events(t.Context(), PageQuery{Limit: 100, Filter: filter})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if e.Phase == string(audit.PhaseOutcome) {
				out = append(out, fmt.Sprintf("%s %s %d", e.Action, e.Result, len(e.Steps)))
			}
		}
		slices.Sort(out)
		return out
	}
	if got, want := rows(""), []string{"forget ok 0", "forget ok 0", "gdpr-erase ok 3", "resolve ok 1", "retain ok 0", "scrub failed 0", "takeback ok 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := rows("scrub"), []string{"scrub failed 0", "scrub ok 0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
