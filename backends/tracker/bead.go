package tracker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/model"
)

// Bead is a work item with the rules for reading it.
type Bead model.WorkItem

// The types and the priority that the published store defaults to.
const (
	DefaultType     = "task"
	DefaultStatus   = "open"
	DefaultPriority = 2
)

// Normalise reads a bead like the published store: values out of range become the default, the workflow comes
// from the labels, a missing parent from the id (beads-foolery-knots.md, Foolery JSONL files).
func (b *Bead) Normalise() {
	b.Type, b.Status = cmp.Or(b.Type, DefaultType), cmp.Or(b.Status, DefaultStatus)
	if b.Priority < 0 || b.Priority > 4 {
		b.Priority = DefaultPriority
	}
	if b.Parent == "" {
		if i := strings.LastIndexByte(b.ID, '.'); i > 0 {
			b.Parent = b.ID[:i]
		}
	}
	b.Labels = slices.DeleteFunc(slices.Clone(b.Labels), func(l string) bool { return strings.TrimSpace(l) == "" })
	if b.Labels == nil {
		b.Labels = []string{}
	}
	state, profile := WorkflowOf(b.Labels)
	if b.State == "" && state != "" {
		b.State, b.Status = state, StatusOf(state) // the status follows the label
	}
	b.Profile = cmp.Or(b.Profile, profile)
	b.State = cmp.Or(b.State, b.Status)
}

// Queued reports whether the bead's own state allows a beginning (B14): the open phase, or a workflow state
// that waits for an agent.
func (b Bead) Queued() bool {
	return b.Status == DefaultStatus && !b.Human && !b.Aside && !Terminal(b.State)
}

// Time reads a program's time; zero for any other text.
func Time(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Terminal reports whether a state is final.
func Terminal(state string) bool {
	return slices.Contains([]string{"closed", "shipped", "abandoned", TierTombstone}, state)
}

func (b Bead) value(field string) ([]string, bool) {
	switch field {
	case "status", "state", "workflowstate":
		return []string{b.State, b.Status}, true
	case "workflow", "workflowid":
		return []string{b.Workflow}, true
	case "profile", "profileid":
		return []string{b.Profile}, true
	case "human", "requireshumanaction":
		return []string{strconv.FormatBool(b.Human)}, true
	case "nextowner", "nextownerkind":
		return []string{b.NextOwner}, true
	case "type":
		return []string{b.Type}, true
	case "priority":
		return []string{strconv.Itoa(b.Priority)}, true
	case "assignee":
		return []string{b.Assignee}, true
	case "label":
		return b.Labels, true
	case "owner":
		return []string{b.Owner}, true
	case "parent":
		return []string{b.Parent}, true
	}
	return nil, false
}
