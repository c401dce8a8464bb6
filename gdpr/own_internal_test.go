package gdpr

import (
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/undo"
)

// TestUndoEntryNamesByItsIndexLine: an index line in an undo entry is text of the subject too.
func TestUndoEntryNamesByItsIndexLine(t *testing.T) {
	names := func(s string) bool { return strings.Contains(s, "Ada") }
	line := func(text string) *model.Beside { return &model.Beside{Lines: []model.BesideLine{{Text: text}}} }
	for text, want := range map[string]bool{"- [about Ada](x.md)\n": true, "- [tides](x.md)\n": false} {
		if got := entryNames(undo.Entry{Item: "x.md", Beside: line(text)}, "tea", names); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestUndoEntryNamesByARelation: an entry keeps the ids of all of a node's relations, and the texts of only some.
func TestUndoEntryNamesByARelation(t *testing.T) {
	names := func(s string) bool { return strings.Contains(s, "ada") }
	seat := func(id, role string) *model.Beside {
		return &model.Beside{Seats: []model.Seat{{Relation: id, Role: role}}}
	}
	for name, tt := range map[string]struct {
		e    undo.Entry
		want bool
	}{
		"a relation that stays": {undo.Entry{Item: "hub", Beside: seat("edge/likes-ada", "")}, true},
		"its role":              {undo.Entry{Item: "hub", Beside: seat("edge/1", "friend of ada")}, true},
		"one of a part":         {undo.Entry{Item: "hub", Parts: []undo.Part{{Item: "edge/1", Beside: seat("edge/likes-ada", "")}}}, true},
		"a relation that falls": {undo.Entry{Item: "hub", Falls: []string{"edge/1", "edge/likes-ada"}}, true},
		"relations of nobody":   {undo.Entry{Item: "hub", Beside: seat("edge/1", "part"), Falls: []string{"edge/2"}}, false},
	} {
		if got := entryNames(tt.e, "", names); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
