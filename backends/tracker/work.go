package tracker

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// WorkItems returns the requested items. Ready items are open, with no blocker and no human needed. In the published
// JSONL store any recorded blocker blocks, even a closed one (B14); in the others a closed one does not.
func (a *adapter) WorkItems(ctx context.Context, req model.WorkRequest) (model.WorkResult, error) {
	if err := a.begin(ctx, "work", false); err != nil {
		return model.WorkResult{}, err
	}
	v, err := a.view(ctx, "work")
	if err != nil {
		return model.WorkResult{}, err
	}
	q := ParseQuery(req.Query)
	res := model.WorkResult{Items: []model.WorkItem{}, Ignored: q.Ignored, Problems: problems(v, false), First: a.DefaultStatus, Last: a.ClosedStatus}
	want, f := snippet.Fold(req.Search), filter(req.Filter)
	related := phaseFamily(v, f)
	children, err := childrenIn(ctx, v, f.Parent)
	if err != nil {
		return model.WorkResult{}, model.Wrap("work", err)
	}
	for i := range v.Len() {
		if i%256 == 0 {
			if err := model.FromContext(ctx, "work"); err != nil {
				return model.WorkResult{}, err
			}
		}
		if req.ID != "" && v.ID(i) != req.ID {
			continue
		}
		b, ok := v.Bead(i)
		if children[b.ID] {
			b.Parent = f.Parent
		}
		switch {
		case !ok, !q.Matches(b), want != "" && !b.holds(want):
			continue
		case related != nil && !related[b.ID], related == nil && !f.matches(b):
			continue
		case req.Ready:
			if free, err := a.isFree(ctx, v, b); err != nil {
				return model.WorkResult{}, model.Wrap("work", err)
			} else if !free {
				continue
			}
		}
		res.Total++
		if req.Limit == 0 || len(res.Items) < req.Limit {
			res.Items = append(res.Items, model.WorkItem(b))
		}
	}
	return res, nil
}

// childrenIn returns the children of an item according to its pairs: not every bead tells its parent.
func childrenIn(ctx context.Context, v View, parent string) (map[string]bool, error) {
	if parent == "" || v.Find(parent) < 0 {
		return nil, nil
	}
	pairs, err := v.Of(ctx, parent)
	out := map[string]bool{}
	for _, d := range pairs {
		if d.Kind == "parent-child" && d.Blocker == parent {
			out[d.Blocked] = true
		}
	}
	return out, err
}

// phaseFamily returns the items that a phase matches, with their ancestors and descendants; nil
// for a filter without a phase.
func phaseFamily(v View, f filter) map[string]bool {
	if !f.phase() {
		return nil
	}
	var all []Bead
	in := map[string]bool{}
	for i := range v.Len() {
		if b, ok := v.Bead(i); ok {
			all = append(all, b)
			if f.matches(b) {
				in[b.ID] = true
			}
		}
	}
	relatives(all, in)
	return in
}

// holds is the published search: a substring of id, aliases, title or description, ignoring case (B16).
func (b Bead) holds(folded string) bool {
	return slices.ContainsFunc(append([]string{b.ID, b.Title, b.Description}, b.Aliases...), func(s string) bool { return strings.Contains(snippet.Fold(s), folded) })
}

// isFree reports whether an item can be begun. In a store of files a closed blocker blocks too.
func (a *adapter) isFree(ctx context.Context, v View, b Bead) (bool, error) {
	if !b.Queued() {
		return false, nil
	}
	blocks := func(d model.Dependency) bool {
		if d.Blocked != b.ID || !Blocks(d.Kind) {
			return false
		}
		i := v.Find(d.Blocker)
		if a.Lines || i < 0 {
			return true
		}
		other, ok := v.Bead(i)
		return !ok || other.Status != "closed" && !Terminal(other.State)
	}
	pairs, err := v.Of(ctx, b.ID)
	return !slices.ContainsFunc(pairs, blocks), err
}

// Dependencies lists the pairs with the item on either side.
func (a *adapter) Dependencies(ctx context.Context, id string) ([]model.Dependency, error) {
	if err := a.begin(ctx, "dependencies", false); err != nil {
		return nil, err
	}
	v, err := a.view(ctx, "dependencies")
	if err != nil {
		return nil, err
	}
	if v.Find(id) < 0 {
		return nil, absent("dependencies", id)
	}
	out, err := v.Of(ctx, id)
	return out, model.Wrap("dependencies", err)
}
