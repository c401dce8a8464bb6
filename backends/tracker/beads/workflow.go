package beads

import (
	"slices"

	"memdesk/backends/tracker"
	"memdesk/model"
)

// moved makes the workflow label and the status of a changed item agree, following the one that was changed:
// Foolery treats the label as the truth and the status as its shadow, and its next write would undo a status
// that contradicts the label (beads-foolery-knots.md, Foolery: label and status). One state and one profile
// are left. An item without such a label gets none.
func moved(have, want tracker.Record) (tracker.Record, error) {
	given, err := tracker.SplitNames(want.Field(fieldLabels))
	if err != nil && want.Field(fieldLabels) == have.Field(fieldLabels) { // another writer's: no label, and no edit
		return want, nil
	}
	if err != nil {
		return want, err
	}
	before, _ := tracker.SplitNames(have.Field(fieldLabels)) // not a list: no label
	made, labels := have.ID == "", given
	if !made {
		labels = tracker.Settle(given, before)
	}
	state, profile := tracker.WorkflowOf(labels)
	was, _ := tracker.WorkflowOf(before)
	status, stood := want.Field(tracker.FieldStatus), have.Field(tracker.FieldStatus)
	if state != "" && (state != was || status != stood) {
		switch {
		case tracker.StatusOf(state) == status:
		case state != was && (made && status == tracker.DefaultStatus || status == stood):
			want = want.With(tracker.FieldStatus, tracker.StatusOf(state))
		case made: // a restored item
		case state != was:
			return want, model.Errorf(model.InvalidInput, "retain", "the label wf:state:%s means the status %s, and the status says %s: change one of them", state, tracker.StatusOf(state), status)
		default:
			state = tracker.StateOf(status, profile)
		}
		if !made {
			labels = tracker.WithState(labels, state)
		}
	}
	if slices.Equal(labels, given) {
		return want, nil
	}
	return want.With(fieldLabels, tracker.JoinNames(labels)), nil
}
