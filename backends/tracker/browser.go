package tracker

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memdesk/model"
)

// Read returns one entry with its dependencies as links.
func (a *adapter) Read(ctx context.Context, id string) (model.Item, error) {
	if err := a.begin(ctx, "read", false); err != nil {
		return model.Item{}, err
	}
	v, err := a.view(ctx, "read")
	if err != nil {
		return model.Item{}, err
	}
	i := v.Find(id)
	if i < 0 {
		return model.Item{}, absent("read", id)
	}
	it, err := a.item(ctx, v, i)
	if err != nil {
		return model.Item{}, err
	}
	pairs, err := v.Of(ctx, it.ID)
	if err != nil {
		return model.Item{}, model.Wrap("read", err)
	}
	for _, d := range pairs {
		other, role := d.Blocker, "blocked by"
		if d.Blocked != it.ID {
			other, role = d.Blocked, "blocks"
		}
		it.LinksTotal++
		if len(it.Links) < model.LinkLimit {
			it.Links = append(it.Links, model.Link{Kind: cmp.Or(d.Kind, "blocks"), Role: role, Other: []string{other}})
		}
	}
	return it, nil
}

// item is an entry without its links.
func (a *adapter) item(ctx context.Context, v View, i int) (model.Item, error) {
	r, h := v.Record(i), a.header(v, i)
	if f, ok := v.(Filler); ok {
		var err error
		if r, err = f.Whole(ctx, i); err != nil {
			return model.Item{}, model.Wrap("read", err)
		}
		h = a.headerOf(r.Head, r.Title, r.Body)
	}
	it := model.Item{Header: h, Meta: r.Fields, Body: r.Body}
	it.Revision = r.Revision()
	return it, nil
}

// EachText implements model.Texts over one view: each Read by itself would list the store anew.
func (a *adapter) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	if err := a.begin(ctx, "texts", false); err != nil {
		return nil, err
	}
	v, err := a.view(ctx, "texts")
	if err != nil {
		return nil, err
	}
	for i := range v.Len() {
		it, err := a.item(ctx, v, i)
		if over := model.FromContext(ctx, "texts"); over != nil {
			return nil, over
		}
		if !yield(model.Text{ID: v.ID(i), Body: it.Body, Meta: it.Meta, Binary: it.Has(model.FlagBinary), Whole: func() model.Item { return it }}, err) {
			return nil, nil
		}
	}
	return problems(v, true), nil
}

func absent(op, id string) error {
	return model.Errorf(model.NotFound, op, "there is no item %q", id)
}

// Tiers counts every declared tier, empty ones included, and every other tier in the store.
func (a *adapter) Tiers(ctx context.Context) ([]model.TierCount, error) {
	if err := a.begin(ctx, "tiers", false); err != nil {
		return nil, err
	}
	v, err := a.view(ctx, "tiers")
	if err != nil {
		return nil, err
	}
	var out []model.TierCount
	place := map[string]int{}
	add := func(tier string) int {
		n, ok := place[tier]
		if !ok {
			n = len(out)
			place[tier] = n
			out = append(out, model.TierCount{Tier: tier})
		}
		return n
	}
	for _, t := range a.specs {
		add(t.Name)
	}
	for i := range v.Len() {
		if i%1024 == 0 {
			if err := model.FromContext(ctx, "tiers"); err != nil {
				return nil, err
			}
		}
		n := add(v.Tier(i))
		out[n].Items++
		out[n].Bytes += v.Head(i).Bytes
	}
	return out, nil
}

// Names streams the ids, those of unreadable lines too.
func (a *adapter) Names(ctx context.Context, yield func(string) bool) ([]string, error) {
	v, err := a.view(ctx, "names")
	if err != nil {
		return nil, err
	}
	for i := range v.Len() {
		if err := model.FromContext(ctx, "names"); err != nil {
			return nil, err
		}
		if !yield(v.ID(i)) {
			return nil, nil
		}
	}
	return problems(v, true), nil
}

// tierOfID is the tier of an id by its form alone; empty for a work item.
func tierOfID(id string) string {
	switch {
	case strings.HasPrefix(id, MemoryPrefix):
		return TierMemory
	case strings.HasPrefix(id, LinePrefix):
		return TierLine
	}
	return ""
}

func (a *adapter) writable(tier string) bool {
	return slices.ContainsFunc(a.specs, func(t model.TierSpec) bool { return t.Name == tier && t.Writable })
}
