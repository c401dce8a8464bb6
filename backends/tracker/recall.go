package tracker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/backends/internal/verdicts"
	"memdesk/model"
)

// Recall searches work items and memories like the published search: the query as a substring of id, title or
// description (B16); an item with every word of it separately ranks lower, one with them in another text, a
// comment or a note, lowest. Every item is searched.
func (a *adapter) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if err := cmp.Or(a.begin(ctx, "recall", false), a.CheckBound("recall", req.WorkspaceID, req.AgentID, req.CrewID)); err != nil {
		return model.RecallResult{}, err
	}
	query := snippet.Fold(strings.TrimSpace(req.Query))
	if query == "" {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	}
	v, err := a.view(ctx, "recall")
	if err != nil {
		return model.RecallResult{}, err
	}
	if req.Tier != "" {
		if err := a.checkTier("recall", req.Tier, v); err != nil {
			return model.RecallResult{}, err
		}
	}
	matches, err := a.matches(ctx, v, req.Tier, query)
	if err != nil {
		return model.RecallResult{}, err
	}
	res := model.RecallResult{Hits: []model.RecallSnippet{}, Total: int64(len(matches))}
	limit := model.ClampLimit(req.Limit)
	var notes []string
	if f, ok := v.(Filler); ok && f.Stubs() > 0 {
		notes = append(notes, fmt.Sprintf("%d items that the store keeps apart were searched by id and title only", f.Stubs()))
	}
	if unread := v.Problems(req.Tier != TierLine); len(unread) > 0 {
		notes = append(notes, fmt.Sprintf("parts that cannot be read and were not searched: %d; the first: %s", len(unread), unread[0]))
	}
	for n, m := range matches {
		if n >= recallDepth {
			notes = append(notes, "the scanner rejects most of the best matches; what ranks below them was not looked at")
			break
		}
		title, body := v.Texts(m.at)
		if a.rejects(title, body) || m.beside != "" && a.scanner.Rejects(m.beside) {
			res.Quarantined = append(res.Quarantined, v.ID(m.at))
			continue
		}
		if len(res.Hits) == limit {
			break
		}
		res.Hits = append(res.Hits, hit(v.ID(m.at), title, body, query, m))
	}
	res.Bounded, res.BoundNote = len(notes) > 0, strings.Join(notes, "; ")
	return res, nil
}

// recallDepth is how far down the ranking Recall looks for hits that the scanner allows, so that a few
// poisoned items cannot hide all others.
const recallDepth = 160

type match struct {
	at     int
	score  float64
	beside string // the texts beside title and body, where they have the match
}

// matches ranks every match of the query, newer ones first among equals.
func (a *adapter) matches(ctx context.Context, v View, tier, query string) ([]match, error) {
	words := strings.Fields(query)
	var out []match
	for i := range v.Len() {
		if i%256 == 0 {
			if err := model.FromContext(ctx, "recall"); err != nil {
				return nil, err
			}
		}
		t := v.Tier(i)
		if tier != "" && t != tier || tier == "" && a.hidden(t) {
			continue
		}
		title, body := v.Texts(i)
		if s := score(snippet.Fold(v.ID(i)), snippet.Fold(title), snippet.Fold(body), query, words); s > 0 {
			out = append(out, match{at: i, score: s})
		} else if beside := besideTexts(v, i, words); beside != "" && holds(snippet.Fold(title+"\n"+body+"\n"+beside), words) {
			out = append(out, match{i, scoreBeside, beside})
		}
	}
	slices.SortStableFunc(out, func(x, y match) int {
		return cmp.Or(cmp.Compare(y.score, x.score), v.Updated(y.at).Compare(v.Updated(x.at)), cmp.Compare(x.at, y.at))
	})
	return out, nil
}

// The scores say how an item was found; they rank nothing finer.
const (
	scoreID     = 1.0
	scoreTitle  = 0.9
	scoreBody   = 0.8
	scoreWords  = 0.5
	scoreBeside = 0.3
)

func score(id, title, body, query string, words []string) float64 {
	switch {
	case id == query:
		return scoreID
	case strings.Contains(title, query), strings.Contains(id, query):
		return scoreTitle
	case strings.Contains(body, query):
		return scoreBody
	case len(words) < 2:
		return 0
	}
	for _, w := range words {
		if !strings.Contains(title, w) && !strings.Contains(body, w) {
			return 0
		}
	}
	return scoreWords
}

func holds(folded string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(folded, w) })
}

// Hinter is a View that can say, without decoding an entry, whether it may contain a folded word.
type Hinter interface {
	MayHold(i int, word string) bool
}

// besideTexts are an entry's texts by people beside its title and body: comments, notes, names, labels; empty
// where they cannot contain the words.
func besideTexts(v View, i int, words []string) string {
	if h, ok := v.(Hinter); ok && slices.ContainsFunc(words, func(w string) bool { return !h.MayHold(i, w) }) {
		return ""
	}
	r := v.Record(i)
	if r.Kind == Line {
		return ""
	}
	var out []string
	for _, f := range r.Fields {
		switch {
		case slices.Contains([]string{FieldTitle, FieldStatus, FieldType, FieldPriority, FieldDepends, "dependencies", "key"}, f.Name), strings.HasSuffix(f.Name, "_at"):
		case f.ReadOnly && (strings.HasPrefix(f.Value, "[") || strings.HasPrefix(f.Value, "{")):
			var v any
			if json.Unmarshal([]byte(f.Value), &v) == nil {
				out = verdicts.Texts(out, v)
			}
		case f.Value != "":
			out = append(out, f.Value)
		}
	}
	return strings.Join(out, "\n")
}

// hit shows the place in the body, or the title where the body has none.
func hit(id, title, body, query string, m match) model.RecallSnippet {
	text, line := snippet.Cut(body, query)
	if m.beside != "" {
		text, _ = snippet.Cut(m.beside, query)
		line = 0
	} else if line == 0 && title != "" {
		text, _ = snippet.Cut(title, query)
	}
	text = cmp.Or(text, id)
	return model.RecallSnippet{ID: id, Source: id, Snippet: text, Line: line, Score: m.score}
}
