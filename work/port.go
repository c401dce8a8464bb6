package work

import "memdesk/model"

// None is the data of a method that has none.
type None struct{}

// Draft is a new item. Empty fields take the published defaults.
type Draft struct {
	ID, Title, Description, Notes, Acceptance string
	Type, Assignee, Owner, Parent             string
	Priority                                  *int
	Labels                                    []string
}

// Change is an edit; nil leaves a field as it is. Labels are added to the ones that
// are there and RemoveLabels taken away, never cleared by omission.
type Change struct {
	Title, Description, Notes, Acceptance *string
	Type, State, Assignee, Owner, Parent  *string
	Priority                              *int
	Labels, RemoveLabels                  []string
}

// fields are the members of a change by the names of the document's fields.
func (c Change) fields() []model.Field {
	var out []model.Field
	for _, f := range []struct {
		name  string
		value *string
	}{
		{"title", c.Title}, {"type", c.Type}, {"status", c.State}, {"notes", c.Notes}, {"acceptance_criteria", c.Acceptance},
		{"assignee", c.Assignee}, {"owner", c.Owner}, {"parent", c.Parent},
	} {
		if f.value != nil {
			out = append(out, model.Field{Name: f.name, Value: *f.value})
		}
	}
	return out
}
