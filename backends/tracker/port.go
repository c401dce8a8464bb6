package tracker

import (
	"context"

	"memdesk/model"
)

// Capabilities are what a backend declares (provider-contract.md B7).
type Capabilities struct {
	Create, Update, Delete, Close, Search, Query, ListReady, Dependencies, Labels, Sync bool
	// MaxConcurrency is how many calls at once a backend takes; 0 is no limit.
	MaxConcurrency int
}

// The published presets (B8).
var (
	PresetJSONL = Capabilities{true, true, true, true, true, true, true, true, true, false, 1}
	PresetKnots = Capabilities{true, true, false, true, true, true, true, true, true, true, 1}
	PresetCLI   = Capabilities{true, true, true, true, true, true, true, true, true, true, 0}
	PresetStub  = Capabilities{Search: true, Query: true, ListReady: true}
)

// reading are the capabilities of a store that is open for reading only.
func (c Capabilities) reading() Capabilities {
	return Capabilities{Search: c.Search, Query: c.Query, ListReady: c.ListReady, MaxConcurrency: c.MaxConcurrency}
}

// Features are the flags by their published names.
func (c Capabilities) Features() map[string]bool {
	return map[string]bool{
		"canCreate": c.Create, "canUpdate": c.Update, "canDelete": c.Delete, "canClose": c.Close, "canSearch": c.Search,
		"canQuery": c.Query, "canListReady": c.ListReady, "canManageDependencies": c.Dependencies, "canManageLabels": c.Labels, "canSync": c.Sync,
	}
}

// Port is the published BackendPort: twelve methods (B1). None of them fails by
// an error or a panic: the result says what happened (B3). repo names the
// repository, empty the one that the port is bound to; another one is
// INVALID_INPUT.
type Port interface {
	// List gives every work item that the filter passes.
	List(ctx context.Context, f Filter, repo string) Result[[]Bead]
	// ListReady gives the items that can be begun (B14).
	ListReady(ctx context.Context, f Filter, repo string) Result[[]Bead]
	// Search finds a substring of id, aliases, title or description, case apart (B16).
	Search(ctx context.Context, text string, f Filter, repo string) Result[[]Bead]
	// Query reads the published language (B17); Ignored of the result names the terms
	// that matched everything. Nothing may be changed on such a result.
	Query(ctx context.Context, query string, repo string) Result[[]Bead]
	// Get gives one item or NOT_FOUND.
	Get(ctx context.Context, id, repo string) Result[Bead]
	// Create makes an item and gives its id.
	Create(ctx context.Context, d Draft, repo string) Result[string]
	// Update changes what the change names; a nil field stays.
	Update(ctx context.Context, id string, c Change, repo string) Result[Bead]
	// Delete removes an item for good; an absent one is NOT_FOUND.
	Delete(ctx context.Context, id, repo string) Result[None]
	// Close ends an item.
	Close(ctx context.Context, id, reason, repo string) Result[None]
	// ListDependencies gives the blocking pairs in which the item stands on either
	// side; a kind other than blocks yields nothing (B13).
	ListDependencies(ctx context.Context, id, kind, repo string) Result[[]model.Dependency]
	// AddDependency and RemoveDependency change one pair (B12).
	AddDependency(ctx context.Context, blocker, blocked, repo string) Result[None]
	RemoveDependency(ctx context.Context, blocker, blocked, repo string) Result[None]
	// Capabilities tells what of this works.
	Capabilities() Capabilities
}

// Newer are the six methods that today's port has beside the twelve (B2). They
// drive agents, which memdesk does not: every one answers UNSUPPORTED.
type Newer interface {
	ListWorkflows(ctx context.Context, repo string) Result[None]
	MarkTerminal(ctx context.Context, id, state, repo string) Result[None]
	Reopen(ctx context.Context, id, repo string) Result[None]
	Rewind(ctx context.Context, id, state, repo string) Result[None]
	BuildTakePrompt(ctx context.Context, id, repo string) Result[None]
	BuildPollPrompt(ctx context.Context, repo string) Result[None]
}

// None is the data of a method that has none.
type None struct{}

// Draft is a new item. Empty fields take the published defaults.
type Draft struct {
	ID, Title, Description, Notes, Acceptance string
	Type, Assignee, Owner, Parent             string
	Priority                                  *int
	Labels                                    []string
}

// Change is an edit; nil leaves a field as it is. Labels are added to the ones
// that are there and RemoveLabels taken away, never cleared by omission.
type Change struct {
	Title, Description, Notes, Acceptance *string
	Type, State, Assignee, Owner, Parent  *string
	Priority                              *int
	Labels, RemoveLabels                  []string
}

// Filter is equality on every field that is set, all of them (B15). State queued
// and in_action are phases, which bring the ancestors and descendants of what
// they match with them.
type Filter struct {
	Type, State, Workflow, Label, Assignee, Owner, Parent, Profile, NextOwner string
	Priority                                                                  *int
	Human                                                                     *bool
}

// The phases that a filter's state may name.
const (
	PhaseQueued = "queued"
	PhaseAction = "in_action"
)

// Matches applies the filter to one item, phases by the item alone.
func (f Filter) Matches(b Bead) bool {
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
	return f.Label == "" || contains(b.Labels, f.Label)
}

func contains(in []string, s string) bool {
	for _, x := range in {
		if x == s {
			return true
		}
	}
	return false
}

// apply filters a list in its order.
func (f Filter) apply(all []Bead) []Bead {
	in := map[string]bool{}
	out := []Bead{}
	for _, b := range all {
		if f.Matches(b) {
			in[b.ID] = true
		}
	}
	if f.State == PhaseQueued || f.State == PhaseAction {
		relatives(all, in)
	}
	for _, b := range all {
		if in[b.ID] {
			out = append(out, b)
		}
	}
	return out
}

// relatives adds the ancestors and descendants of what is in.
func relatives(all []Bead, in map[string]bool) {
	parent := map[string]string{}
	for _, b := range all {
		parent[b.ID] = b.Parent
	}
	up := map[string]bool{}
	for id := range in {
		for p := parent[id]; p != "" && !up[p]; p = parent[p] {
			up[p] = true
		}
	}
	down := map[string]bool{}
	for _, b := range all {
		seen := map[string]bool{b.ID: true}
		for p := b.Parent; p != "" && !seen[p]; p = parent[p] {
			seen[p] = true
			if in[p] {
				down[b.ID] = true
				break
			}
		}
	}
	for _, m := range []map[string]bool{up, down} {
		for id := range m {
			in[id] = true
		}
	}
}
