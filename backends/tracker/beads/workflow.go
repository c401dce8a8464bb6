package beads

import (
	"slices"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// moved makes the workflow label and the status of a changed item agree, following the one that was changed:
// Foolery treats the label as the truth and the status as its shadow, and its next write would undo a status
// that contradicts the label (beads-foolery-knots.md, Foolery: label and status). An item without such a
// label gets none.
func moved(have, want tracker.Record) (tracker.Record, error) {
	labels, err := tracker.SplitNames(want.Field(fieldLabels))
	if err != nil {
		return want, model.Errorf(model.InvalidInput, "retain", "labels: it begins as a JSON array of texts and is none")
	}
	before, _ := tracker.SplitNames(have.Field(fieldLabels)) // not a list: no label
	state, profile := tracker.WorkflowOf(labels)
	was, _ := tracker.WorkflowOf(before)
	status := want.Field(tracker.FieldStatus)
	if state == "" || state == was && status == have.Field(tracker.FieldStatus) || tracker.StatusOf(state) == status {
		return want, nil
	}
	switch made := have.ID == ""; {
	case state != was && (made && status == tracker.DefaultStatus || !made && status == have.Field(tracker.FieldStatus)):
		return want.With(tracker.FieldStatus, tracker.StatusOf(state)), nil
	case made: // a restored item
		return want, nil
	case state != was:
		return want, model.Errorf(model.InvalidInput, "retain", "the label wf:state:%s means the status %s, and the status says %s: change one of them", state, tracker.StatusOf(state), status)
	}
	next := tracker.StateOf(status, profile)
	at := slices.IndexFunc(labels, tracker.IsStateLabel)
	labels[at] = tracker.StateLabel(next)
	labels = slices.DeleteFunc(labels, func(l string) bool { return tracker.IsStateLabel(l) && l != labels[at] })
	return want.With(fieldLabels, tracker.JoinNames(labels)), nil
}
