// Package window cuts pages out of a list that is in memory: forwards and backwards,
// with cursors that belong to the list they come from.
package window

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// Row is a header with its place in the list's order; the id decides between equals.
type Row struct {
	model.Header
	Value int64
}

func (r Row) cursor(l cursor.List, before bool) string {
	return l.Encode(cursor.Place{Before: before, Number: r.Value, ID: r.ID})
}

// Page sorts the rows and cuts out the page that is asked for. Problems make the total a
// lower bound. A cursor of another list is InvalidInput.
func Page(rows []Row, req model.PageRequest, problems []string) (model.Page, error) {
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Value, b.Value), strings.Compare(a.ID, b.ID)) })
	limit := model.PageLimit(req.Limit)
	from, to := 0, min(limit, len(rows))
	list := cursor.ListOf(req.Tier, req.Query, req.Order, req.Hidden)
	switch {
	case req.End && req.Cursor != "":
		return model.Page{}, model.Errorf(model.InvalidInput, "list", "the last page and a cursor exclude each other")
	case req.End:
		from, to = max(0, len(rows)-limit), len(rows)
	case req.Cursor != "":
		c, err := list.Decode("list", req.Cursor)
		if err != nil {
			return model.Page{}, err
		}
		at, exact := slices.BinarySearchFunc(rows, c, func(r Row, c cursor.Place) int {
			return cmp.Or(cmp.Compare(r.Value, c.Number), strings.Compare(r.ID, c.ID))
		})
		if c.Before {
			from, to = max(0, at-limit), at
		} else {
			if exact {
				at++
			}
			from, to = at, min(at+limit, len(rows))
		}
	}
	page := model.Page{Items: []model.Header{}, Problems: problems, Total: model.Count{N: int64(len(rows)), AtLeast: len(problems) > 0}}
	for _, r := range rows[from:to] {
		page.Items = append(page.Items, r.Header)
	}
	if from > 0 && from < len(rows) {
		page.Prev = rows[from].cursor(list, true)
	}
	if to < len(rows) && to > 0 {
		page.Next = rows[to-1].cursor(list, false)
	}
	return page, nil
}

// Tier finds a tier by its name.
func Tier(tiers []model.TierSpec, name string) (model.TierSpec, bool) {
	if i := slices.IndexFunc(tiers, func(t model.TierSpec) bool { return t.Name == name }); i >= 0 {
		return tiers[i], true
	}
	return model.TierSpec{}, false
}

// TierNames lists the names of tiers for people.
func TierNames(tiers []model.TierSpec) string {
	names := make([]string, len(tiers))
	for i, t := range tiers {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// Counts are items and bytes of each tier by scope, in the tiers' order; a tier without items is
// left out.
func Counts(tiers []model.TierSpec, all iter.Seq[model.Header]) []model.TierCount {
	at := map[[2]string]int{}
	var counts []model.TierCount
	for h := range all {
		place := [2]string{h.Tier, h.Scope}
		n, known := at[place]
		if !known {
			n = len(counts)
			at[place], counts = n, append(counts, model.TierCount{Tier: h.Tier, Scope: h.Scope})
		}
		counts[n].Items, counts[n].Bytes = counts[n].Items+1, counts[n].Bytes+h.Bytes
	}
	out := []model.TierCount{}
	for _, t := range tiers {
		for _, c := range counts {
			if c.Tier == t.Name {
				out = append(out, c)
			}
		}
	}
	return out
}

// Names gives the ids to yield until it has enough.
func Names(all iter.Seq[model.Header], yield func(id string) bool) {
	for h := range all {
		if !yield(h.ID) {
			return
		}
	}
}
