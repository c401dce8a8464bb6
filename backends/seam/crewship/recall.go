package crewship

import (
	"context"
	"errors"
	"strings"

	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Recall searches every readable file as an agent would, in any letter case. A
// line matches when it holds every word of the query; lines that hold the query
// as typed come first, then the newest file. Files that the scanner rejects give
// no text and are named in Quarantined whether or not they match, as upstream
// does; nothing is written for them.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	q, err := linesearch.New(req.Query)
	if err != nil {
		return model.RecallResult{}, err
	}
	if req.Tier != "" {
		if t, ok := s.tier(req.Tier); !ok || t.Hidden {
			return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "unknown tier %q; there are %s", req.Tier, s.tierNames())
		}
	}
	snap, err := s.look(ctx)
	if err != nil {
		return model.RecallResult{}, err
	}
	places, err := s.choose("recall", snap, selection{req.WorkspaceID, req.CrewID, req.AgentID})
	if err != nil {
		return model.RecallResult{}, err
	}
	r := recall{query: q, Ranking: linesearch.Ranking{Limit: model.ClampLimit(req.Limit)}}
	if err := r.search(ctx, s, snap, places, req.Tier); err != nil {
		return model.RecallResult{}, err
	}
	r.Unreadable += len(snap.problems)
	return r.Result(readLimit), nil
}

type recall struct {
	query linesearch.Query
	linesearch.Ranking
}

func (r *recall) search(ctx context.Context, s *store, snap *snapshot, places []*place, tier string) error {
	in := map[*place]bool{}
	for _, p := range places {
		in[p] = true
	}
	files := reader{s: s}
	defer files.close()
	for i := range snap.entries {
		e := &snap.entries[i]
		if !in[e.place] || e.hidden() || tier != "" && e.tier != tier || !strings.HasSuffix(e.label, ".md") || e.meta.Kind != rootdir.File {
			continue
		}
		if err := model.FromContext(ctx, "recall"); err != nil {
			return err
		}
		if err := r.file(&files, e); err != nil {
			return err
		}
	}
	return nil
}

func (r *recall) file(files *reader, e *entry) error {
	text, f, m, err := files.content(e)
	switch {
	case errors.Is(err, model.NotFound):
		return nil
	case errors.Is(err, model.Unavailable):
		return err
	case err != nil:
		r.Unreadable++
		return nil
	case f.tooBig:
		r.TooBig++
		return nil
	case !f.verdict.Clean():
		r.Quarantined = append(r.Quarantined, e.id)
		return nil
	case f.binary:
		return nil
	}
	r.Add(e.id, m.Modified, r.query.Lines(text))
	return nil
}
