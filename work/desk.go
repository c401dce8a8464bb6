package work

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"memdesk/model"
)

// Desk is the published BackendPort over a store that keeps work items: twelve methods (B1). None fails by an
// error or a panic: the result says what happened (B3). repo names the repository; the store is the only one,
// so any other than the empty one is INVALID_INPUT.
type Desk struct {
	Store model.Store
	// Provider makes the changes; nil takes the store's. One that keeps what it
	// displaces makes them undoable.
	Provider model.Provider
	Limit    int // of a list; 0: every item
}

// begin checks the repository, the context and the capability, empty for one that
// every store has.
func (d Desk) begin(ctx context.Context, op, repo, can string) error {
	switch {
	case repo != "":
		return model.Errorf(model.InvalidInput, op, "the port is bound to another repository")
	case d.Store.Work == nil:
		return model.Errorf(model.Unsupported, op, "store %s keeps no work items", d.Store.Name)
	case can != "" && !d.Store.Features[can] && d.Store.ReadOnly:
		return model.Refuse(op, d.Store.ReadOnlyReason)
	case can != "" && !d.Store.Features[can]:
		return model.Errorf(model.Unsupported, op, "this store cannot do that (%s)", can)
	}
	return model.FromContext(ctx, op)
}

func (d Desk) provider() model.Provider {
	if d.Provider != nil {
		return d.Provider
	}
	return d.Store.Provider
}

func (d Desk) list(ctx context.Context, op, repo, can string, req model.WorkRequest) Result[[]model.WorkItem] {
	if err := d.begin(ctx, op, repo, can); err != nil {
		return fail[[]model.WorkItem](err)
	}
	req.Limit = d.Limit
	got, err := d.Store.Work.WorkItems(ctx, req)
	if err != nil {
		return fail[[]model.WorkItem](err)
	}
	r := succeed(got.Items)
	r.Ignored, r.Total, r.Problems = got.Ignored, got.Total, got.Problems
	return r
}

// List gives every item that the filter passes.
func (d Desk) List(ctx context.Context, f model.WorkFilter, repo string) Result[[]model.WorkItem] {
	return d.list(ctx, "list", repo, "", model.WorkRequest{Filter: f})
}

// ListReady gives what can be begun (B14).
func (d Desk) ListReady(ctx context.Context, f model.WorkFilter, repo string) Result[[]model.WorkItem] {
	return d.list(ctx, "ready", repo, "canListReady", model.WorkRequest{Filter: f, Ready: true})
}

// Search finds a substring of id, aliases, title or description, case apart (B16).
func (d Desk) Search(ctx context.Context, text string, f model.WorkFilter, repo string) Result[[]model.WorkItem] {
	return d.list(ctx, "search", repo, "canSearch", model.WorkRequest{Filter: f, Search: text})
}

// Query reads the published language (B17). Ignored of the result names the terms that matched everything: nothing
// may be changed on such a result.
func (d Desk) Query(ctx context.Context, query string, repo string) Result[[]model.WorkItem] {
	return d.list(ctx, "query", repo, "canQuery", model.WorkRequest{Query: query})
}

// Get gives one item or NOT_FOUND.
func (d Desk) Get(ctx context.Context, id, repo string) Result[model.WorkItem] {
	if err := d.begin(ctx, "get", repo, ""); err != nil {
		return fail[model.WorkItem](err)
	}
	item, _, err := d.find(ctx, "get", id)
	return answer(item, err)
}

// find gives an item, and the statuses that begin and end one.
func (d Desk) find(ctx context.Context, op, id string) (model.WorkItem, model.WorkResult, error) {
	if id == "" {
		return model.WorkItem{}, model.WorkResult{}, model.Errorf(model.InvalidInput, op, "which item? Its id is empty")
	}
	got, err := d.Store.Work.WorkItems(ctx, model.WorkRequest{ID: id})
	if err == nil && len(got.Items) == 0 {
		err = missing(op, id)
	}
	if err != nil {
		return model.WorkItem{}, got, err
	}
	return got.Items[0], got, nil
}

func missing(op, id string) error { return model.Errorf(model.NotFound, op, "Beat %s not found", id) }

// Create makes an item and gives its id.
func (d Desk) Create(ctx context.Context, draft Draft, repo string) Result[string] {
	if err := d.begin(ctx, "create", repo, "canCreate"); err != nil {
		return fail[string](err)
	}
	if strings.TrimSpace(draft.Title) == "" {
		return fail[string](model.Errorf(model.InvalidInput, "create", "an item needs a title"))
	}
	shape, err := d.Store.Work.WorkItems(ctx, model.WorkRequest{ID: draft.ID, Limit: 1})
	switch {
	case err != nil:
		return fail[string](err)
	case draft.ID != "" && len(shape.Items) > 0:
		return fail[string](model.Errorf(model.AlreadyExists, "create", "Beat %s already exists", draft.ID))
	}
	req := model.RetainRequest{Tier: shape.First, Key: draft.ID, Mode: model.Replace, Content: draft.Description, Meta: draft.fields()}
	if draft.ID != "" {
		req.IfMatch = model.Absent
	}
	res, err := d.provider().Retain(ctx, req)
	return answer(res.ID, err)
}

// fields are the members of a draft by the names of the document's fields.
func (draft Draft) fields() []model.Field {
	out := []model.Field{}
	for _, f := range []model.Field{
		{Name: "title", Value: draft.Title}, {Name: "type", Value: draft.Type}, {Name: "labels", Value: join(draft.Labels)}, {Name: "assignee", Value: draft.Assignee},
		{Name: "owner", Value: draft.Owner}, {Name: "parent", Value: draft.Parent}, {Name: "acceptance_criteria", Value: draft.Acceptance}, {Name: "notes", Value: draft.Notes},
	} {
		if f.Value != "" {
			out = append(out, f)
		}
	}
	if draft.Priority != nil {
		out = append(out, model.Field{Name: "priority", Value: strconv.Itoa(*draft.Priority)})
	}
	return out
}

// Update changes what the change names; a nil field stays.
func (d Desk) Update(ctx context.Context, id string, c Change, repo string) Result[model.WorkItem] {
	if err := d.begin(ctx, "update", repo, "canUpdate"); err != nil {
		return fail[model.WorkItem](err)
	}
	if err := d.edit(ctx, "update", id, c.apply); err != nil {
		return fail[model.WorkItem](err)
	}
	return d.Get(ctx, id, repo)
}

func (c Change) apply(doc *model.Document) error {
	for _, f := range c.fields() {
		set(doc, f.Name, f.Value)
	}
	if c.Priority != nil {
		set(doc, "priority", strconv.Itoa(*c.Priority))
	}
	if c.Description != nil {
		doc.Body = *c.Description
	}
	if len(c.Labels)+len(c.RemoveLabels) == 0 {
		return nil
	}
	out, err := split(field(*doc, "labels"))
	if err != nil {
		return model.Errorf(model.InvalidInput, "update", "the labels of the item are no list of texts: edit them as text")
	}
	out = append(out, c.Labels...)
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(l string) bool {
		drop := strings.TrimSpace(l) == "" || seen[l] || slices.Contains(c.RemoveLabels, l)
		seen[l] = true
		return drop
	})
	set(doc, "labels", join(out))
	return nil
}

// editAttempts is how often an edit is made anew when another writer was faster.
const editAttempts = 20

// edit changes the document of one work item, from the text as it stands.
func (d Desk) edit(ctx context.Context, op, id string, change func(*model.Document) error) error {
	var last model.Revision
	for range editAttempts {
		if _, _, err := d.find(ctx, op, id); err != nil {
			return err
		}
		it, err := d.Store.Browser.Read(ctx, id)
		if errors.Is(err, model.NotFound) {
			return missing(op, id)
		}
		if err != nil {
			return err
		}
		doc := model.Document{Body: it.Body, Meta: slices.DeleteFunc(slices.Clone(it.Meta), func(f model.Field) bool { return f.ReadOnly })}
		if err := change(&doc); err != nil {
			return err
		}
		_, err = d.provider().Retain(ctx, model.RetainRequest{ID: id, Mode: model.Replace, Content: doc.Body, Meta: doc.Meta, IfMatch: it.Revision})
		if !errors.Is(err, model.Conflict) || it.Revision == last { // a refusal, not another writer
			return err
		}
		last = it.Revision
	}
	return model.Errorf(model.Conflict, op, "other writers change %s again and again", id)
}

// Delete removes an item for good; an absent one is NOT_FOUND.
func (d Desk) Delete(ctx context.Context, id, repo string) Result[None] {
	if err := d.begin(ctx, "delete", repo, "canDelete"); err != nil {
		return fail[None](err)
	}
	if _, _, err := d.find(ctx, "delete", id); err != nil {
		return fail[None](err)
	}
	res, err := d.provider().Forget(ctx, model.ForgetRequest{ID: id})
	if err == nil && res.Removed == 0 {
		err = missing("delete", id)
	}
	out := answer(None{}, err)
	out.Warnings = res.Warnings
	return out
}

// Close ends an item.
func (d Desk) Close(ctx context.Context, id, reason, repo string) Result[None] {
	if err := d.begin(ctx, "close", repo, "canClose"); err != nil {
		return fail[None](err)
	}
	_, shape, err := d.find(ctx, "close", id)
	if err != nil {
		return fail[None](err)
	}
	return answer(None{}, d.edit(ctx, "close", id, func(doc *model.Document) error {
		set(doc, "status", shape.Last)
		if reason != "" && shape.Last == "closed" { // a store with an end of its own has no field for why
			set(doc, "close_reason", reason)
		}
		return nil
	}))
}

// ListDependencies gives the blocking pairs in which the item stands on either side; a kind other than blocks
// yields nothing (B13).
func (d Desk) ListDependencies(ctx context.Context, id, kind, repo string) Result[[]model.Dependency] {
	if err := d.begin(ctx, "dependencies", repo, ""); err != nil {
		return fail[[]model.Dependency](err)
	}
	if _, _, err := d.find(ctx, "dependencies", id); err != nil {
		return fail[[]model.Dependency](err)
	}
	all, err := d.Store.Work.Dependencies(ctx, id)
	if err != nil {
		return fail[[]model.Dependency](err)
	}
	out := []model.Dependency{}
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

// relate edits the field depends of the item that waits (B12).
func (d Desk) relate(ctx context.Context, blocker, blocked, repo string, add bool) Result[None] {
	if err := d.begin(ctx, "depend", repo, "canManageDependencies"); err != nil {
		return fail[None](err)
	}
	if blocker == blocked {
		return fail[None](model.Errorf(model.InvalidInput, "depend", "an item cannot block itself"))
	}
	if _, _, err := d.find(ctx, "depend", blocker); err != nil {
		return fail[None](err)
	}
	return answer(None{}, d.edit(ctx, "depend", blocked, func(doc *model.Document) error {
		ids, err := split(field(*doc, "depends"))
		if err != nil {
			return model.Errorf(model.InvalidInput, "depend", "the field depends is no list of ids: edit it as text")
		}
		at := slices.Index(ids, blocker)
		switch {
		case add && at >= 0:
			return model.Errorf(model.AlreadyExists, "depend", "Dependency %s -> %s already exists", blocker, blocked)
		case add:
			ids = append(ids, blocker)
		case at < 0:
			return model.Errorf(model.NotFound, "depend", "Dependency %s -> %s not found", blocker, blocked)
		default:
			ids = slices.Delete(ids, at, at+1)
		}
		set(doc, "depends", join(ids))
		return nil
	}))
}

func field(doc model.Document, name string) string {
	for _, f := range doc.Meta {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func set(doc *model.Document, name, value string) {
	for i, f := range doc.Meta {
		if f.Name == name {
			doc.Meta[i].Value = value
			return
		}
	}
	doc.Meta = append(doc.Meta, model.Field{Name: name, Value: value})
}

// join writes a list as a field's value: with commas where every name is plain, else
// as a JSON array; split reads both.
func join(names []string) string {
	plain := !slices.ContainsFunc(names, func(n string) bool {
		return n == "" || strings.TrimSpace(n) != n || strings.ContainsAny(n, ",[")
	})
	if plain {
		return strings.Join(names, ", ")
	}
	b, _ := json.Marshal(names) // texts always encode
	return string(b)
}

func split(s string) ([]string, error) {
	var out []string
	if strings.HasPrefix(strings.TrimSpace(s), "[") {
		return out, json.Unmarshal([]byte(s), &out)
	}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out, nil
}
