package tracker

import (
	"slices"
	"strings"
)

// The labels in which Foolery keeps an item's place in its workflow.
const (
	stateLabel   = "wf:state:"
	profileLabel = "wf:profile:"
)

// Settle leaves one state and one profile among the labels of an edited item where the edit adds one: the
// added one. before are the labels that the item had.
func Settle(labels, before []string) []string {
	for _, group := range []string{stateLabel, profileLabel} {
		added := slices.IndexFunc(labels, func(l string) bool { return inGroup(l, group) && !slices.Contains(before, l) })
		if added >= 0 {
			labels = only(labels, group, labels[added])
		}
	}
	return labels
}

// WithState makes state the only one among labels that name a state.
func WithState(labels []string, state string) []string {
	return only(labels, stateLabel, stateLabel+state)
}

// only puts label in the place of the first of its group, and drops the others.
func only(labels []string, group, label string) []string {
	var out []string
	put := false
	for _, l := range labels {
		switch {
		case !inGroup(l, group):
			out = append(out, l)
		case !put:
			out, put = append(out, label), true
		}
	}
	return out
}

// inGroup follows Foolery, which reads labels in lower case.
func inGroup(label, group string) bool { return strings.HasPrefix(strings.ToLower(label), group) }

// WorkflowOf reads state and profile from labels: the first of several, in lower case; empty where there is
// none.
func WorkflowOf(labels []string) (state, profile string) {
	for _, l := range labels {
		l = strings.ToLower(l)
		if s, ok := strings.CutPrefix(l, stateLabel); ok && state == "" {
			state = s
		}
		if p, ok := strings.CutPrefix(l, profileLabel); ok && profile == "" {
			profile = p
		}
	}
	return state, profile
}

// statuses of the states in progress and of ended ones; every other state is open (beads-foolery-knots.md,
// Foolery: label and status).
var statuses = map[string][]string{
	"in_progress": {
		"planning", "plan_review", "implementation", "implementation_review", "shipment", "shipment_review",
		"in_progress", "implementing", "implemented", "reviewing",
	},
	"blocked":  {"blocked", "rejected"},
	"deferred": {"deferred"},
	"closed":   {"shipped", "abandoned", "closed", "done", "approved"},
}

// StatusOf is the status that Foolery writes for a state.
func StatusOf(state string) string {
	for status, states := range statuses {
		if slices.Contains(states, state) {
			return status
		}
	}
	return DefaultStatus
}

// StateOf is the state for a status in a profile; an unnamed profile is autopilot_no_planning. Foolery reads
// blocked as the profile's retake state, which is open; the state blocked preserves the meaning.
func StateOf(status, profile string) string {
	action := "implementation"
	if profile != "" && !strings.HasSuffix(profile, "no_planning") {
		action = "planning"
	}
	switch status {
	case "in_progress":
		return action
	case "blocked", "deferred":
		return status
	case "closed":
		return "shipped"
	}
	return "ready_for_" + action
}
