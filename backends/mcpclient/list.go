package mcpclient

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/backends/internal/window"
	"memdesk/model"
)

// List implements model.Browser. A server's own lists only lead forwards, so a page is cut from the whole
// list, which is bounded. A query matches the hits of the server's search, and ids and titles.
func (s *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	const op = "list"
	req.Order = cmp.Or(req.Order, model.OrderID)
	err := s.checkTier(op, req.Tier)
	switch {
	case err != nil:
	case req.Scope != "":
		err = model.Errorf(model.InvalidInput, op, "unknown scope %q: a memory server's tools know none", req.Scope)
	case req.Order != model.OrderID && req.Order != model.OrderNewest && req.Order != model.OrderLargest:
		err = model.Errorf(model.InvalidInput, op, "unknown order %q: there are id, newest and largest", req.Order)
	default:
		err = model.FromContext(ctx, op)
	}
	if err != nil {
		return model.Page{}, err
	}
	all, problems, err := s.server.items(ctx)
	if err != nil {
		return model.Page{}, err
	}
	found := map[string]bool{}
	if req.Query != "" {
		res, err := s.server.search(ctx, req.Query, req.Tier, model.RecallLimit)
		if err != nil {
			return model.Page{}, err
		}
		for _, h := range res.Hits {
			found[h.ID] = true
		}
		if res.Bounded || res.Total > int64(len(res.Hits)) {
			problems = append(slices.Clone(problems), "the server's search gives its best hits only: further texts may match")
		}
	}
	var rows []window.Row
	want := snippet.Fold(req.Query)
	for _, h := range all {
		switch {
		case req.Tier != "" && h.Tier != req.Tier:
		case req.Query != "" && !found[h.ID] && !strings.Contains(snippet.Fold(h.ID+"\n"+h.Title), want):
		default:
			rows = append(rows, window.Row{Header: h, Value: window.Value(req.Order, h.Modified, h.Bytes)})
		}
	}
	return window.Page(rows, req, problems)
}

// Read implements model.Browser.
func (s *store) Read(ctx context.Context, id string) (model.Item, error) {
	if err := cmp.Or(model.CheckID(id), model.FromContext(ctx, "read")); err != nil {
		return model.Item{}, err
	}
	return s.server.read(ctx, id)
}

// Tiers implements model.Browser.
func (s *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	if err := model.FromContext(ctx, "tiers"); err != nil {
		return nil, err
	}
	all, _, err := s.server.items(ctx)
	if err != nil {
		return nil, err
	}
	return window.Counts([]string{""}, s.tiers, slices.Values(all)), nil
}

// Names implements model.Namer.
func (s *store) Names(ctx context.Context, yield func(id string) bool) ([]string, error) {
	all, problems, err := s.server.items(ctx)
	if err != nil {
		return nil, err
	}
	window.Names(slices.Values(all), yield)
	return problems, nil
}
