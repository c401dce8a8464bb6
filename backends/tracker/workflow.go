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

// IsStateLabel reports whether a label names a workflow state.
func IsStateLabel(label string) bool { return strings.HasPrefix(label, stateLabel) }

// StateLabel is the label of a state.
func StateLabel(state string) string { return stateLabel + state }

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
