package gdpr

import (
	"slices"
	"strings"

	"memdesk/model"
)

// Beside is a value that the scrub edits in an item's record and that is none of the item's fields: the
// author of a work item, a commenter, data that only the tracker's program knows.
type Beside struct {
	Path   string `json:"path"` // path in the record
	Before string `json:"before"`
	After  string `json:"after"`
}

// Edited returns an item's text before and after a redaction, for people to compare: edited metadata before
// the body, and after it the values that the scrub edits beside the fields.
func (st Step) Edited(it model.Item) (before, after string) {
	before, after = plain(it), st.NewBody
	if st.NewMeta != nil {
		old := slices.DeleteFunc(slices.Clone(it.Meta), func(f model.Field) bool { return f.ReadOnly })
		before, after = model.Document{Meta: old, Body: plain(it)}.Encode(model.Structured), model.Document{Meta: st.NewMeta, Body: st.NewBody}.Encode(model.Structured)
	}
	if len(st.Beside) == 0 {
		return before, after
	}
	const head = "beside its fields, in its line:"
	was, will := []string{strings.TrimSuffix(before, "\n"), "", head}, []string{strings.TrimSuffix(after, "\n"), "", head}
	for _, b := range st.Beside {
		was, will = append(was, "  "+b.Path+": "+b.Before), append(will, "  "+b.Path+": "+b.After)
	}
	return strings.Join(was, "\n") + "\n", strings.Join(will, "\n") + "\n"
}

// planned returns a filter that lets the scrub edit a value beside an item's fields only if the plan lists
// it. The path in the record is not compared: the Retain before the scrub can move it.
func (sp *StorePlan) planned(refused func(layer string)) func(model.RecordEdit) bool {
	known := map[[3]string]bool{}
	for _, st := range sp.Steps {
		for _, b := range st.Beside {
			known[[3]string{st.ID, b.Before, b.After}] = true
		}
	}
	return func(e model.RecordEdit) bool {
		if known[[3]string{e.ID, e.Before, e.After}] {
			return true
		}
		refused(e.Layer)
		return false
	}
}
