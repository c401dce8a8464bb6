package conflict_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/conflict"
	"memdesk/model"
)

// told is a store that reports conflicts itself, as a remote one does.
type told []model.StoreConflict

func (t told) StoreConflicts(context.Context) ([]model.StoreConflict, error) { return t, nil }

// TestAToldConflictHasItsVendorsCaution: whoever reports the conflict, a copy of Resilio Sync is renamed, not
// deleted.
func TestAToldConflictHasItsVendorsCaution(t *testing.T) {
	d := newDesk(t, map[string]string{"notes/plan.md": "base\n", "notes/other.md": "copy\n"})
	d.store.Conflicts = told{{CopyID: "notes/other.md", BaseID: "notes/plan.md", Tool: "resilio"}}
	c := d.find("notes/other.md")
	if len(c.Cautions) != 1 {
		t.Fatalf("cautions: %q", c.Cautions)
	}
	res, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: conflict.TakeCopy})
	if err != nil || res.Kept != "notes/plan-version-2.md" {
		t.Errorf("%+v, %v", res, err)
	}
	d.want(map[string]string{"notes/plan.md": "copy\n", "notes/plan-version-2.md": "copy\n"})
}

// TestACopyOfNothingKnown: a file set aside in a lost-and-found with no base anywhere must be resolvable by its
// name alone, and be no conflict afterwards.
func TestACopyOfNothingKnown(t *testing.T) {
	for id, kept := range map[string]string{"lost_and_found/plan.md": "plan-version-2.md", "notes/.lost_and_found/deep/plan.md": "notes/deep/plan-version-2.md"} {
		given := map[string]string{id: "copy\n"}
		d := newDesk(t, given)
		c := d.find(id)
		if _, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: conflict.TakeCopy}); !errors.Is(err, model.InvalidInput) {
			t.Error(err)
		}
		d.want(given)
		res, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: conflict.TakeBoth})
		if err != nil || res.Kept != kept {
			t.Fatalf("%+v, %v", res, err)
		}
		d.want(map[string]string{kept: "copy\n"})
		for c := range conflict.List(t.Context(), d.store, conflict.Options{}) {
			t.Errorf("%s is still a conflict: %s", c.ID, c.Reason)
		}
		if _, err := d.keeper.Restore(t.Context(), d.open, res.Undo.ID); err != nil {
			t.Error(err)
		}
		d.want(given)
	}
}

// TestABaseMadeMeanwhileStays: the base of an orphan that an agent writes after the list must not be replaced
// unseen.
func TestABaseMadeMeanwhileStays(t *testing.T) {
	d := newDesk(t, map[string]string{"notes/other.md": "copy\n"})
	d.store.Conflicts = told{{CopyID: "notes/other.md", BaseID: "notes/plan.md", Tool: "memdesk"}}
	c := d.find("notes/other.md")
	write(t, d.root, map[string]string{"notes/plan.md": "of an agent\n"})
	if _, err := conflict.Resolve(t.Context(), d.keeper, d.store, c, conflict.Choice{Take: conflict.TakeCopy}); !errors.Is(err, model.Conflict) {
		t.Error(err)
	}
	d.want(map[string]string{"notes/other.md": "copy\n", "notes/plan.md": "of an agent\n"})
}

// TestAWorkItemIsMoreThanItsBody: two lines of one id without a description are not the same item.
func TestAWorkItemIsMoreThanItsBody(t *testing.T) {
	const ours, theirs = `{"id":"x-2","title":"ours","status":"open","notes":"call Ann"}`, `{"id":"x-2","title":"theirs","status":"closed","notes":"call Bob"}`
	for second, redundant := range map[string]bool{theirs: false, ours: true, strings.TrimSuffix(ours, "}") + `,"comments":[{"text":"a"}]}`: false} {
		dir := t.TempDir()
		write(t, dir, map[string]string{".beads/issues.jsonl": ours + "\n" + second + "\n"})
		s, err := beads.Open(t.Context(), beads.Config{Name: "b", Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		c, err := conflict.Find(t.Context(), s, "x-2#2", conflict.Options{})
		if err != nil || c.Redundant != redundant {
			t.Errorf("%s: redundant %t, %s, %v", second, c.Redundant, c.Reason, err)
		}
		beside, err := conflict.Compare(t.Context(), s, c)
		if err != nil || beside.Redundant != redundant || slices.ContainsFunc(beside.Front, func(f conflict.FieldPair) bool { return !f.Same() }) == redundant {
			t.Errorf("%s: %+v, %v", second, beside.Front, err)
		}
	}
}
