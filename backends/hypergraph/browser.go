package hypergraph

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/internal/verdicts"
	"memdesk/model"
)

// Read returns a node with its edges as links, or an edge with its members.
func (a *adapter) Read(ctx context.Context, id string) (model.Item, error) {
	if err := a.begin(ctx, "read", false); err != nil {
		return model.Item{}, err
	}
	t, err := parseItemID("read", id)
	if err != nil {
		return model.Item{}, err
	}
	read := a.readNode
	if t.edge {
		read = a.readEdge
	}
	it, err := read(ctx, t.id)
	return it, model.Wrap("read", err)
}

func (a *adapter) readNode(ctx context.Context, id string) (model.Item, error) {
	n, err := a.Backend.GetNode(ctx, id)
	if err != nil {
		return model.Item{}, err
	}
	if n.Oversize > 0 {
		return model.Item{}, tooLarge("read", NodeItemID(id), n.Oversize)
	}
	edges, total, err := a.Backend.EdgesOf(ctx, id, model.LinkLimit)
	if err != nil {
		return model.Item{}, err
	}
	it := a.nodeItem(n, a.nodeMeta(n))
	it.LinksTotal = total
	for _, e := range edges {
		l := model.Link{ID: EdgeItemID(e.ID), Kind: e.Type, Label: e.Label}
		for _, m := range e.Members {
			if m.NodeID != id {
				l.Other = append(l.Other, NodeItemID(m.NodeID))
			} else if l.Role == "" {
				l.Role = m.Role
			}
		}
		it.Links = append(it.Links, l)
	}
	return it, nil
}

// nodeItem is a node as an item, without its edges.
func (a *adapter) nodeItem(n Node, meta []model.Field) model.Item {
	it := model.Item{Header: a.nodeHeader(n), Meta: meta, Body: n.Content}
	it.Revision = a.nodeRevision(n)
	return it
}

// edgeItem is an edge as an item, without its members.
func (a *adapter) edgeItem(e Edge) model.Item {
	it := model.Item{Header: a.edgeHeader(e), Meta: edgeMeta(e), Body: e.Label}
	it.Revision = edgeRevision(e)
	return it
}

func (a *adapter) readEdge(ctx context.Context, id string) (model.Item, error) {
	e, err := a.Backend.GetEdge(ctx, id)
	if err != nil {
		return model.Item{}, err
	}
	if e.Oversize > 0 {
		return model.Item{}, tooLarge("read", EdgeItemID(id), e.Oversize)
	}
	it := a.edgeItem(e)
	it.LinksTotal = int64(len(e.Members))
	for _, m := range e.Members[:min(len(e.Members), model.LinkLimit)] {
		it.Links = append(it.Links, model.Link{Kind: "member", Role: m.Role, Other: []string{NodeItemID(m.NodeID)}})
	}
	return it, nil
}

// Tiers counts every declared tier, even an empty one, and any other tier that a foreign writer left in
// the store.
func (a *adapter) Tiers(ctx context.Context) ([]model.TierCount, error) {
	if err := a.begin(ctx, "tiers", false); err != nil {
		return nil, err
	}
	counts, err := a.Backend.Counts(ctx)
	return counts, model.Wrap("tiers", err)
}

func (a *adapter) nodeHeader(n Node) model.Header {
	h := model.Header{
		ID:       NodeItemID(n.ID),
		Tier:     n.Tier,
		Title:    title.Line(n.Content),
		Bytes:    int64(len(n.Content)),
		Modified: n.UpdatedAt,
		Stamp:    stamp(a.nodeDocument(n), n.RowVersion),
	}
	if n.Tier == a.Vocabulary.ArchiveTier {
		h.Flags = append(h.Flags, model.FlagArchived)
	}
	if slices.Contains(a.Vocabulary.Bookkeeping, n.Subtype) {
		h.Flags = append(h.Flags, model.FlagBookkeeping)
	}
	if n.Oversize > 0 {
		return markOversize(h, n.Oversize)
	}
	return flagText(h, n.Content, a.scanner)
}

func (a *adapter) edgeHeader(e Edge) model.Header {
	h := model.Header{
		ID:       EdgeItemID(e.ID),
		Tier:     EdgeTier,
		Title:    cmp.Or(title.Line(e.Label), e.Type),
		Bytes:    int64(len(e.Label)),
		Modified: e.CreatedAt,
		Stamp:    stamp(edgeDocument(e), 0),
		Flags:    []model.Flag{model.FlagEdge},
	}
	if e.Oversize > 0 {
		return markOversize(h, e.Oversize)
	}
	return flagText(h, e.Label, a.scanner)
}

func flagText(h model.Header, text string, s *verdicts.Cache) model.Header {
	if !utf8.ValidString(text) {
		h.Flags = append(h.Flags, model.FlagBinary)
	}
	if s.Rejects(text) {
		h.Flags = append(h.Flags, model.FlagBlocked)
	}
	return h
}

// stamp covers the whole row, because the schema's own times are whole seconds and miss a second edit
// within one second.
func stamp(d model.Document, row int64) string {
	h := fnv.New64a()
	part := func(s string) {
		_, _ = h.Write(strconv.AppendInt(nil, int64(len(s)), 10)) // a hash never fails
		_, _ = h.Write([]byte{':'})
		_, _ = h.Write([]byte(s))
	}
	for _, f := range d.Meta {
		part(f.Name)
		part(f.Value)
	}
	part(d.Body)
	return strconv.FormatInt(row, 36) + "." + strconv.FormatUint(h.Sum64(), 36)
}
