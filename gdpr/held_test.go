package gdpr_test

import (
	"path/filepath"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
	"memdesk/origin"
)

// TestHeldWritesOfErasedItems: a write that waits for a review goes with the item that it addresses, whatever its
// own text says: a release would bring the item back.
func TestHeldWritesOfErasedItems(t *testing.T) {
	w := newWorld(t)
	w.fill()
	shelf := origin.OpenShelf(filepath.Join(w.desk.State, "held"), func() error { return nil })
	w.desk.Traces = []gdpr.Trace{shelf}
	hold := func(h origin.Held) {
		t.Helper()
		h.Store, h.Category = "db", origin.CategoryOrigin
		if _, err := shelf.Put(h); err != nil {
			t.Fatal(err)
		}
	}
	hold(origin.Held{Request: model.RetainRequest{ID: "n1", Content: "prefers coffee", Mode: model.Replace}})
	hold(origin.Held{Item: "n2", Request: model.RetainRequest{Tier: "longterm", Key: "n2", Content: "moved", Mode: model.Append}})
	hold(origin.Held{Request: model.RetainRequest{ID: "b1", Content: "of a field", Mode: model.Append, Meta: []model.Field{{Name: "note", Value: "asked by\n" + mail}}}})
	hold(origin.Held{Request: model.RetainRequest{ID: "b1", Content: "by her program", Mode: model.Append}, Writer: origin.Writer{Session: "of " + ana}})
	hold(origin.Held{Request: model.RetainRequest{ID: "b1", Content: "likes tea", Mode: model.Append}})
	w.complete(w.plan(w.file().ID))
	left, damaged, err := shelf.List("")
	if err != nil || len(damaged) > 0 || len(left) != 1 || left[0].Request.Content != "likes tea" {
		t.Errorf("%d held writes stay: %+v %q %v", len(left), left, damaged, err)
	}
}
