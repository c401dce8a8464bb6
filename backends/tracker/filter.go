package tracker

import (
	"maps"
	"slices"

	"memdesk/model"
)

// The phases that a filter's state may name.
const (
	PhaseQueued = "queued"
	PhaseAction = "in_action"
)

// filter is a WorkFilter with its matching rules.
type filter model.WorkFilter

// phase reports whether the filter asks for a phase, which includes relatives.
func (f filter) phase() bool { return f.State == PhaseQueued || f.State == PhaseAction }

// matches applies the filter to one item, phases without relatives.
func (f filter) matches(b Bead) bool {
	for _, eq := range [][2]string{
		{f.Type, b.Type}, {f.Workflow, b.Workflow}, {f.Assignee, b.Assignee}, {f.Owner, b.Owner},
		{f.Parent, b.Parent}, {f.Profile, b.Profile}, {f.NextOwner, b.NextOwner},
	} {
		if eq[0] != "" && eq[0] != eq[1] {
			return false
		}
	}
	switch f.State {
	case "", b.State, b.Status:
	case PhaseQueued:
		if b.Status != DefaultStatus {
			return false
		}
	case PhaseAction:
		if b.Status != "in_progress" {
			return false
		}
	default:
		return false
	}
	if f.Priority != nil && *f.Priority != b.Priority || f.Human != nil && *f.Human != b.Human {
		return false
	}
	return f.Label == "" || slices.Contains(b.Labels, f.Label)
}

// relatives adds the ancestors and descendants of included items.
func relatives(all []Bead, in map[string]bool) {
	parent, children := map[string]string{}, map[string][]string{}
	for _, b := range all {
		parent[b.ID] = b.Parent
		children[b.Parent] = append(children[b.Parent], b.ID)
	}
	down := slices.Collect(maps.Keys(in))
	up := map[string]bool{}
	for _, id := range down {
		for p := parent[id]; p != "" && !up[p]; p = parent[p] {
			up[p] = true
		}
	}
	for len(down) > 0 { // each item comes in once: the parents can be a cycle
		id := down[len(down)-1]
		down = down[:len(down)-1]
		for _, child := range children[id] {
			if !in[child] {
				in[child] = true
				down = append(down, child)
			}
		}
	}
	maps.Copy(in, up)
}
