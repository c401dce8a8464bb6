// Package recalled reads items of a store that has the four verbs and no list: only the result of Recall
// shows an item. It changes nothing.
package recalled

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"

	"memdesk/model"
)

// Only reports whether a store shows its items by recall alone.
func Only(s model.Store) bool {
	return s.Browser == nil && s.Provider != nil && s.Capabilities()["forget"]
}

// Obstacle says why recalled text cannot be restored.
const Obstacle = "the store shows its items by recall alone: the lines that recall returned are kept to read, and nobody knows whether they are all of it"

// ID is the id of a hit; a hit of a server of four verbs has a source only.
func ID(h model.RecallSnippet) string { return cmp.Or(h.ID, h.Source) }

// Read returns the recalled text of an item: its hits, in their order, as the body. queries are searched
// first, then the words of the id. NotFound without a hit of the item.
func Read(ctx context.Context, s model.Store, id string, queries ...string) (model.Item, error) {
	if !Only(s) {
		return model.Item{}, model.Errorf(model.Unsupported, "read", "store %s cannot show its items", s.Name)
	}
	for _, q := range slices.Concat(queries, searches(id)) {
		if strings.TrimSpace(q) == "" {
			continue
		}
		res, err := s.Provider.Recall(ctx, model.RecallRequest{Query: q})
		if errors.Is(err, model.InvalidInput) {
			continue
		}
		if err != nil {
			return model.Item{}, err
		}
		if it, ok := item(id, res.Hits); ok {
			return it, nil
		}
	}
	return model.Item{}, model.Errorf(model.NotFound, "read", "recall does not return %q: store %s shows items by recall alone, so recall words of it", id, s.Name)
}

// item joins the hits of one item.
func item(id string, hits []model.RecallSnippet) (model.Item, bool) {
	var own []model.RecallSnippet
	for _, h := range hits {
		if ID(h) == id {
			own = append(own, h)
		}
	}
	if len(own) == 0 {
		return model.Item{}, false
	}
	slices.SortStableFunc(own, func(a, b model.RecallSnippet) int { return cmp.Compare(a.Line, b.Line) })
	var lines []string
	for _, h := range own {
		if !slices.Contains(lines, h.Snippet) {
			lines = append(lines, h.Snippet)
		}
	}
	it := model.Item{Header: model.Header{ID: id, Title: own[0].Source, Flags: []model.Flag{model.FlagReadOnly}}, Body: strings.Join(lines, "\n"), Meta: own[0].Meta}
	it.Bytes = int64(len(it.Body))
	return it, true
}

// maxSearches bounds the queries for one item.
const maxSearches = 5

// searches are words that may find an id.
func searches(id string) []string {
	stem := strings.TrimSuffix(path.Base(id), path.Ext(id))
	words := strings.FieldsFunc(stem, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	out := []string{id, strings.Join(words, " ")}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	out = slices.Compact(append(out, words...))
	return out[:min(len(out), maxSearches)]
}

// Labels are the ids that recall returns for these words: the only list there is.
func Labels(ctx context.Context, s model.Store, words ...string) ([]string, error) {
	var out []string
	for _, q := range words {
		res, err := s.Provider.Recall(ctx, model.RecallRequest{Query: q})
		if err != nil {
			return out, err
		}
		for _, h := range res.Hits {
			if id := ID(h); !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out, nil
}
