package operator

import (
	"testing"

	"memdesk/model"
	"memdesk/origin"
)

// TestTheEntryOfAHeldWrite carries the write itself: words for people tell nobody what its release would do.
func TestTheEntryOfAHeldWrite(t *testing.T) {
	s := newSession(t, func(*Options) {})
	req := model.RetainRequest{Mode: model.Append, Tier: "session", Key: "tide", Content: "at six\n", Meta: []model.Field{{Name: "mode", Value: "calm"}}}
	h, err := s.Shelf.Put(origin.Held{Store: "inmem", Request: req, Category: origin.CategoryOrigin})
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Quarantine().Entry(t.Context(), "inmem", h.ID)
	if err != nil || e.Held == nil || e.Held.Request.Mode != req.Mode || e.Held.Request.Key != req.Key || len(e.Held.Request.Meta) != 1 {
		t.Errorf("%+v, %v", e.Held, err)
	}
}
