package operator

import (
	"testing"

	"memdesk/model"
	"memdesk/undo"
)

// TestUndosTellWhatEachSideWas: an entry of several changes must say which of its items an undo removes.
func TestUndosTellWhatEachSideWas(t *testing.T) {
	s := newSession(t, func(*Options) {})
	if _, err := s.Retain(t.Context(), "inmem", model.RetainRequest{Tier: "session", ID: "old", Content: "old\n", Mode: model.Replace}, ""); err != nil {
		t.Fatal(err)
	}
	st, err := s.Fleet.Store("inmem")
	if err != nil {
		t.Fatal(err)
	}
	made := func(id string) undo.Change {
		return undo.Change{Retain: &model.RetainRequest{ID: id, Content: "made\n", Mode: model.Replace, IfMatch: model.Absent}}
	}
	for _, changes := range [][]undo.Change{{made("one")}, {{Forget: &model.ForgetRequest{ID: "old"}}, made("two")}} {
		if _, _, err := s.Undo.Together(t.Context(), st, undo.OpTakeback, changes); err != nil {
			t.Fatal(err)
		}
		rows, _, err := s.Undos(t.Context())
		if err != nil || len(rows) == 0 || len(rows[0].Sides) != len(changes) {
			t.Fatalf("%+v, %v", rows, err)
		}
		for i, c := range changes {
			if it := rows[0].Sides[i]; it.Existed != (c.Forget != nil) {
				t.Errorf("%+v", it)
			}
		}
	}
}
