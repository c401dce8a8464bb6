package notes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Recall searches every readable text as an agent would, in any letter case. A
// line matches when it holds every word of the query, as a whole word or inside
// one; lines that hold the query as typed come first, then the newest file. A note of AgentM's
// is one hit, by its best line: its slug repeats what its body says. Notes
// that the agent's own search passes over are passed over. Files that the scanner rejects give
// no text and are named in Quarantined whether or not they match.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	q, err := linesearch.New(req.Query)
	if err != nil {
		return model.RecallResult{}, err
	}
	if req.Tier != "" {
		if _, ok := s.tier(req.Tier); !ok {
			return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "unknown tier %q; there are %s", req.Tier, s.tierNames())
		}
	}
	snap, err := s.look(ctx)
	if err != nil {
		return model.RecallResult{}, err
	}
	r := recall{query: q, Ranking: linesearch.Ranking{Limit: model.ClampLimit(req.Limit)}}
	if err := r.search(ctx, s, snap, req.Tier); err != nil {
		return model.RecallResult{}, err
	}
	r.Unreadable += len(snap.problems)
	return r.Result(readLimit), nil
}

type recall struct {
	query linesearch.Query
	mu    sync.Mutex // of the ranking, while the files are searched
	linesearch.Ranking
}

func (r *recall) search(ctx context.Context, s *store, snap *snapshot, tier string) error {
	root, err := s.open("recall")
	if err != nil || root == nil {
		return err
	}
	defer root.Close()
	err = rootdir.InParallel(ctx, "recall", root, len(snap.entries), func(files *rootdir.Files, i int) error {
		e := &snap.entries[i]
		if !s.recalled(e.id, e.status) || tier != "" && e.tier != tier || e.meta.Kind != rootdir.File {
			return nil
		}
		return r.file(s, files, e)
	})
	slices.Sort(r.Quarantined)
	return err
}

// file searches one file. What its text tells is only asked when it matches: the
// scanner costs more than the search.
func (r *recall) file(s *store, files *rootdir.Files, e *entry) error {
	data, m, err := files.Read(e.id, readLimit)
	if err == nil && !r.query.In(data) {
		return nil
	}
	var lines []model.RecallSnippet
	var f facts
	if err == nil {
		text := string(data)
		if lines = r.query.Lines(text); len(lines) == 0 {
			return nil
		}
		if s.cfg.Layout == nil {
			lines = bestLine(text, lines)
		}
		f = s.factsOf(e.id, text, m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, model.NotFound), err == nil && (!s.recalled(e.id, f.head.status) || f.binary):
	case errors.Is(err, rootdir.ErrTooLarge):
		r.TooBig++
	case errors.Is(err, model.Unavailable):
		return err
	case err != nil:
		r.Unreadable++
	case !f.verdict.Clean():
		r.Quarantined = append(r.Quarantined, e.id)
	default:
		r.Add(e.id, m.Modified, lines)
	}
	return nil
}

// bestLine keeps one line of a note: the best score, the body before the front matter.
func bestLine(text string, lines []model.RecallSnippet) []model.RecallSnippet {
	front, _ := splitFront(text)
	head := strings.Count(front, "\n") + 2 // and the two rules around it
	if front == "" {
		head = 0
	}
	return []model.RecallSnippet{slices.MinFunc(lines, func(a, b model.RecallSnippet) int {
		inBody := func(l model.RecallSnippet) int {
			if l.Line > head {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(inBody(a), inBody(b)))
	})}
}
