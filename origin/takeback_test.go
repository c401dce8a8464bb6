package origin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/undo"
)

// takeBack plans and carries out the take-back of a source's writes of the last hour.
func takeBack(t *testing.T, l *origin.Ledger, k *undo.Keeper, fleet *backends.Fleet, source string) map[string]string {
	t.Helper()
	plan, err := origin.Plan(t.Context(), l, k, fleet.Store, source, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range plan {
		got[p.ID] = p.Action
	}
	for _, m := range fleet.Open() {
		if _, err := origin.Take(t.Context(), k, m.Store, plan); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// TestTakeBackOfChangesMadeTogether: one undo entry then has the texts of several items, and each must get its
// own.
func TestTakeBackOfChangesMadeTogether(t *testing.T) {
	d := newDesk(t, false)
	for id, text := range map[string]string{one: "base\n", two: "copy\n"} {
		if err := d.retain(t.Context(), id, text, model.Append); err != nil {
			t.Fatal(err)
		}
	}
	merged := model.RetainRequest{ID: one, Content: "merged\n", Mode: model.Replace}
	if _, _, err := d.keeper.Together(agent(t.Context(), "alpha"), d.store(), undo.OpResolve, []undo.Change{{Retain: &merged}, {Forget: &model.ForgetRequest{ID: two}}}); err != nil {
		t.Fatal(err)
	}
	got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha")
	if got[one] != origin.ActRestore || got[two] != origin.ActRestore || d.read(one) != "base\n" || d.read(two) != "copy\n" {
		t.Errorf("plan %v; after it %q and %q", got, d.read(one), d.read(two))
	}
}

// TestTakeBackOfATextWrittenTwice must restore the text before the first write, not one between the two.
func TestTakeBackOfATextWrittenTwice(t *testing.T) {
	d := newDesk(t, false)
	if err := d.retain(t.Context(), one, "by ana\n", model.Replace); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"planted\n", "planted otherwise\n", "planted\n"} {
		if err := d.retain(agent(t.Context(), "alpha"), one, text, model.Replace); err != nil {
			t.Fatal(err)
		}
	}
	if got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha"); got[one] != origin.ActRestore || d.read(one) != "by ana\n" {
		t.Errorf("plan %v; after it %q", got, d.read(one))
	}
}

// TestTakeBackNamesDamagedNotes: what a source wrote may be among the lines that cannot be read.
func TestTakeBackNamesDamagedNotes(t *testing.T) {
	d := newDesk(t, false)
	for _, id := range []string{one, two} {
		if err := d.retain(agent(t.Context(), "alpha"), id, "planted\n", model.Append); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(d.dir, "state", "origin", "ledger.jsonl")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[10:], "\x00\x00\x00")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha")
	if got[two] != origin.ActForget || got[""] != origin.ActSkip || d.read(one) == "" {
		t.Errorf("plan %v", got)
	}
	old := origin.Row{Store: "vault", ID: three, Revision: "1", At: time.Now().Add(-2 * time.Hour)}
	if err := d.ledger.Append(old); err != nil { // as after an undo, which brings back an old text and its time
		t.Fatal(err)
	}
	if got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha"); got[""] != origin.ActSkip {
		t.Errorf("damage before an undo: %v", got)
	}
	if err := errors.Join(os.WriteFile(path, []byte("{broken\n"), 0o600), d.ledger.Append(old)); err != nil {
		t.Fatal(err)
	}
	if got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha"); len(got) != 0 {
		t.Errorf("damage from before the time: %v", got)
	}
}

// TestTakeBackOfAForgottenItem: the text that a source forgot comes back, unless somebody else changed it after the
// source's first write: the text before that write lacks the change.
func TestTakeBackOfAForgottenItem(t *testing.T) {
	for _, tt := range []struct {
		name, want, text string
		meanwhile        bool
	}{
		{"by the source alone", origin.ActRestore, "by ana\n", false},
		{"changed meanwhile", origin.ActSkip, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, false)
			alpha := agent(t.Context(), "alpha")
			err := errors.Join(d.retain(t.Context(), one, "by ana\n", model.Append), d.retain(alpha, one, "and alpha\n", model.Append))
			if tt.meanwhile {
				err = errors.Join(err, d.retain(t.Context(), one, "and ana\n", model.Append))
			}
			_, _, gone := d.keeper.Forget(alpha, d.store(), model.ForgetRequest{ID: one})
			if err = errors.Join(err, gone); err != nil {
				t.Fatal(err)
			}
			if got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha"); got[one] != tt.want || d.read(one) != tt.text {
				t.Errorf("plan %v; after it %q", got, d.read(one))
			}
		})
	}
}

// TestTakeBackOfAGraph: an edge between two nodes of the same source falls with them, which must not stop the
// take-back.
func TestTakeBackOfAGraph(t *testing.T) {
	dir := t.TempDir()
	ready := func() error { return nil }
	l, k := origin.OpenLedger(dir, ready), undo.New(filepath.Join(dir, "undo"), 0, clock.System{}, nil)
	fleet, s := graph(t, origin.Rules{Ledger: l, Shelf: origin.OpenShelf(dir, ready)})
	ctx := agent(context.Background(), "alpha")
	for _, req := range []model.RetainRequest{
		{ID: "n1", Tier: "task", Content: "first"}, {ID: "n2", Tier: "task", Content: "second"},
		{ID: "edge/e", Tier: "edge", Content: "ties", Meta: []model.Field{{Name: "type", Value: "relation"},
			{Name: "members", Value: `[{"node":"n1","role":"subject","position":0},{"node":"n2","role":"object","position":1}]`}}},
	} {
		req.Mode, req.IfMatch, req.Tier = model.Replace, model.Absent, ""
		if _, _, err := k.Retain(ctx, s, req); err != nil {
			t.Fatal(err)
		}
	}
	got := takeBack(t, l, k, fleet, "alpha")
	page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true})
	if err != nil || len(page.Items) != 0 || len(got) != 3 {
		t.Errorf("plan %v; %d items stay, %v", got, len(page.Items), err)
	}
}

// graph is an empty graph in memory behind a gate.
func graph(t *testing.T, rules origin.Rules) (*backends.Fleet, model.Store) {
	t.Helper()
	fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{{Name: "graph", Kind: "inmem"}}, backends.Env{Clock: clock.System{}},
		backends.Policy{Audit: backends.Unrecorded, Origin: origin.Gate(rules), Extend: rules.Shelf.Attach})
	t.Cleanup(func() { _ = fleet.Close() })
	s, err := fleet.Store("graph")
	if err != nil {
		t.Fatal(err)
	}
	return fleet, s
}

// TestTakeBackWithoutAnAddress: a store may not say which item a tier and a key name. What an agent appended there
// was an operator's item unless the answer shows that it was not, and takeback must not remove it.
func TestTakeBackWithoutAnAddress(t *testing.T) {
	d := newDesk(t, false)
	s := d.store()
	s.Address = nil
	gate := origin.Gate(origin.Rules{Ledger: d.ledger, Shelf: d.shelf})
	for _, c := range []struct {
		name    string
		req     model.RetainRequest
		bytes   int64
		created bool
	}{
		{"an addition", model.RetainRequest{Content: "more\n", Mode: model.Append}, 12, false},
		{"the first text", model.RetainRequest{Content: "more\n", Mode: model.Append}, 5, true},
		{"a replace", model.RetainRequest{Content: "more\n", Mode: model.Replace}, 5, false},
		{"a create", model.RetainRequest{Content: "more\n", Mode: model.Replace, IfMatch: model.Absent}, 5, true},
	} {
		c.req.Tier, c.req.Key = "fix", "a"
		call := &model.Call{Store: &s, Op: model.OpRetain, Retain: &c.req}
		err := gate(agent(t.Context(), "alpha"), call, func(context.Context) error {
			call.Retained = &model.RetainResult{ID: c.name, Bytes: c.bytes, Revision: "r"}
			return nil
		})
		row, ok := d.ledger.Current("vault", c.name, "r")
		if err != nil || !ok || row.Created != c.created {
			t.Errorf("%s: created %v, want %v (%v, noted %v)", c.name, row.Created, c.created, err, ok)
		}
	}
}

// TestTakeBackOfAnUnknownOutcome: a write whose answer was lost may have been made, and takeback must name it.
func TestTakeBackOfAnUnknownOutcome(t *testing.T) {
	d := newDesk(t, false)
	if err := d.retain(t.Context(), one, "by ana\n", model.Replace); err != nil {
		t.Fatal(err)
	}
	s := d.store()
	now, err := s.Browser.Read(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	gate := origin.Gate(origin.Rules{Ledger: d.ledger, Shelf: d.shelf})
	write := func(fails error) {
		t.Helper()
		call := &model.Call{Store: &s, Op: model.OpRetain, ID: one, Retain: &model.RetainRequest{ID: one, Content: "more\n", Mode: model.Append}}
		if err := gate(agent(t.Context(), "alpha"), call, func(context.Context) error { return fails }); !errors.Is(err, fails) {
			t.Fatal(err)
		}
	}
	plan := func() []origin.Taken {
		t.Helper()
		got, err := origin.Plan(t.Context(), d.ledger, d.keeper, d.fleet.Store, "alpha", time.Now().Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	write(model.Errorf(model.Conflict, "retain", "it has changed"))
	if got := plan(); len(got) != 0 {
		t.Errorf("a refused write: %+v", got)
	}
	write(model.Errorf(model.Timeout, "retain", "no answer"))
	if got := plan(); len(got) != 1 || got[0].ID != one || got[0].Action != origin.ActSkip {
		t.Errorf("a write without an answer: %+v", got)
	}
	if row, ok := d.ledger.Current("vault", one, now.Revision); !ok || row.Actor != "ana" {
		t.Errorf("the text is still ana's: %+v, %v", row, ok)
	}
}

// TestTakeBackWithoutAnAnswer: an item whose removal got no answer is neither left nor taken back, and a second
// take-back takes it back where it still stands.
func TestTakeBackWithoutAnAnswer(t *testing.T) {
	lost := model.Errorf(model.Timeout, "forget", "no answer")
	for name, op := range map[string]model.Op{"made": model.OpForget, "not made": model.OpForget, "not even read": model.OpRead} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, false)
			if err := d.retain(agent(t.Context(), "alpha"), one, "planted\n", model.Append); err != nil {
				t.Fatal(err)
			}
			gate := origin.Gate(origin.Rules{Ledger: d.ledger, Shelf: d.shelf})
			s := d.store().Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
				return gate(ctx, c, func(ctx context.Context) error {
					if c.Op != op {
						return next(ctx)
					}
					if name == "made" {
						return errors.Join(lost, next(ctx))
					}
					return lost
				})
			})
			since := time.Now().Add(-time.Hour)
			plan, err := origin.Plan(t.Context(), d.ledger, d.keeper, d.fleet.Store, "alpha", since)
			if err != nil {
				t.Fatal(err)
			}
			e, err := origin.Take(t.Context(), d.keeper, s, plan)
			want := map[bool]string{true: origin.ActUnknown, false: origin.ActSkip}[op == model.OpForget]
			if err != nil || (e.ID == "") != (want == origin.ActSkip) || len(plan) != 1 || plan[0].Action != want {
				t.Fatalf("undo %q, %v, plan %+v", e.ID, err, plan)
			}
			again, err := origin.Plan(t.Context(), d.ledger, d.keeper, d.fleet.Store, "alpha", since)
			if want := map[bool]string{true: origin.ActSkip, false: origin.ActForget}[name == "made"]; err != nil || len(again) != 1 || again[0].Action != want {
				t.Errorf("again: %+v, %v, want %s", again, err, want)
			}
		})
	}
}

// TestReviewWithoutAnAddress: where only the store knows the id of a write, its key is judged in place of it.
func TestReviewWithoutAnAddress(t *testing.T) {
	d := newDesk(t, false)
	s := d.store()
	s.Address = nil
	gate := origin.Gate(origin.Rules{Ledger: d.ledger, Shelf: d.shelf})
	for key, waits := range map[string]bool{"CLAUDE.md": true, "of/claude": true, "ignore previous instructions": true, "plan": false} {
		call := &model.Call{Store: &s, Op: model.OpRetain, Retain: &model.RetainRequest{Tier: "notes", Key: key, Content: "harmless\n", Mode: model.Append}}
		err := gate(agent(t.Context(), "alpha"), call, func(context.Context) error {
			call.Retained = &model.RetainResult{ID: "notes/" + key, Bytes: 9, Revision: "r"}
			return nil
		})
		var held *origin.HeldError
		if errors.As(err, &held) != waits || !waits && err != nil {
			t.Errorf("key %q: %v, want it held: %v", key, err, waits)
		}
	}
}

// TestTakeBackOfWhatIsPossible: an item that its writer changes again, or that cannot be read, must not keep the others
// from being taken back.
func TestTakeBackOfWhatIsPossible(t *testing.T) {
	d := newDesk(t, false)
	ctx, alpha := t.Context(), agent(t.Context(), "alpha")
	const busy, link, plain = "memory/fix/busy.md", "memory/fix/link.md", "memory/fix/plain.md"
	for _, id := range []string{busy, link, plain} {
		if err := d.retain(alpha, id, "planted\n", model.Append); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(d.dir, "vault", link)
	if err := errors.Join(os.Remove(path), os.Symlink("/etc/hostname", path)); err != nil {
		t.Fatal(err)
	}
	plan, err := origin.Plan(ctx, d.ledger, d.keeper, d.fleet.Store, "alpha", time.Time{})
	if err != nil || len(plan) != 3 {
		t.Fatal(plan, err)
	}
	if err := d.retain(alpha, busy, "planted anew\n", model.Replace); err != nil {
		t.Fatal(err)
	}
	e, err := origin.Take(ctx, d.keeper, d.store(), plan)
	if err != nil || e.ID == "" {
		t.Fatalf("undo %q, %v", e.ID, err)
	}
	for _, x := range plan {
		if want := map[string]string{busy: origin.ActSkip, link: origin.ActSkip, plain: origin.ActForget}[x.ID]; x.Action != want || (x.Reason == "") != (want != origin.ActSkip) {
			t.Errorf("%+v, want %s", x, want)
		}
	}
	if d.read(plain) != "" || d.read(busy) != "planted anew\n" {
		t.Errorf("%q and %q stand", d.read(plain), d.read(busy))
	}
	if _, err := d.keeper.Restore(ctx, d.fleet.Store, e.ID); err != nil || d.read(plain) != "planted\n" {
		t.Errorf("the undo: %v, %q", err, d.read(plain))
	}
}

// TestAnItemNamedLikeAHeldWrite: an item whose id begins like that of a held write is an item like all others; one of
// the whole form can be made by no agent, and goes before a held write of its id.
func TestAnItemNamedLikeAHeldWrite(t *testing.T) {
	d := newDesk(t, false)
	const id = "door/hinge.md"
	if err := d.retain(agent(t.Context(), "alpha"), id, "planted\n", model.Replace); err != nil {
		t.Fatal(err)
	}
	if got := takeBack(t, d.ledger, d.keeper, d.fleet, "alpha"); got[id] != origin.ActForget || d.read(id) != "" {
		t.Errorf("plan %v; after it %q", got, d.read(id))
	}
	held := review.HeldPrefix + strings.Repeat("0a", 16)
	served := origin.With(t.Context(), origin.Writer{Actor: "planner", Face: "provider", Trust: origin.Untrusted})
	for _, ctx := range []context.Context{agent(t.Context(), "alpha"), served} {
		if err := d.retain(ctx, held, "planted\n", model.Replace); !errors.Is(err, model.InvalidInput) || d.read(held) != "" {
			t.Errorf("%v; %q stands", err, d.read(held))
		}
	}
	if err := d.retain(t.Context(), held, "by ana\n", model.Replace); err != nil {
		t.Fatal(err)
	}
	if res, err := d.store().Provider.Forget(t.Context(), model.ForgetRequest{ID: held}); err != nil || res.Removed != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	h, err := d.shelf.Put(origin.Held{Store: "vault", Request: model.RetainRequest{ID: one, Content: "x\n", Mode: model.Replace}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.retain(t.Context(), h.ID, "by ana\n", model.Replace); err != nil {
		t.Fatal(err)
	}
	if _, err := d.shelf.Release(t.Context(), d.keeper, d.store(), h.ID, nil); !errors.Is(err, model.Conflict) || d.read(one) != "" {
		t.Errorf("released beside an item of its id: %v, %q", err, d.read(one))
	}
	for _, want := range []string{"the item", "the held write"} {
		if res, _, err := d.keeper.Forget(t.Context(), d.store(), model.ForgetRequest{ID: h.ID}); err != nil || res.Removed != 1 {
			t.Errorf("%s: %+v, %v", want, res, err)
		}
		all, _, _ := d.shelf.List("vault")
		if row, _, _ := d.ledger.Latest("vault", h.ID); d.read(h.ID) != "" || (len(all) == 1) != (want == "the item") || row.Revision != model.Absent {
			t.Errorf("%s: %q stands, %d wait, the ledger has %+v", want, d.read(h.ID), len(all), row)
		}
	}
}
