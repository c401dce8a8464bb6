package conflict_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/seam"
	"memdesk/conflict"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/undo"
)

const (
	baseID = "notes/plan.md"
	copyID = "notes/plan.sync-conflict-20260527-083015-K3ZQ7AB.md"
)

type desk struct {
	t      testing.TB
	root   string
	store  model.Store
	keeper *undo.Keeper
	fault  seam.Fault
}

func newDesk(t testing.TB, given map[string]string) *desk {
	d := &desk{t: t, root: t.TempDir()}
	write(t, d.root, given)
	d.keeper = undo.New(filepath.Join(t.TempDir(), "undo"), 0, clock.System{}, nil)
	d.store = openFolder(t, d.root, func(s seam.Step) error {
		if d.fault == nil {
			return nil
		}
		return d.fault(s)
	})
	return d
}

func (d *desk) find(id string) conflict.Copy {
	d.t.Helper()
	c, err := conflict.Find(d.t.Context(), d.store, id, conflict.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func (d *desk) want(files_ map[string]string) {
	d.t.Helper()
	if diff := cmp.Diff(files_, files(d.t, d.root)); diff != "" {
		d.t.Errorf("files (-want +have):\n%s", diff)
	}
}

func (d *desk) open(string) (model.Store, error) { return d.store, nil }

// kept are all bodies in undo entries.
func (d *desk) kept() []string {
	d.t.Helper()
	entries, damaged, err := d.keeper.List()
	if err != nil || len(damaged) > 0 {
		d.t.Fatal(err, damaged)
	}
	var out []string
	for _, e := range entries {
		e, body, err := d.keeper.Read(e.ID)
		if err != nil {
			d.t.Fatal(err)
		}
		out = append(out, e.Bodies(body)...)
	}
	return out
}

// TestEveryWayToResolve resolves and undoes: the files must be as before.
func TestEveryWayToResolve(t *testing.T) {
	const resilio, binary = "notes/plan.Conflict.md", "\xff\x00\x01 not text"
	both := map[string]string{baseID: "base\n", copyID: "copy\n"}
	for _, c := range []struct {
		name  string
		given map[string]string
		id    string
		ch    conflict.Choice
		want  map[string]string
		kept  string
	}{
		{"base", both, copyID, conflict.Choice{Take: conflict.TakeBase}, map[string]string{baseID: "base\n"}, ""},
		{"copy", both, copyID, conflict.Choice{Take: conflict.TakeCopy}, map[string]string{baseID: "copy\n"}, ""},
		{"merged", both, copyID, conflict.Choice{Take: conflict.TakeMerged, Merged: "both\n"}, map[string]string{baseID: "both\n"}, ""},
		{"both", both, copyID, conflict.Choice{Take: conflict.TakeBoth}, map[string]string{baseID: "base\n", "notes/plan-version-2.md": "copy\n"}, "notes/plan-version-2.md"},
		{"both with one slug", map[string]string{baseID: "---\nslug: \"plan\"\n---\nbase\n", copyID: "--- \nkind: fix\nslug: plan\r\n---\ncopy\n"}, copyID, conflict.Choice{Take: conflict.TakeBoth},
			map[string]string{baseID: "---\nslug: \"plan\"\n---\nbase\n", "notes/plan-version-2.md": "--- \nkind: fix\nslug: plan-version-2\r\n---\ncopy\n"}, "notes/plan-version-2.md"},
		{"both with slugs of their own", map[string]string{baseID: "---\nslug: plan\n---\nbase\n", copyID: "---\nslug: other\n---\nslug: plan\n"}, copyID, conflict.Choice{Take: conflict.TakeBoth},
			map[string]string{baseID: "---\nslug: plan\n---\nbase\n", "notes/plan-version-2.md": "---\nslug: other\n---\nslug: plan\n"}, "notes/plan-version-2.md"},
		{"a taken name", map[string]string{baseID: "base\n", copyID: "copy\n", "notes/plan-version-2.md": "x"}, copyID, conflict.Choice{Take: conflict.TakeBoth},
			map[string]string{baseID: "base\n", "notes/plan-version-2.md": "x", "notes/plan-version-3.md": "copy\n"}, "notes/plan-version-3.md"},
		{"orphan", map[string]string{copyID: "copy\n"}, copyID, conflict.Choice{Take: conflict.TakeCopy}, map[string]string{baseID: "copy\n"}, ""},
		{"resilio is renamed", map[string]string{baseID: "base\n", resilio: "copy\n"}, resilio, conflict.Choice{Take: conflict.TakeCopy},
			map[string]string{baseID: "copy\n", "notes/plan-version-2.md": "copy\n"}, "notes/plan-version-2.md"},
		{"resilio, base", map[string]string{baseID: "base\n", resilio: "copy\n"}, resilio, conflict.Choice{Take: conflict.TakeBase},
			map[string]string{baseID: "base\n", "notes/plan-version-2.md": "copy\n"}, "notes/plan-version-2.md"},
		{"binary copy", map[string]string{baseID: "base\n", copyID: binary}, copyID, conflict.Choice{Take: conflict.TakeCopy}, map[string]string{baseID: binary}, ""},
		{"binary base", map[string]string{baseID: binary, copyID: "copy\n"}, copyID, conflict.Choice{Take: conflict.TakeCopy}, map[string]string{baseID: "copy\n"}, ""},
		{"binary, both", map[string]string{baseID: "base\n", copyID: binary}, copyID, conflict.Choice{Take: conflict.TakeBoth},
			map[string]string{baseID: "base\n", "notes/plan-version-2.md": binary}, "notes/plan-version-2.md"},
		{"markers inside", map[string]string{baseID: "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"}, baseID, conflict.Choice{Take: conflict.TakeMerged, Merged: "a\nb\n"},
			map[string]string{baseID: "a\nb\n"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t, c.given)
			res, err := conflict.Resolve(t.Context(), d.keeper, d.store, d.find(c.id), c.ch)
			if err != nil {
				t.Fatal(err)
			}
			d.want(c.want)
			if res.Kept != c.kept || res.Base != baseID {
				t.Errorf("%+v", res)
			}
			if now := c.want[baseID]; res.BaseRevision != seam.RevisionOf(now) {
				t.Errorf("revision %s is not that of what stands there", res.BaseRevision)
			}
			back, err := d.keeper.Restore(t.Context(), d.open, res.Undo.ID)
			if err != nil {
				t.Fatal(err)
			}
			d.want(c.given)
			if _, err := d.keeper.Restore(t.Context(), d.open, back.Again.ID); err != nil {
				t.Fatal(err)
			}
			d.want(c.want) // the undo can be undone
		})
	}
}

// The kept copy of a base with a hostile name gets a name that a new item may have.
func TestBothOfAHostileName(t *testing.T) {
	for _, dir := range []string{"notes/", "no\x1b[2Jtes/"} { // a directory keeps its name
		base, copied := dir+"p\x1b[2J\xffl.md", dir+"p\x1b[2J\xffl (Ada's conflicted copy 2026-05-01).md"
		given := map[string]string{base: "base\n", copied: "copy\n"}
		d := newDesk(t, given)
		res, err := conflict.Resolve(t.Context(), d.keeper, d.store, d.find(copied), conflict.Choice{Take: conflict.TakeBoth})
		if err != nil || res.Kept != dir+"p_[2J_l-version-2.md" {
			t.Fatalf("%+v, %v", res, err)
		}
		d.want(map[string]string{base: "base\n", res.Kept: "copy\n"})
		if _, err := d.keeper.Restore(t.Context(), d.open, res.Undo.ID); err != nil {
			t.Fatal(err)
		}
		d.want(given)
	}
}

func TestASideThatChangedStopsIt(t *testing.T) {
	for _, id := range []string{baseID, copyID} {
		for _, gone := range []bool{false, true} {
			for _, take := range []conflict.Take{conflict.TakeBase, conflict.TakeCopy, conflict.TakeBoth, conflict.TakeMerged} {
				d := newDesk(t, map[string]string{baseID: "base\n", copyID: "copy\n"})
				c := d.find(copyID)
				if gone {
					if err := os.Remove(filepath.Join(d.root, id)); err != nil {
						t.Fatal(err)
					}
				} else {
					write(t, d.root, map[string]string{id: "edited\n"})
				}
				before := files(t, d.root)
				_, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: take, Merged: "m\n"})
				if !errors.Is(err, model.Conflict) {
					t.Errorf("%s of %s, gone %v: %v", take, id, gone, err)
				}
				d.want(before)
				if n := len(d.kept()); n > 0 {
					t.Errorf("%s: %d bodies are kept though nothing was changed", take, n)
				}
			}
		}
	}
}

// TestARefusedForgetPutsTheBaseBack lets every later step fail, like a full disk, a read-only folder
// and a refusing policy.
func TestARefusedForgetPutsTheBaseBack(t *testing.T) {
	given := map[string]string{baseID: "base\n", copyID: "copy\n"}
	for _, kind := range []model.Kind{model.PermissionDenied, model.Conflict, model.Locked} {
		d := newDesk(t, given)
		c := d.find(copyID)
		refusing := d.store.Wrap(func(ctx context.Context, call *model.Call, next func(context.Context) error) error {
			if call.Op == model.OpForget {
				return model.Errorf(kind, "forget", "not now")
			}
			return next(ctx)
		})
		_, err := conflict.Resolve(t.Context(), d.keeper, refusing, c, conflict.Choice{Take: conflict.TakeCopy})
		if !errors.Is(err, kind) {
			t.Errorf("%v", err)
		}
		d.want(given)
		if n := len(d.kept()); n > 0 {
			t.Errorf("%d bodies are kept though everything stands", n)
		}
	}
}

func TestARefusalOfThePolicyChangesNothing(t *testing.T) {
	given := map[string]string{baseID: "base\n", copyID: "copy\n"}
	d := newDesk(t, given)
	c := d.find(copyID)
	gate := d.store.Wrap(func(ctx context.Context, call *model.Call, next func(context.Context) error) error {
		if call.Op.Mutates() {
			return model.Refuse(string(call.Op), "the text names somebody who was erased")
		}
		return next(ctx)
	})
	_, err := conflict.Resolve(t.Context(), d.keeper, gate, c, conflict.Choice{Take: conflict.TakeCopy})
	if !model.IsRefusal(err) {
		t.Errorf("%v", err)
	}
	d.want(given)
}

// died is the value with which a step panics: like after kill -9, nothing runs after it.
type died struct{}

// TestAKillAtEveryStep stops a resolve before and after each step of its writes. Both texts must exist
// somewhere, and undo must be able to restore them.
func TestAKillAtEveryStep(t *testing.T) {
	given := map[string]string{baseID: "base\n", copyID: "copy\n"}
	for _, take := range []conflict.Take{conflict.TakeBase, conflict.TakeCopy, conflict.TakeBoth, conflict.TakeMerged} {
		reached := 0
		for n := 0; ; n++ {
			d := newDesk(t, given)
			c := d.find(copyID)
			steps := 0
			d.fault = func(seam.Step) error {
				if steps == n {
					panic(died{})
				}
				steps++
				return nil
			}
			killed := func() (dead bool) {
				defer func() {
					if r := recover(); r != nil {
						if _, ok := r.(died); !ok {
							panic(r)
						}
						dead = true
					}
				}()
				if _, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: take, Merged: "merged\n"}); err != nil {
					t.Fatal(err)
				}
				return false
			}()
			if !killed {
				break
			}
			reached++
			d.fault = nil
			everywhere := slices.Concat(slices.Collect(maps.Values(files(t, d.root))), d.kept())
			for _, text := range given {
				if !slices.Contains(everywhere, text) {
					t.Errorf("take %s, killed at step %d: %q stands nowhere", take, n, text)
				}
			}
			entries, _, err := d.keeper.List()
			if err != nil || len(entries) != 1 {
				t.Fatalf("take %s, step %d: %d entries, %v", take, n, len(entries), err)
			}
			if _, err := d.keeper.Restore(t.Context(), d.open, entries[0].ID); err != nil {
				t.Errorf("take %s, step %d: %v", take, n, err)
			}
			for id, text := range given {
				if files(t, d.root)[id] != text {
					t.Errorf("take %s, killed at step %d, put back: %s is not as it was", take, n, id)
				}
			}
		}
		if reached == 0 {
			t.Errorf("take %s reached no step: the test looks at nothing", take)
		}
	}
}

// TestAStepThatFails is a full disk or a denied write at each step.
func TestAStepThatFails(t *testing.T) {
	given := map[string]string{baseID: "base\n", copyID: "copy\n"}
	for n := range 40 {
		d := newDesk(t, given)
		c := d.find(copyID)
		steps, hit := 0, false
		var at seam.Step
		d.fault = func(s seam.Step) error {
			steps++
			if steps == n+1 {
				hit, at = true, s
				return fmt.Errorf("no space left on device (%s)", s)
			}
			return nil
		}
		_, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: conflict.TakeCopy})
		d.fault = nil
		if !hit {
			if n < 3 {
				t.Fatalf("only %d steps: the test looks at nothing", n)
			}
			return
		}
		everywhere := slices.Concat(slices.Collect(maps.Values(files(t, d.root))), d.kept())
		for _, text := range given {
			if !slices.Contains(everywhere, text) {
				t.Errorf("step %d (%v): %q stands nowhere", n, err, text)
			}
		}
		for id := range files(t, d.root) {
			if strings.Contains(id, ".tmp") && at != seam.StepExchange { // that step only simulates a kill
				t.Errorf("step %d (%s: %v) left %s", n, at, err, id)
			}
		}
	}
}

func TestAReadOnlyUndoRefuses(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("as root no folder is read-only: the undo folder is a file instead")
	}
	given := map[string]string{baseID: "base\n", copyID: "copy\n"}
	d := newDesk(t, given)
	at := filepath.Join(t.TempDir(), "undo")
	if err := os.WriteFile(at, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := conflict.Resolve(t.Context(), undo.New(at, 0, clock.System{}, nil), d.store, d.find(copyID), conflict.Choice{Take: conflict.TakeCopy})
	if !model.IsRefusal(err) {
		t.Errorf("%v", err)
	}
	d.want(given)
}

// TestAnErasureFindsEverySide: an undo entry of two items must be erased with either of them.
func TestAnErasureFindsEverySide(t *testing.T) {
	for _, id := range []string{baseID, copyID} {
		d := newDesk(t, map[string]string{baseID: "base\n", copyID: "copy\n"})
		if _, err := conflict.Resolve(t.Context(), d.keeper, d.store, d.find(copyID), conflict.Choice{Take: conflict.TakeCopy}); err != nil {
			t.Fatal(err)
		}
		n, err := d.keeper.Erase(func(e undo.Entry, _ string) bool { return e.Item == id })
		if n != 1 || err != nil || len(d.kept()) > 0 {
			t.Errorf("%s: %d went, %v, %q is kept", id, n, err, d.kept())
		}
	}
}
