package tracker

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// Desk is the published port over a backend.
type Desk struct {
	Backend Backend
	Can     Capabilities
	NewID   func() string // nil: the backend makes ids
	Repo    string        // that the port is bound to
	Initial string        // the status of a new item; empty: open
	Closed  string        // the status that close leads to; empty: closed
}

var (
	_ Port  = Desk{}
	_ Newer = Desk{}
)

// Capabilities tells what works.
func (d Desk) Capabilities() Capabilities { return d.Can }

// begin checks the repository, the context and the capability.
func (d Desk) begin(ctx context.Context, op, repo string, can bool) error {
	switch {
	case repo != "" && repo != d.Repo:
		return model.Errorf(model.InvalidInput, op, "the port is bound to another repository")
	case !can:
		return model.Errorf(model.Unsupported, op, "this store cannot do that")
	}
	return model.FromContext(ctx, op)
}

func (d Desk) beads(ctx context.Context, op, repo string, can bool) ([]Bead, View, error) {
	if err := d.begin(ctx, op, repo, can); err != nil {
		return nil, nil, err
	}
	v, err := d.Backend.View(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := []Bead{}
	for i := range v.Len() {
		if b, ok := v.Bead(i); ok {
			out = append(out, b)
		}
	}
	return out, v, nil
}

// List gives every item that the filter passes.
func (d Desk) List(ctx context.Context, f Filter, repo string) Result[[]Bead] {
	all, _, err := d.beads(ctx, "list", repo, true)
	return answer(f.apply(all), err)
}

// ListReady gives what can be begun.
func (d Desk) ListReady(ctx context.Context, f Filter, repo string) Result[[]Bead] {
	all, v, err := d.beads(ctx, "ready", repo, d.Can.ListReady)
	if err != nil {
		return fail[[]Bead](err)
	}
	var failed error
	free := readyIn(ctx, v, &failed)
	all = slices.DeleteFunc(all, func(b Bead) bool { return !free(v.Find(b.ID)) })
	return answer(f.apply(all), failed)
}

// Search finds a substring, case apart.
func (d Desk) Search(ctx context.Context, text string, f Filter, repo string) Result[[]Bead] {
	all, _, err := d.beads(ctx, "search", repo, d.Can.Search)
	if err != nil {
		return fail[[]Bead](err)
	}
	want := snippet.Fold(text)
	all = slices.DeleteFunc(all, func(b Bead) bool {
		return !slices.ContainsFunc(append([]string{b.ID, b.Title, b.Description}, b.Aliases...), func(s string) bool { return strings.Contains(snippet.Fold(s), want) })
	})
	return succeed(f.apply(all))
}

// Query reads the published language.
func (d Desk) Query(ctx context.Context, query string, repo string) Result[[]Bead] {
	all, _, err := d.beads(ctx, "query", repo, d.Can.Query)
	if err != nil {
		return fail[[]Bead](err)
	}
	q := ParseQuery(query)
	all = slices.DeleteFunc(all, func(b Bead) bool { return !q.Matches(b) })
	r := succeed(all)
	r.Ignored = q.Ignored
	return r
}

// Get gives one item.
func (d Desk) Get(ctx context.Context, id, repo string) Result[Bead] {
	if err := d.begin(ctx, "get", repo, true); err != nil {
		return fail[Bead](err)
	}
	v, err := d.Backend.View(ctx)
	if err != nil {
		return fail[Bead](err)
	}
	if i := v.Find(id); i >= 0 {
		if b, ok := v.Bead(i); ok {
			return succeed(b)
		}
	}
	return fail[Bead](missing("get", id))
}

func missing(op, id string) error { return model.Errorf(model.NotFound, op, "Beat %s not found", id) }

// Create makes an item.
func (d Desk) Create(ctx context.Context, draft Draft, repo string) Result[string] {
	if err := d.begin(ctx, "create", repo, d.Can.Create); err != nil {
		return fail[string](err)
	}
	if strings.TrimSpace(draft.Title) == "" {
		return fail[string](model.Errorf(model.InvalidInput, "create", "an item needs a title"))
	}
	id := draft.ID
	if id == "" && d.NewID != nil {
		id = d.NewID()
	} else if id != "" {
		if err := CheckKey(id); err != nil {
			return fail[string](err)
		}
	}
	want := Record{Head: Head{ID: id, Kind: Issue, Tier: orDefault(d.Initial, DefaultStatus)}, Body: draft.Description}
	priority := DefaultPriority
	if draft.Priority != nil {
		priority = *draft.Priority
	}
	for _, f := range [][2]string{
		{FieldTitle, draft.Title}, {FieldStatus, orDefault(d.Initial, DefaultStatus)}, {FieldType, orDefault(draft.Type, DefaultType)}, {FieldPriority, strconv.Itoa(priority)},
		{"labels", JoinNames(draft.Labels)}, {"assignee", draft.Assignee}, {"owner", draft.Owner}, {"parent", draft.Parent},
		{"acceptance_criteria", draft.Acceptance}, {"notes", draft.Notes},
	} {
		if f[1] != "" {
			want.set(f[0], f[1])
		}
	}
	if err := checkFields(Record{}, want); err != nil {
		return fail[string](err)
	}
	got, err := d.Backend.Put(ctx, id, func(_ Record, exists bool) (Record, error) {
		if exists {
			return Record{}, model.Errorf(model.AlreadyExists, "create", "Beat %s already exists", id)
		}
		return want, nil
	})
	return answer(got.ID, err)
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Update changes what the change names.
func (d Desk) Update(ctx context.Context, id string, c Change, repo string) Result[Bead] {
	if err := d.begin(ctx, "update", repo, d.Can.Update); err != nil {
		return fail[Bead](err)
	}
	err := d.edit(ctx, "update", id, func(r *Record) error { return c.apply(r) })
	if err != nil {
		return fail[Bead](err)
	}
	return d.Get(ctx, id, repo)
}

func (c Change) apply(r *Record) error {
	for name, v := range map[string]*string{
		FieldTitle: c.Title, FieldType: c.Type, FieldStatus: c.State, "notes": c.Notes, "acceptance_criteria": c.Acceptance,
		"assignee": c.Assignee, "owner": c.Owner, "parent": c.Parent,
	} {
		if v != nil {
			r.set(name, *v)
		}
	}
	if c.Priority != nil {
		r.set(FieldPriority, strconv.Itoa(*c.Priority))
	}
	if c.Description != nil {
		r.Body = *c.Description
	}
	if len(c.Labels)+len(c.RemoveLabels) == 0 {
		return nil
	}
	out, err := SplitNames(r.Field("labels"))
	if err != nil {
		return model.Errorf(model.InvalidInput, "update", "the labels of %s are no list of texts: edit them as text", r.ID)
	}
	out = append(out, c.Labels...)
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(l string) bool {
		drop := strings.TrimSpace(l) == "" || seen[l] || slices.Contains(c.RemoveLabels, l)
		seen[l] = true
		return drop
	})
	r.set("labels", JoinNames(out))
	return nil
}

// edit changes one work item.
func (d Desk) edit(ctx context.Context, op, id string, change func(*Record) error) error {
	_, err := d.Backend.Put(ctx, id, func(have Record, exists bool) (Record, error) {
		if !exists || have.Kind != Issue {
			return Record{}, missing(op, id)
		}
		want := have
		if err := change(&want); err != nil {
			return Record{}, err
		}
		return want, checkFields(have, want)
	})
	return err
}

// Delete removes an item.
func (d Desk) Delete(ctx context.Context, id, repo string) Result[None] {
	if err := d.begin(ctx, "delete", repo, d.Can.Delete); err != nil {
		return fail[None](err)
	}
	removed, err := d.Backend.Remove(ctx, id, func(r Record) error {
		if r.Kind != Issue {
			return missing("delete", id)
		}
		return nil
	})
	if err == nil && !removed {
		err = missing("delete", id)
	}
	return answer(None{}, err)
}

// Close ends an item.
func (d Desk) Close(ctx context.Context, id, reason, repo string) Result[None] {
	if err := d.begin(ctx, "close", repo, d.Can.Close); err != nil {
		return fail[None](err)
	}
	return answer(None{}, d.edit(ctx, "close", id, func(r *Record) error {
		r.set(FieldStatus, orDefault(d.Closed, "closed"))
		if reason != "" && d.Closed == "" { // a store with an end of its own has no field for why
			r.set("close_reason", reason)
		}
		return nil
	}))
}

// ListDependencies gives the blocking pairs of an item.
func (d Desk) ListDependencies(ctx context.Context, id, kind, repo string) Result[[]model.Dependency] {
	if err := d.begin(ctx, "dependencies", repo, true); err != nil {
		return fail[[]model.Dependency](err)
	}
	v, err := d.Backend.View(ctx)
	if err != nil {
		return fail[[]model.Dependency](err)
	}
	if v.Find(id) < 0 {
		return fail[[]model.Dependency](missing("dependencies", id))
	}
	out := []model.Dependency{}
	all, err := PairsOf(ctx, v, id)
	if err != nil {
		return fail[[]model.Dependency](err)
	}
	for _, dep := range all {
		if (kind == "" || kind == "blocks") && (dep.Kind == "" || dep.Kind == "blocks") {
			out = append(out, dep)
		}
	}
	return succeed(out)
}

// AddDependency adds one pair.
func (d Desk) AddDependency(ctx context.Context, blocker, blocked, repo string) Result[None] {
	return d.relate(ctx, blocker, blocked, repo, true)
}

// RemoveDependency removes one pair.
func (d Desk) RemoveDependency(ctx context.Context, blocker, blocked, repo string) Result[None] {
	return d.relate(ctx, blocker, blocked, repo, false)
}

func (d Desk) relate(ctx context.Context, blocker, blocked, repo string, add bool) Result[None] {
	if err := d.begin(ctx, "depend", repo, d.Can.Dependencies); err != nil {
		return fail[None](err)
	}
	if blocker == blocked {
		return fail[None](model.Errorf(model.InvalidInput, "depend", "an item cannot block itself"))
	}
	return answer(None{}, d.Backend.Relate(ctx, model.Dependency{Blocker: blocker, Blocked: blocked, Kind: "blocks"}, add))
}

func unsupported(what string) Result[None] {
	return fail[None](model.Errorf(model.Unsupported, what, "memdesk drives no agents: use the store's own tools"))
}

// ListWorkflows is UNSUPPORTED, like its five siblings.
func (Desk) ListWorkflows(context.Context, string) Result[None] { return unsupported("list workflows") }

// MarkTerminal is UNSUPPORTED.
func (Desk) MarkTerminal(context.Context, string, string, string) Result[None] {
	return unsupported("mark terminal")
}

// Reopen is UNSUPPORTED.
func (Desk) Reopen(context.Context, string, string) Result[None] { return unsupported("reopen") }

// Rewind is UNSUPPORTED.
func (Desk) Rewind(context.Context, string, string, string) Result[None] {
	return unsupported("rewind")
}

// BuildTakePrompt is UNSUPPORTED.
func (Desk) BuildTakePrompt(context.Context, string, string) Result[None] {
	return unsupported("build take prompt")
}

// BuildPollPrompt is UNSUPPORTED.
func (Desk) BuildPollPrompt(context.Context, string) Result[None] {
	return unsupported("build poll prompt")
}
