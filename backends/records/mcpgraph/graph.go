package mcpgraph

import (
	"context"
	"slices"

	"memdesk/backends/internal/entity"
	"memdesk/backends/records"
	"memdesk/model"
)

// graph walks relations. An end that no entity has the name of is shown by the relation alone.
type graph struct{ f *file }

// edge is one relation as a walk sees it.
type edge struct{ id, from, kind, to string }

// edges gives the relations of one entity.
func edges(g graphTx, name string, req model.GraphRequest) (out []edge) {
	both := req.Outgoing == req.Incoming
	for _, l := range g.lines {
		if l.tier != relationTier || len(req.Kinds) > 0 && !slices.Contains(req.Kinds, l.relation) {
			continue
		}
		if l.from == name && (both || req.Outgoing) || l.to == name && (both || req.Incoming) {
			out = append(out, edge{l.id, l.from, l.relation, l.to})
		}
	}
	return out
}

func header(g graphTx, name string) (model.Header, bool) {
	for _, l := range g.lines {
		if l.tier == entityTier && l.name == name {
			return model.Header{ID: l.id, Tier: entityTier, Title: l.title, Bytes: int64(len(l.body))}, true
		}
	}
	return model.Header{}, false
}

// Neighbours walks breadth first from an entity.
func (x graph) Neighbours(ctx context.Context, id string, req model.GraphRequest) (out []model.Header, err error) {
	limit := model.PageLimit(req.Limit)
	err = x.f.View(ctx, "neighbours", func(tx records.Tx) error {
		g := tx.(graphTx)
		out = nil
		at := slices.IndexFunc(g.lines, func(l line) bool { return l.tier == entityTier && l.id == id })
		if at < 0 {
			return model.Errorf(model.NotFound, "neighbours", "there is no entity %.200q", id)
		}
		seen := map[string]bool{g.lines[at].name: true}
		ring := []string{g.lines[at].name}
		for range max(req.Depth, 1) {
			var next []string
			for _, name := range ring {
				for _, e := range edges(g, name, req) {
					for _, other := range []string{e.from, e.to} {
						if seen[other] {
							continue
						}
						seen[other] = true
						next = append(next, other)
						if h, ok := header(g, other); ok && len(out) < limit {
							out = append(out, h)
						}
					}
				}
			}
			ring = next
		}
		return nil
	})
	return out, model.Wrap("neighbours", err)
}

// Subgraph gives the entities within depth steps of the given ones and the relations among them.
func (x graph) Subgraph(ctx context.Context, ids []string, depth int) (items []model.Header, links []model.Link, err error) {
	err = x.f.View(ctx, "subgraph", func(tx records.Tx) error {
		g := tx.(graphTx)
		items, links = nil, nil
		seen := map[string]bool{}
		var ring []string
		for _, l := range g.lines {
			if l.tier == entityTier && slices.Contains(ids, l.id) {
				seen[l.name] = true
				ring = append(ring, l.name)
			}
		}
		for range depth {
			var next []string
			for _, name := range ring {
				for _, e := range edges(g, name, model.GraphRequest{}) {
					for _, other := range []string{e.from, e.to} {
						if !seen[other] {
							seen[other] = true
							next = append(next, other)
						}
					}
				}
			}
			ring = next
		}
		for _, l := range g.lines {
			switch {
			case l.tier == entityTier && seen[l.name]:
				h, _ := header(g, l.name)
				items = append(items, h)
			case l.tier == relationTier && seen[l.from] && seen[l.to]:
				links = append(links, model.Link{ID: l.id, Kind: l.relation, Label: l.body, Other: []string{entity.ID(l.from), entity.ID(l.to)}})
			}
		}
		return nil
	})
	return items, links, model.Wrap("subgraph", err)
}

// Similar is Unsupported: the file keeps no vectors.
func (x graph) Similar(context.Context, string, int) (model.RecallResult, error) {
	return model.RecallResult{}, model.Errorf(model.Unsupported, "similar", "the memory server keeps no vectors")
}
