package work

import (
	"context"

	"memdesk/model"
)

// Port is the published BackendPort: twelve methods (B1). None of them fails by an
// error or a panic: the result says what happened (B3). repo names the repository,
// empty the one that the port is bound to; another one is INVALID_INPUT.
type Port interface {
	// List gives every work item that the filter passes.
	List(ctx context.Context, f model.WorkFilter, repo string) Result[[]model.WorkItem]
	// ListReady gives the items that can be begun (B14).
	ListReady(ctx context.Context, f model.WorkFilter, repo string) Result[[]model.WorkItem]
	// Search finds a substring of id, aliases, title or description, case apart (B16).
	Search(ctx context.Context, text string, f model.WorkFilter, repo string) Result[[]model.WorkItem]
	// Query reads the published language (B17); Ignored of the result names the terms
	// that matched everything. Nothing may be changed on such a result.
	Query(ctx context.Context, query string, repo string) Result[[]model.WorkItem]
	// Get gives one item or NOT_FOUND.
	Get(ctx context.Context, id, repo string) Result[model.WorkItem]
	// Create makes an item and gives its id.
	Create(ctx context.Context, d Draft, repo string) Result[string]
	// Update changes what the change names; a nil field stays.
	Update(ctx context.Context, id string, c Change, repo string) Result[model.WorkItem]
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
	// Capabilities tells what of this works, by the published names (B7).
	Capabilities() map[string]bool
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
