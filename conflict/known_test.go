package conflict_test

import (
	"context"
	"testing"

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
