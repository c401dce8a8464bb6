package gdpr

import (
	"slices"
	"strings"

	"memdesk/model"
)

// Beside is a value that the scrub edits in an item's record and that is none of the
// item's fields: who made a work item, who commented on it, what its program alone
// knows.
type Beside struct {
	Path   string `json:"path"` // in the record
	Before string `json:"before"`
	After  string `json:"after"`
}

// Edited is an item's text before and after a redaction, for people to compare: the
// metadata stands in front of the body where it is edited too, and behind it what the
// scrub edits beside the fields.
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

// planned gives the answer to whether a value beside an item's fields may be edited:
// only as the plan has it. The place in the record is not compared: what Retain writes
// before the scrub can move it.
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
