package undo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

// shelf is a store of opaque items, with a hook that runs before each change.
type shelf struct {
	mu     sync.Mutex
	items  map[string]string
	before func()
	seen   func(context.Context)
	trims  bool // a text is a list: no final newline, each addition on a line of its own
	reads  int
}

func (s *shelf) store() model.Store {
	return model.Store{Name: "shelf", Provider: s, Browser: s,
		Address: func(r model.RetainRequest) (string, error) { return r.Tier, nil }}
}

func (s *shelf) check(op string, id string, want model.Revision) error {
	body, ok := s.items[id]
	return model.CheckMatch(op, want, ok, model.RevisionOf(model.Document{Body: body}))
}

func (s *shelf) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if s.before != nil {
		s.before()
	}
	if s.seen != nil {
		s.seen(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := req.ID + req.Tier
	if err := s.check("retain", id, req.IfMatch); err != nil {
		return model.RetainResult{}, err
	}
	switch {
	case req.Mode == model.Append && s.trims:
		req.Content = s.items[id] + "\n" + strings.TrimSuffix(req.Content, "\n")
	case req.Mode == model.Append:
		req.Content = s.items[id] + req.Content
	}
	s.items[id] = req.Content
	return model.RetainResult{ID: id, Bytes: int64(len(req.Content)), Revision: model.RevisionOf(model.Document{Body: req.Content})}, nil
}

func (s *shelf) Forget(_ context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	if s.before != nil {
		s.before()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.items[req.ID]; !ok {
		return model.ForgetResult{}, nil
	}
	if err := s.check("forget", req.ID, req.IfMatch); err != nil {
		return model.ForgetResult{}, err
	}
	delete(s.items, req.ID)
	return model.ForgetResult{Removed: 1}, nil
}

func (s *shelf) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{}, nil
}
func (s *shelf) Health(context.Context) model.HealthStatus { return model.HealthStatus{OK: true} }
func (s *shelf) List(context.Context, model.PageRequest) (model.Page, error) {
	return model.Page{}, nil
}
func (s *shelf) Tiers(context.Context) ([]model.TierCount, error) { return nil, nil }
func (s *shelf) Read(_ context.Context, id string) (model.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	body, ok := s.items[id]
	if !ok {
		return model.Item{}, model.Errorf(model.NotFound, "read", "no item %s", id)
	}
	return model.Item{Header: model.Header{ID: id, Revision: model.RevisionOf(model.Document{Body: body})}, Body: body}, nil
}

func setup(t *testing.T) (*shelf, *undo.Keeper, *clock.Fake, string) {
	t.Helper()
	s := &shelf{items: map[string]string{"a": "one"}}
	c := clock.NewFake(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	dir := filepath.Join(t.TempDir(), "undo")
	return s, undo.New(dir, time.Hour, c, nil), c, dir
}

func open(s *shelf) func(string) (model.Store, error) {
	return func(string) (model.Store, error) { return s.store(), nil }
}

func TestRoundTrips(t *testing.T) {
	tests := []struct {
		name string
		act  func(t *testing.T, k *undo.Keeper, s model.Store) undo.Entry
		then string // body of item a after the act; "-" is gone
	}{
		{"replace", func(t *testing.T, k *undo.Keeper, s model.Store) undo.Entry {
			_, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: "a", Content: "two", Mode: model.Replace})
			return must(t, e, err)
		}, "two"},
		{"append by tier", func(t *testing.T, k *undo.Keeper, s model.Store) undo.Entry {
			_, e, err := k.Retain(t.Context(), s, model.RetainRequest{Tier: "a", Content: "+", Mode: model.Append})
			return must(t, e, err)
		}, "one+"},
		{"append to a list", func(t *testing.T, k *undo.Keeper, s model.Store) undo.Entry {
			s.Provider.(*shelf).trims, s.Deviations = true, []model.Deviation{{Rule: "R06"}}
			_, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: "a", Content: "+\n", Mode: model.Append})
			return must(t, e, err)
		}, "one\n+"},
		{"forget", func(t *testing.T, k *undo.Keeper, s model.Store) undo.Entry {
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "a"})
			return must(t, e, err)
		}, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, k, _, _ := setup(t)
			e := tt.act(t, k, s.store())
			if got := s.peek("a"); got != tt.then {
				t.Fatalf("after the act: %q, want %q", got, tt.then)
			}
			back, err := k.Restore(t.Context(), open(s), e.ID)
			if err != nil || s.peek("a") != "one" {
				t.Fatalf("restore: %v, item %q", err, s.peek("a"))
			}
			if _, err := k.Restore(t.Context(), open(s), e.ID); !errors.Is(err, model.NotFound) {
				t.Errorf("an entry can be used twice: %v", err)
			}
			if _, err := k.Restore(t.Context(), open(s), back.Again.ID); err != nil || s.peek("a") != tt.then {
				t.Errorf("undoing the undo: %v, item %q", err, s.peek("a"))
			}
		})
	}
}

// TestReplaceWithoutAnAddress: a store may not say which item a tier names. A replace there must not displace a text
// that nobody kept.
func TestReplaceWithoutAnAddress(t *testing.T) {
	s, k, _, _ := setup(t)
	store := s.store()
	store.Address = nil
	seen := model.RevisionOf(model.Document{Body: "one"})
	for _, match := range []model.Revision{"", seen, model.Absent} {
		_, e, err := k.Retain(t.Context(), store, model.RetainRequest{Tier: "a", Content: "two", Mode: model.Replace, IfMatch: match})
		if !errors.Is(err, model.Conflict) || e.ID != "" || s.items["a"] != "one" {
			t.Errorf("if-match %q: %v, entry %q, the item reads %q", match, err, e.ID, s.items["a"])
		}
	}
	_, e, err := k.Retain(t.Context(), store, model.RetainRequest{Tier: "b", Content: "new", Mode: model.Replace})
	if err != nil || s.items["b"] != "new" {
		t.Fatalf("a new item: %v, %q", err, s.items["b"])
	}
	if _, err := k.Restore(t.Context(), open(s), e.ID); err != nil || s.peek("b") != "-" {
		t.Errorf("undo of the new item: %v, it reads %q", err, s.peek("b"))
	}
	if _, _, err := k.Retain(t.Context(), store, model.RetainRequest{Tier: "a", Content: " and two", Mode: model.Append}); err != nil || s.items["a"] != "one and two" {
		t.Errorf("append: %v, the item reads %q", err, s.items["a"])
	}
}

func TestUndoOfACreateRemovesIt(t *testing.T) {
	s, k, _, _ := setup(t)
	_, e, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "new", Content: "x", Mode: model.Replace})
	if err != nil || e.Existed {
		t.Fatalf("%+v, %v", e, err)
	}
	if back, err := k.Restore(t.Context(), open(s), e.ID); err != nil || s.peek("new") != "-" || !back.Removed {
		t.Errorf("restore: %v, item %q", err, s.peek("new"))
	}
}

// TestUndoOfAnActThatMadeAnItemSaysSo: taking the only copy makes its base, and the undo must say that the base is
// removed again.
func TestUndoOfAnActThatMadeAnItemSaysSo(t *testing.T) {
	s, k, _, _ := setup(t)
	s.items["copy"] = "text"
	_, e, err := k.Together(t.Context(), s.store(), undo.OpResolve, []undo.Change{
		{Retain: &model.RetainRequest{ID: "base", Mode: model.Replace, Content: "text", IfMatch: model.Absent}}, {Forget: &model.ForgetRequest{ID: "copy"}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := k.Restore(t.Context(), open(s), e.ID)
	if _, there := s.items["base"]; err != nil || there || s.items["copy"] != "text" || out.Item != "base" || !out.Removed {
		t.Errorf("%+v, %v, left %q", out, err, s.items)
	}
	again, err := k.Restore(t.Context(), open(s), out.Again.ID)
	if kept, _, _ := k.Read(again.Again.ID); err != nil || e.Undoes || !out.Again.Undoes || kept.Undoes || kept.Op != undo.OpResolve {
		t.Errorf("%v: the undo %+v, its undo %+v", err, out.Again, kept)
	}
}

// TestRestoreOfAMadeItemThatIsGone: there is nothing to remove, and undo must not say that it did.
func TestRestoreOfAMadeItemThatIsGone(t *testing.T) {
	s, k, _, _ := setup(t)
	_, e, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "new", Content: "text", Mode: model.Replace})
	if err != nil {
		t.Fatal(err)
	}
	delete(s.items, "new")
	if out, err := k.Restore(t.Context(), open(s), e.ID); !errors.Is(err, model.Conflict) {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestRestoreRefusesAChangedItem(t *testing.T) {
	s, k, _, _ := setup(t)
	_, e, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	s.items["a"] = "somebody else's"
	if _, err := k.Restore(t.Context(), open(s), e.ID); !errors.Is(err, model.Conflict) || s.peek("a") != "somebody else's" {
		t.Errorf("restore: %v, item %q", err, s.peek("a"))
	}
	if _, body, err := k.Read(e.ID); err != nil || body != "one" {
		t.Errorf("a refused restore lost the entry: %q, %v", body, err)
	}
}

// TestErasureKeepsNothing: an erasure leaves no entry, and takes the earlier ones about its item along.
func TestErasureKeepsNothing(t *testing.T) {
	for name, erase := range map[string]func(*undo.Keeper, model.Store) (undo.Entry, error){
		"retain": func(k *undo.Keeper, s model.Store) (undo.Entry, error) {
			_, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: "a", Mode: model.Replace, Content: "clean", Erase: true})
			return e, err
		},
		"forget": func(k *undo.Keeper, s model.Store) (undo.Entry, error) {
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "a", Erase: true})
			return e, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, k, _, _ := setup(t)
			s.items["b"] = "other"
			retain := func(id string) model.RetainRequest {
				return model.RetainRequest{ID: id, Mode: model.Replace, Content: "new"}
			}
			a, b := retain("a"), retain("b")
			if _, _, err := k.Together(t.Context(), s.store(), model.OpRetain, []undo.Change{{Retain: &a}, {Retain: &b}}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := k.Retain(t.Context(), s.store(), retain("a")); err != nil {
				t.Fatal(err)
			}
			_, of, err := k.Retain(t.Context(), s.store(), retain("b"))
			if err != nil {
				t.Fatal(err)
			}
			refused := s.store().Wrap(func(context.Context, *model.Call, func(context.Context) error) error {
				return model.Refuse("forget", "on hold")
			})
			if _, err := erase(k, refused); !model.IsRefusal(err) {
				t.Fatal(err)
			}
			if entries, _, _ := k.List(); len(entries) != 3 {
				t.Errorf("a refused erasure left %d entries, want 3", len(entries))
			}
			late := s.store().Wrap(func(ctx context.Context, _ *model.Call, next func(context.Context) error) error {
				return errors.Join(next(ctx), model.Errorf(model.Timeout, "forget", "no answer in time"))
			})
			e, err := erase(k, late) // made all the same: by the next call nothing may tell whose entries these were
			if entries, _, _ := k.List(); !errors.Is(err, model.Timeout) || e.ID != "" || len(entries) != 1 || entries[0].ID != of.ID {
				t.Errorf("without an answer: %+v, %v; kept: %+v", e, err, entries)
			}
			if _, _, err := k.Retain(t.Context(), s.store(), retain("a")); err != nil {
				t.Fatal(err)
			}
			e, err = erase(k, s.store())
			if entries, _, _ := k.List(); err != nil || e.ID != "" || len(entries) != 1 || entries[0].ID != of.ID {
				t.Errorf("%+v, %v; kept: %+v", e, err, entries)
			}
		})
	}
}

// TestConcurrentWriterIsNotLost has another writer change the item between check and write: the kept
// text must be exactly the replaced one.
func TestConcurrentWriterIsNotLost(t *testing.T) {
	s, k, _, _ := setup(t)
	hits := 0
	s.before = func() {
		if hits++; hits <= 3 {
			s.mu.Lock()
			s.items["a"] = strings.Repeat("w", hits)
			s.mu.Unlock()
		}
	}
	_, e, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, body, _ := k.Read(e.ID); body != "www" {
		t.Errorf("kept %q, displaced %q", body, "www")
	}
	if entries, _, _ := k.List(); len(entries) != 1 {
		t.Errorf("%d entries stay of attempts that did nothing", len(entries)-1)
	}
}

func TestFailedChangeKeepsNothing(t *testing.T) {
	s, k, _, _ := setup(t)
	_, _, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "a", Content: "x", Mode: model.Replace, IfMatch: "other"})
	if !errors.Is(err, model.Conflict) {
		t.Fatalf("err = %v", err)
	}
	res, e, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "absent"})
	if err != nil || res.Removed != 0 || e.ID != "" {
		t.Errorf("forget of an absent item: %+v, %+v, %v", res, e, err)
	}
	if entries, _, _ := k.List(); len(entries) != 0 {
		t.Errorf("entries of changes that did not happen: %+v", entries)
	}
}

func TestNothingKeptMeansNothingDone(t *testing.T) {
	s := &shelf{items: map[string]string{"a": "one"}}
	k := undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, func() error { return errors.New("no room") })
	_, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"})
	if !model.IsRefusal(err) || s.peek("a") != "one" {
		t.Errorf("err = %v, item %q; want a refusal and the item", err, s.peek("a"))
	}
}

func TestExpirySweepErase(t *testing.T) {
	s, k, c, dir := setup(t)
	for _, body := range []string{"x", "names Ana"} {
		if _, _, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "a", Content: body, Mode: model.Replace}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	n, err := k.Erase(func(_ undo.Entry, body string) bool { return strings.Contains(body, "Ana") })
	if err != nil || n != 1 {
		t.Errorf("Erase = %d, %v", n, err)
	}
	c.Advance(2 * time.Hour)
	if entries, _, _ := k.List(); len(entries) != 0 {
		t.Errorf("expired entries are listed: %+v", entries)
	}
	if n, err := k.Sweep(); err != nil || n != 2 {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestDamagedEntryIsShown(t *testing.T) {
	s, k, _, dir := setup(t)
	_, e, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, e.ID+".undo"), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries, damaged, err := k.List()
	if err != nil || len(entries) != 0 || len(damaged) != 1 {
		t.Errorf("List = %v, %v, %v", entries, damaged, err)
	}
	if _, err := k.Erase(func(undo.Entry, string) bool { return false }); err == nil {
		t.Error("an erasure passes over an entry that it cannot read")
	}
	for _, bad := range []string{"", "../../etc/passwd", e.ID + "/x"} {
		if _, _, err := k.Read(bad); !errors.Is(err, model.InvalidInput) {
			t.Errorf("Read(%q) = %v", bad, err)
		}
	}
}

func (s *shelf) peek(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body, ok := s.items[id]; ok {
		return body
	}
	return "-"
}

func must(t *testing.T, e undo.Entry, err error) undo.Entry {
	t.Helper()
	if err != nil || e.ID == "" {
		t.Fatalf("entry %+v, %v", e, err)
	}
	return e
}

func TestParallelAppendsAllSurvive(t *testing.T) {
	s, k, _, _ := setup(t)
	s.items["a"] = ""
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if _, _, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "a", Content: string(rune('A' + i)), Mode: model.Append}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(s.peek("a")); n != 50 {
		t.Errorf("%d of 50 appends are there", n)
	}
}

// TestAnOvertakenAppendPromisesNoUndo: an entry that could not be confirmed cannot be restored.
func TestAnOvertakenAppendPromisesNoUndo(t *testing.T) {
	s, k, _, _ := setup(t)
	st := s.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		err := next(ctx)
		if c.Op.Mutates() {
			s.items["a"] += "theirs"
		}
		return err
	})
	_, e, err := k.Retain(t.Context(), st, model.RetainRequest{ID: "a", Content: "ours", Mode: model.Append})
	if err != nil || s.peek("a") != "oneourstheirs" || e.ID != "" {
		t.Errorf("entry %q, %v, item %q", e.ID, err, s.peek("a"))
	}
	if all, damaged, err := k.List(); len(all) != 0 || len(damaged) != 0 || err != nil {
		t.Errorf("kept: %v, %v, %v", all, damaged, err)
	}
}

// TestAChangeWhoseEntryIsNotConfirmedIsPartial: a caller must not take it for a change that was not made.
func TestAChangeWhoseEntryIsNotConfirmedIsPartial(t *testing.T) {
	for what, act := range map[string]func(k *undo.Keeper, s model.Store) (model.Revision, undo.Entry, error){
		"replace": func(k *undo.Keeper, s model.Store) (model.Revision, undo.Entry, error) {
			res, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: "a", Content: "two", Mode: model.Replace})
			return res.Revision, e, err
		},
		"append": func(k *undo.Keeper, s model.Store) (model.Revision, undo.Entry, error) {
			res, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: "a", Content: "two", Mode: model.Append})
			return res.Revision, e, err
		},
		"forget": func(k *undo.Keeper, s model.Store) (model.Revision, undo.Entry, error) {
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "a"})
			return model.Absent, e, err
		},
	} {
		s, k, _, dir := setup(t)
		st := s.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			err := next(ctx)
			if c.Op.Mutates() { // nothing can be written there any more
				err = errors.Join(err, os.Rename(dir, dir+".old"), os.WriteFile(dir, nil, 0o600))
			}
			return err
		})
		rev, e, err := act(k, st)
		if !model.IsPartial(err) || rev == "" || e.ID == "" || e.After != "" {
			t.Errorf("%s: revision %q, entry %+v, %v", what, rev, e, err)
		}
	}
}

func TestUndoOfAnAppendTakesOnlyItsOwn(t *testing.T) {
	s, k, _, _ := setup(t)
	s.before = func() { // another writer appends between the check and the append
		s.before = nil
		s.items["a"] += "theirs"
	}
	_, e, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "a", Content: "ours", Mode: model.Append})
	if err != nil || s.peek("a") != "onetheirsours" {
		t.Fatalf("%v, item %q", err, s.peek("a"))
	}
	if _, err := k.Restore(t.Context(), open(s), e.ID); err != nil || s.peek("a") != "onetheirs" {
		t.Errorf("restore: %v, item %q", err, s.peek("a"))
	}
}

// TestUncertainChangeKeepsTheEntry lets the store fail after the change was made, or before it. The item tells which,
// unless somebody has changed it since.
func TestUncertainChangeKeepsTheEntry(t *testing.T) {
	retain := func(id, text string, mode model.Mode) func(*undo.Keeper, model.Store) (undo.Entry, error) {
		return func(k *undo.Keeper, s model.Store) (undo.Entry, error) {
			_, e, err := k.Retain(t.Context(), s, model.RetainRequest{ID: id, Content: text, Mode: mode})
			return e, err
		}
	}
	for name, act := range map[string]func(*undo.Keeper, model.Store) (undo.Entry, error){
		"replace": retain("a", "two", model.Replace), "append": retain("a", "two", model.Append), "create": retain("new", "two", model.Replace),
		"forget": func(k *undo.Keeper, s model.Store) (undo.Entry, error) {
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: "a"})
			return e, err
		},
	} {
		for _, when := range []string{"before", "after", "changed since"} {
			t.Run(name+" "+when, func(t *testing.T) {
				s, k, _, _ := setup(t)
				st := s.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
					if !c.Op.Mutates() {
						return next(ctx)
					}
					if when != "before" {
						if err := next(ctx); err != nil {
							return err
						}
					}
					return model.Errorf(model.Timeout, "", "no answer")
				})
				e, err := act(k, st)
				if !errors.Is(err, model.Timeout) || e.ID == "" {
					t.Fatal(e, err)
				}
				want := s.peek("a")
				if when == "after" {
					want = "one"
				}
				if when == "changed since" {
					s.items[e.Item] = "theirs"
					want = s.peek("a")
				}
				_, err = k.Restore(t.Context(), open(s), e.ID)
				if errors.Is(err, model.Conflict) != (when == "changed since") || err != nil && when != "changed since" || s.peek("a") != want {
					t.Errorf("%v; the item is %q", err, s.peek("a"))
				}
				if _, _, err := k.Read(e.ID); when == "before" && err != nil {
					t.Errorf("the entry of a change that may still run is gone: %v", err)
				}
				if when == "after" && s.peek("new") != "-" {
					t.Error("the created item stays")
				}
			})
		}
	}
}

// TestAFailureAfterTheWriteKeepsTheEntry: no kind of error that leaves the outcome open may drop the displaced text.
func TestAFailureAfterTheWriteKeepsTheEntry(t *testing.T) {
	for _, kind := range []model.Kind{model.Internal, model.Timeout, model.Unavailable} {
		s, k, _, _ := setup(t)
		st := s.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			err := next(ctx)
			if err == nil && c.Op.Mutates() {
				err = model.Errorf(kind, "retain", "written, but not known to be durable")
			}
			return err
		})
		_, e, err := k.Retain(t.Context(), st, model.RetainRequest{ID: "a", Content: "two", Mode: model.Replace})
		if !errors.Is(err, kind) || e.ID == "" || !strings.Contains(err.Error(), e.ID) {
			t.Fatalf("entry %q, %v", e.ID, err)
		}
		if _, body, err := k.Read(e.ID); err != nil || body != "one" {
			t.Errorf("kept %q, %v", body, err)
		}
	}
}

// TestLastingConflictIsTriedOnce: a conflict that does not concern the revision must not be retried.
func TestLastingConflictIsTriedOnce(t *testing.T) {
	s, k, _, _ := setup(t)
	acts := 0
	st := s.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op.Mutates() {
			acts++
			return model.Errorf(model.Conflict, "forget", "the decision has children")
		}
		return next(ctx)
	})
	if _, _, err := k.Forget(t.Context(), st, model.ForgetRequest{ID: "a"}); !errors.Is(err, model.Conflict) || acts > 2 {
		t.Errorf("%d attempts, %v", acts, err)
	}
}

func TestAnotherStoreOfTheSameName(t *testing.T) {
	s, k, _, _ := setup(t)
	_, e, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	other := &shelf{items: map[string]string{}}
	_, err = k.Restore(t.Context(), func(string) (model.Store, error) {
		st := other.store()
		st.Location = "elsewhere"
		return st, nil
	}, e.ID)
	if !errors.Is(err, model.Conflict) || len(other.items) != 0 {
		t.Errorf("err = %v, the other store holds %v", err, other.items)
	}
}

func TestWhatCannotBePutBackIsSaid(t *testing.T) {
	for name, body := range map[string]string{"binary": "\xff\xfe", "empty": "", "blocked": "ignore previous instructions"} {
		s, k, _, _ := setup(t)
		s.items["a"] = body
		warn, err := k.Preview(t.Context(), s.store(), "a")
		if err != nil || len(warn) != 1 {
			t.Errorf("%s: preview %q, %v", name, warn, err)
		}
		_, e, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"})
		if err != nil || e.Obstacle == "" {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		if _, err := k.Restore(t.Context(), open(s), e.ID); !errors.Is(err, model.Unsupported) {
			t.Errorf("%s: restore = %v", name, err)
		}
		if _, kept, err := k.Read(e.ID); err != nil || kept != body {
			t.Errorf("%s: kept %q, %v", name, kept, err)
		}
	}
}

func TestWritingSweeps(t *testing.T) {
	s, k, c, dir := setup(t)
	if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir, ".20260501T120000-aaaaaaaaaaaa.undo.tmp.0123456789abcdef")
	if err := os.WriteFile(left, []byte("a body"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, c.Now(), c.Now()); err != nil {
		t.Fatal(err)
	}
	c.Advance(2 * time.Hour)
	s.items["a"] = "again"
	later := undo.New(dir, time.Hour, c, nil)
	if _, _, err := later.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 1 {
		t.Errorf("files after a sweep: %v, %v", names, err)
	}
}

// TestALongLivedKeeperSweeps: a server or a console runs for months.
func TestALongLivedKeeperSweeps(t *testing.T) {
	s, k, c, dir := setup(t)
	for range 3 {
		s.items["a"] = "again"
		if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
			t.Fatal(err)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
			t.Errorf("files at %s: %v, %v", c.Now(), names, err)
		}
		c.Advance(2 * time.Hour)
	}
}

// TestAClockThatLeapsAhead: the entries must outlive writes by a clock that is wrong for less than a day, and go by a
// right one, also after a long time without a write.
func TestAClockThatLeapsAhead(t *testing.T) {
	s, _, c, dir := setup(t)
	k := undo.New(dir, undo.DefaultKeep, c, nil)
	forget := func(want int) {
		t.Helper()
		s.items["a"] = "again"
		if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
			t.Fatal(err)
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) != want {
			t.Errorf("%d files at %s, want %d: %v", len(names), c.Now(), want, err)
		}
	}
	forget(1) // the one that is to last
	c.Advance(400 * 24 * time.Hour)
	forget(2)
	c.Advance(2 * time.Hour)
	forget(3)
	c.Advance(25 * time.Hour)
	forget(3) // without the first
}

// TestASweepOpensOldEntriesOnly: it must not read every entry, so that it finds an expired one by the age in its id.
func TestASweepOpensOldEntriesOnly(t *testing.T) {
	s, k, c, dir := setup(t)
	if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	longer := undo.New(dir, 24*time.Hour, c, nil)
	c.Advance(2 * time.Hour)
	if n, err := longer.Sweep(); n != 0 || err != nil {
		t.Errorf("%d went, %v: a young entry was opened", n, err)
	}
	c.Advance(22 * time.Hour)
	if n, err := longer.Sweep(); n != 1 || err != nil {
		t.Errorf("%d went, %v: want the expired entry", n, err)
	}
}

// TestManyChangesCostTheirTextsOnce: the entry of many changes must not be written again after each of them.
func TestManyChangesCostTheirTextsOnce(t *testing.T) {
	s, k, _, dir := setup(t)
	var changes []undo.Change
	for _, id := range []string{"a", "b", "c", "d"} {
		s.items[id] = "one"
		changes = append(changes, undo.Change{Retain: &model.RetainRequest{ID: id, Content: "two"}})
	}
	var first os.FileInfo
	s.before = func() {
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		now, err := files[0].Info()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = now
		}
		if !os.SameFile(first, now) {
			t.Error("the entry was written again between two changes")
		}
	}
	_, e, err := k.Together(t.Context(), s.store(), undo.OpTakeback, changes)
	must(t, e, err)
	if e, _, err := k.Read(e.ID); err != nil || e.After == "" || e.Sides[3].After == "" {
		t.Errorf("the entry is not confirmed: %+v, %v", e, err)
	}
}

// linked shows five relations with each item.
type linked struct{ *shelf }

func (l linked) Read(ctx context.Context, id string) (model.Item, error) {
	it, err := l.shelf.Read(ctx, id)
	if !strings.HasPrefix(id, "edge/") {
		for n := range 5 {
			it.Links = append(it.Links, model.Link{ID: fmt.Sprintf("edge/%s-%d", id, n)})
		}
		return it, err
	}
	return model.Item{Header: model.Header{ID: id}}, nil
}

// TestManyNodesCostTheirRelationsOnce: twice the nodes must cost about twice as much.
func TestManyNodesCostTheirRelationsOnce(t *testing.T) {
	cost := func(n int) (bytes uint64) {
		s, k, _, _ := setup(t)
		var changes []undo.Change
		for i := range n {
			id := fmt.Sprint("n", i)
			s.items[id] = "one"
			changes = append(changes, undo.Change{Forget: &model.ForgetRequest{ID: id}})
		}
		store := s.store()
		store.Browser = linked{s}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, e, err := k.Together(t.Context(), store, undo.OpTakeback, changes)
		runtime.ReadMemStats(&after)
		if must(t, e, err); len(e.Parts) != 5*n {
			t.Fatalf("%d relations are kept", len(e.Parts))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, two := cost(500), cost(1000); two > 3*one {
		t.Errorf("500 nodes allocate %d bytes, 1,000 %d", one, two)
	}
}

// TestAFailedChangeIsNotConfirmed: of several changes as possible, one without an answer may not have been made.
func TestAFailedChangeIsNotConfirmed(t *testing.T) {
	s, k, _, _ := setup(t)
	s.items["b"] = "other"
	store := s.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op == model.OpForget && c.Forget.ID == "b" {
			return model.Errorf(model.Timeout, "forget", "no answer in time")
		}
		return next(ctx)
	})
	left, e, err := k.Possible(t.Context(), store, undo.OpTakeback, []undo.Change{{Forget: &model.ForgetRequest{ID: "a"}}, {Forget: &model.ForgetRequest{ID: "b"}}})
	if err != nil || len(left) != 1 || len(e.Sides) != 2 || e.Sides[0].After != model.Absent || e.Sides[1].After != "" {
		t.Errorf("left %v of %+v, %v", left, e, err)
	}
	if gone := undo.Removed([]undo.Entry{e}, store); len(gone) != 1 {
		t.Errorf("removed: %v", gone)
	}
}

// TestEachRollbackHasItsOwnTime: however many changes have to be rolled back, each must have the whole time.
func TestEachRollbackHasItsOwnTime(t *testing.T) {
	s, k, _, _ := setup(t)
	changes := []undo.Change{
		{Retain: &model.RetainRequest{ID: "a", Content: "two"}},
		{Retain: &model.RetainRequest{ID: "b", Content: "two"}},
		{Forget: &model.ForgetRequest{ID: "c"}},
	}
	s.items["b"], s.items["c"] = "one", "one"
	var ends []time.Time
	s.seen = func(ctx context.Context) {
		if end, ok := ctx.Deadline(); ok {
			ends = append(ends, end)
		}
	}
	writes := 0
	s.before = func() {
		if writes++; writes == 3 {
			s.items["c"] = "of another writer"
		}
	}
	if _, _, err := k.Together(t.Context(), s.store(), undo.OpTakeback, changes); !errors.Is(err, model.Conflict) {
		t.Fatal(err)
	}
	if len(ends) != 2 || !ends[1].After(ends[0]) || s.peek("a") != "one" || s.peek("b") != "one" {
		t.Errorf("the rollbacks end at %v; a is %q, b is %q", ends, s.peek("a"), s.peek("b"))
	}
}

// TestAFailedRollbackIsNoConflict: a conflict proves that nothing was changed, and here something was.
func TestAFailedRollbackIsNoConflict(t *testing.T) {
	s, k, _, _ := setup(t)
	s.items["b"], s.items["c"] = "one", "one"
	writes := 0
	s.before = func() {
		if writes++; writes == 2 {
			s.items["b"], s.items["c"] = "of another writer", "of another writer"
		}
	}
	_, e, err := k.Together(t.Context(), s.store(), undo.OpResolve, []undo.Change{{Retain: &model.RetainRequest{ID: "b", Content: "two"}}, {Forget: &model.ForgetRequest{ID: "c"}}})
	if err == nil || errors.Is(err, model.Conflict) || model.Unchanged(err) || !strings.Contains(err.Error(), "could not be put back") || !strings.Contains(err.Error(), e.ID) {
		t.Errorf("%s, kind %s, entry %q", err, model.KindOf(err), e.ID)
	}
}

// Entries of an earlier version use another word for a resolve.
func TestResolveOfAnEarlierVersion(t *testing.T) {
	s, k, _, dir := setup(t)
	_, e, err := k.Retain(t.Context(), s.store(), model.RetainRequest{ID: "a", Content: "two", Mode: model.Replace})
	must(t, e, err)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	path := filepath.Join(dir, files[0].Name())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(string(data), `"op":"retain"`, `"op":"together"`, 1)
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil || old == string(data) {
		t.Fatal("the entry has no such word", err)
	}
	rows, _, err := k.List()
	if err != nil || len(rows) != 1 || rows[0].Op != undo.OpResolve {
		t.Errorf("the list has %v, %v", rows, err)
	}
	if one, _, err := k.Read(e.ID); err != nil || one.Op != undo.OpResolve {
		t.Errorf("the entry has %v, %v", one.Op, err)
	}
}

// waits is a tracker without Beside, in which one item waits for another.
type waits struct{ model.Work }

func (waits) Dependencies(context.Context, string) ([]model.Dependency, error) {
	return []model.Dependency{{Blocker: "a", Blocked: "b"}, {Blocker: "c", Blocked: "a"}}, nil
}

func TestWhoWaitsIsSaid(t *testing.T) {
	s, k, _, _ := setup(t)
	st := s.store()
	st.Work = waits{}
	warnings, err := k.Preview(t.Context(), st, "a")
	if err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "1 work item waits for it") {
		t.Errorf("said before: %q, %v", warnings, err)
	}
}

// TestSweepLeavesWhatIsBeingWritten: a temporary file's age must be judged by the file system's time,
// not the desk's clock.
func TestSweepLeavesWhatIsBeingWritten(t *testing.T) {
	s, k, c, dir := setup(t)
	if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(dir, ".20260501T120000-0123456789ab.undo.tmp.0123456789abcdef")
	if err := os.WriteFile(temp, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Advance(50 * 365 * 24 * time.Hour)
	if _, err := k.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(temp); err != nil {
		t.Errorf("a file that was written just now is gone: %v", err)
	}
}

// TestEraseSeesWhatStandsBesideASide: an entry of several changes must go where only the rows beside one of its
// items name the subject.
func TestEraseSeesWhatStandsBesideASide(t *testing.T) {
	s, k, _, dir := setup(t)
	s.items["b"] = "two"
	store := s.store()
	store.Keep = func(_ context.Context, id string) ([]model.BesideRow, error) {
		return []model.BesideRow{{Table: "log", Cells: []model.BesideCell{{Column: "who", Type: model.CellText, Value: "anna and " + id}}}}, nil
	}
	if _, _, err := k.Together(t.Context(), store, undo.OpResolve, []undo.Change{{Forget: &model.ForgetRequest{ID: "a"}}, {Forget: &model.ForgetRequest{ID: "b"}}}); err != nil {
		t.Fatal(err)
	}
	n, err := k.Erase(func(e undo.Entry, _ string) bool {
		return e.Beside != nil && strings.Contains(e.Beside.Rows[0].Cells[0].Value, "anna and b")
	})
	if left, _ := os.ReadDir(dir); n != 1 || err != nil || len(left) != 0 {
		t.Errorf("%d erased, %v, left %v", n, err, left)
	}
}

// TestEraseGoesPastADamagedEntry: one that cannot be read keeps no other from being erased, and is named.
func TestEraseGoesPastADamagedEntry(t *testing.T) {
	s, k, _, dir := setup(t)
	if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	const damaged = "00000000T000000-aaaaaaaaaaaa"
	if err := os.WriteFile(filepath.Join(dir, damaged+".undo"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Forget(t.Context(), s.store(), model.ForgetRequest{ID: "b", Erase: true}); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("an erasure in the store: %v", err)
	}
	n, err := k.Erase(func(undo.Entry, string) bool { return true })
	if n != 1 || err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("%d erased, %v", n, err)
	}
}

// TestNamesThatAreNoUTF8ComeBack: JSON has no form for such an id, yet undo must find the item again.
func TestNamesThatAreNoUTF8ComeBack(t *testing.T) {
	const latin = "caf\xe9.md"
	for name, act := range map[string]func(k *undo.Keeper, s model.Store) (undo.Entry, error){
		"forget": func(k *undo.Keeper, s model.Store) (undo.Entry, error) {
			_, e, err := k.Forget(t.Context(), s, model.ForgetRequest{ID: latin})
			return e, err
		},
		"together": func(k *undo.Keeper, s model.Store) (undo.Entry, error) {
			_, e, err := k.Together(t.Context(), s, undo.OpResolve, []undo.Change{{Forget: &model.ForgetRequest{ID: latin}}})
			return e, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, k, _, _ := setup(t)
			s.items[latin] = "text"
			e, err := act(k, s.store())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.Restore(t.Context(), open(s), e.ID); err != nil || s.items[latin] != "text" || len(s.items) != 2 {
				t.Errorf("restored as %q, %v", s.items, err)
			}
		})
	}
}

// TestALargeEntryExpires: its first line holds the relations that fell with the item, and may be long.
func TestALargeEntryExpires(t *testing.T) {
	s, k, c, dir := setup(t)
	store := s.store()
	store.Keep = func(context.Context, string) ([]model.BesideRow, error) {
		return []model.BesideRow{{Table: "log", Cells: []model.BesideCell{{Column: "text", Type: model.CellText, Value: strings.Repeat("x", 2<<20)}}}}, nil
	}
	if _, _, err := k.Forget(t.Context(), store, model.ForgetRequest{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if entries, damaged, err := k.List(); len(entries) != 1 || len(damaged) != 0 || err != nil {
		t.Errorf("%d entries, damaged %q, %v", len(entries), damaged, err)
	}
	c.Advance(2 * time.Hour)
	if n, err := k.Sweep(); n != 1 || err != nil {
		left, _ := os.ReadDir(dir)
		t.Errorf("%d swept, %v, left %v", n, err, left)
	}
}

// TestOneStoreUnderTwoPaths: an entry belongs to the place that a store opened, whatever path was typed. An entry
// with the identity of the typed path, as earlier versions stored it, belongs to the store too.
func TestOneStoreUnderTwoPaths(t *testing.T) {
	at := func(s *shelf, location, place string) model.Store {
		out := s.store()
		out.Kind, out.Location, out.Place = "shelf", location, place
		return out
	}
	for _, tt := range []struct{ name, location, place string }{{"now", "/p", "/p/db"}, {"by the file", "/p/db", ""}, {"an earlier version", "/p", ""}} {
		s, k, _, _ := setup(t)
		_, e, err := k.Forget(t.Context(), at(s, tt.location, tt.place), model.ForgetRequest{ID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		now := at(s, "/p", "/p/db")
		entries, _, err := k.List()
		if gone := undo.Removed(entries, now); err != nil || len(gone) != 1 {
			t.Errorf("%s: removed %v, %v; want a", tt.name, gone, err)
		}
		if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return now, nil }, e.ID); err != nil || s.items["a"] != "one" {
			t.Errorf("%s: %q, %v; want the text back", tt.name, s.items["a"], err)
		}
		_, e, _ = k.Forget(t.Context(), at(s, "/q", ""), model.ForgetRequest{ID: "a"})
		if _, err := k.Restore(t.Context(), func(string) (model.Store, error) { return now, nil }, e.ID); !errors.Is(err, model.Conflict) {
			t.Errorf("%s: an entry of another place: %v; want a conflict", tt.name, err)
		}
	}
}

// TestPossible makes the changes that can be made and reads each item once.
func TestPossible(t *testing.T) {
	s, k, _, _ := setup(t)
	s.items["b"], s.items["c"] = "two", "three"
	changes := []undo.Change{{Forget: &model.ForgetRequest{ID: "a", IfMatch: "other"}}, {Forget: &model.ForgetRequest{ID: "b"}}, {Forget: &model.ForgetRequest{ID: "c"}}}
	left, e, err := k.Possible(t.Context(), s.store(), undo.OpTakeback, changes)
	if err != nil || len(left) != 1 || !errors.Is(left[0], model.Conflict) || e.Item != "b" || len(e.Sides) != 2 || s.reads != 3 {
		t.Errorf("left %v, entry of %q with %d items, %d reads, %v", left, e.Item, len(e.Sides), s.reads, err)
	}
	if _, err := k.Restore(t.Context(), open(s), e.ID); err != nil || s.items["b"] != "two" || s.items["c"] != "three" {
		t.Errorf("the undo: %v, %v", err, s.items)
	}
}
