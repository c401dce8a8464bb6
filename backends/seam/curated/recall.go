package curated

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// Scores of the two sorts of match. They rank within this store only (R24).
const (
	scorePhrase = 1.0 // a line holds the query as it was typed
	scoreTerms  = 0.5 // the entry holds every word of it
)

// Recall searches the entries in any letter case: an entry matches when it holds
// every word. Entries that the scanner rejects give no text and are named
// whether or not they match. Proposals are not remembered, and not searched.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	terms := strings.Fields(strings.ToLower(strings.ToValidUTF8(req.Query, "\uFFFD")))
	if len(terms) == 0 {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	}
	if _, ok := fileOf(req.Tier); !ok && req.Tier != "" {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "unknown tier %q; there are %s and %s", req.Tier, TierMemory, TierUser)
	}
	if err := unscoped("recall", req.WorkspaceID, req.CrewID, req.AgentID); err != nil {
		return model.RecallResult{}, err
	}
	files, err := s.both(ctx, "recall")
	if err != nil {
		return model.RecallResult{}, err
	}
	out := model.RecallResult{Hits: []model.RecallSnippet{}}
	phrase := strings.ToLower(strings.TrimSpace(req.Query))
	for _, f := range files {
		if req.Tier != "" && tierOf(f.name) != req.Tier {
			continue
		}
		if f.bad != nil {
			out.Bounded, out.BoundNote = true, f.name+" could not be read"
			continue
		}
		for _, e := range f.entries {
			id := f.name + "/" + e.hash
			if _, rejected := rules.Load(e.text); rejected {
				out.Quarantined = append(out.Quarantined, id)
				continue
			}
			if h, ok := match(e.text, phrase, terms); ok {
				h.ID, h.Source = id, id
				out.Hits = append(out.Hits, h)
			}
		}
	}
	out.Total = int64(len(out.Hits))
	slices.SortStableFunc(out.Hits, func(a, b model.RecallSnippet) int { return cmp.Compare(b.Score, a.Score) })
	out.Hits = out.Hits[:min(len(out.Hits), model.ClampLimit(req.Limit))]
	return out, nil
}

// match finds the query in one entry; the snippet is the entry, or what stands
// around the match of a long one.
func match(text, phrase string, terms []string) (model.RecallSnippet, bool) {
	low := strings.ToLower(text)
	for _, t := range terms {
		if !strings.Contains(low, t) {
			return model.RecallSnippet{}, false
		}
	}
	h := model.RecallSnippet{Score: scoreTerms}
	at := strings.Index(low, terms[0])
	if i := strings.Index(low, phrase); i >= 0 {
		at, h.Score = i, scorePhrase
	}
	h.Line = 1 + strings.Count(low[:at], "\n")
	h.Snippet = around(text, utf8.RuneCountInString(low[:at]))
	return h, true
}

// around cuts at most SnippetRunes out of a text near the rune at (R23).
func around(text string, at int) string {
	if utf8.RuneCountInString(text) <= model.SnippetRunes {
		return text
	}
	r := []rune(text)
	from := min(max(0, at-model.SnippetRunes/4), len(r)-model.SnippetRunes)
	return string(r[from : from+model.SnippetRunes])
}
