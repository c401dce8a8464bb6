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
		if got := entryNames(undo.Entry{Side: undo.Side{Item: "x.md", Beside: line(text)}}, "tea", names); got != want {
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
		"a relation that stays": {undo.Entry{Side: undo.Side{Item: "hub", Beside: seat("edge/likes-ada", "")}}, true},
		"its role":              {undo.Entry{Side: undo.Side{Item: "hub", Beside: seat("edge/1", "friend of ada")}}, true},
		"one of a part":         {undo.Entry{Side: undo.Side{Item: "hub"}, Parts: []undo.Part{{Item: "edge/1", Beside: seat("edge/likes-ada", "")}}}, true},
		"a relation that falls": {undo.Entry{Side: undo.Side{Item: "hub"}, Falls: []string{"edge/1", "edge/likes-ada"}}, true},
		"relations of nobody":   {undo.Entry{Side: undo.Side{Item: "hub", Beside: seat("edge/1", "part")}, Falls: []string{"edge/2"}}, false},
	} {
		if got := entryNames(tt.e, "", names); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUndoEntryNamesByAFieldsName: the name of a field or a column, and a number, are in the entry's file too.
func TestUndoEntryNamesByAFieldsName(t *testing.T) {
	names := func(s string) bool { return strings.Contains(s, "ada") || s == "4711471" }
	cell := func(c model.BesideCell) *model.Beside {
		return &model.Beside{Rows: []model.BesideRow{{Table: "t", Cells: []model.BesideCell{c}}}}
	}
	for name, e := range map[string]undo.Entry{
		"a revision, which a store makes": {Side: undo.Side{After: "4711471"}},
		"the revision before it":          {Side: undo.Side{Before: "4711471"}},
		"a foretold revision":             {Side: undo.Side{Will: "4711471"}},
		"the id before it":                {Side: undo.Side{Item: "x", Was: "of/ada"}},
		"a field that is made anew":       {Renewed: []string{"ada_role"}},
		"a field":                         {Side: undo.Side{Meta: []model.Field{{Name: "ada_role", Value: "buyer"}}}},
		"a column":                        {Side: undo.Side{Beside: cell(model.BesideCell{Column: "ada", Type: model.CellInteger, Value: "1"})}},
		"a table":                         {Side: undo.Side{Beside: &model.Beside{Rows: []model.BesideRow{{Table: "of_ada"}}}}},
		"a vector's model":                {Side: undo.Side{Beside: &model.Beside{VectorModel: "ada-002"}}},
		"what an edit left":               {Side: undo.Side{Beside: &model.Beside{Left: "4711471"}}},
		"a number":                        {Side: undo.Side{Beside: cell(model.BesideCell{Column: "who", Type: model.CellInteger, Value: "4711471"})}},
	} {
		if !entryNames(e, "tea", names) {
			t.Errorf("%s does not name the subject", name)
		}
	}
}

// TestNamelessText: of names that overlap nothing may stay.
func TestNamelessText(t *testing.T) {
	n := nameless{erased: func(string) []span { return []span{{5, 10}, {5, 15}, {11, 22}, {25, 26}} }}
	if got, want := n.text("crew/Maren Holt Jensen/x/y/z"), "crew/"+Erased+"/x/"+Erased+"/z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
