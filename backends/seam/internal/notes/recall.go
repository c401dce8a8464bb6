package notes

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// Recall searches every readable text as an agent would, in any letter case. A
// line matches when it holds every word of the query, as a whole word or inside
// one; lines that hold the query as typed come first, then the newest file. A note of AgentM's
// is one hit, by its best line: its slug repeats what its body says. Notes
// that the agent's own search passes over are passed over. A match that the scanner rejects gives
// no text and is named in Quarantined.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	q, err := linesearch.New(req.Query)
	if err != nil {
		return model.RecallResult{}, err
	}
	if req.Tier != "" {
		if _, err := window.Known("recall", s.tiers, req.Tier); err != nil {
			return model.RecallResult{}, err
		}
	}
	r := recall{tier: req.Tier, Ranking: linesearch.Ranking{Query: q, Limit: model.ClampLimit(req.Limit), Lines: q.Lines}}
	if s.cfg.Layout == nil {
		r.Lines = func(text string) []model.RecallSnippet { return bestLine(text, q.Lines(text)) }
	}
	snap, changes, fresh := s.last()
	if !fresh && s.follows() {
		snap, err = s.look(ctx)
		fresh = err == nil
	}
	switch {
	case err != nil:
	case fresh:
		err = r.search(ctx, s, snap)
	default:
		snap, err = s.renew(ctx, nil, changes, &r)
	}
	if err != nil {
		return model.RecallResult{}, err
	}
	slices.Sort(r.Quarantined)
	r.Unreadable += len(snap.problems())
	return r.Result(texts.ReadLimit), nil
}

type recall struct {
	tier string     // empty: every one
	mu   sync.Mutex // of the ranking and err, while the files are searched
	err  error      // the error that ends the search
	linesearch.Ranking
}

// search reads the files of a current snapshot.
func (r *recall) search(ctx context.Context, s *store, snap *snapshot) error {
	root, err := s.open("recall")
	if err != nil || root == nil {
		return err
	}
	defer root.Close()
	return rootdir.InParallel(ctx, "recall", root, snap.tree.Len(), func(files *rootdir.Files, i int) error {
		f := snap.tree.At(i)
		if texts.Dismissed(f, r.Query) {
			return nil
		}
		e := snap.entry(f)
		if !r.wants(s, &e) || e.meta.Kind != rootdir.File {
			return nil
		}
		data, m, err := files.Read(f.Place(), texts.ReadLimit)
		texts.Learn(f, data, m, err)
		if err == nil && !r.Query.In(data) {
			return nil
		}
		return r.text(s, &e, data, m, err)
	})
}

// glance searches a file during a walk, and returns its facts for lists: one read for both.
func (r *recall) glance(s *store, files *rootdir.Files, at rootdir.Place) (m rootdir.Meta, tag uint32, ok bool) {
	data, m, err := files.Read(at, texts.ReadLimit)
	if err != nil {
		g := glance{s: s, known: &walk.Known{}}
		if m, tag, ok = g.glance(files, at, walk.File{}); !ok || m.Kind != rootdir.File {
			return m, tag, ok
		}
	} else if isNote(at.Name) && !s.cfg.SearchOnly {
		tag = s.labels.number(s.headOf(at, data[:min(len(data), headBytes)]))
	}
	if err == nil && !r.Query.In(data) { // nearly every file
		return m, tag, true
	}
	e := entry{id: at.Path(), class: s.labels.class(tag), meta: m}
	if r.tier != "" {
		e.tier = s.entryTier(e.id, e.kind)
	}
	if r.wants(s, &e) {
		if err := r.text(s, &e, data, m, err); err != nil {
			r.mu.Lock()
			r.err = err
			r.mu.Unlock()
		}
	}
	return m, tag, true
}

func (r *recall) wants(s *store, e *entry) bool {
	return s.recalled(e.id, e.status) && (r.tier == "" || e.tier == r.tier)
}

// text searches one file, given its bytes, which hold the query's words, or its read error. The facts of its
// text are computed only for a match: the scanner costs more than the search.
func (r *recall) text(s *store, e *entry, data []byte, m rootdir.Meta, err error) error {
	var text string
	var lines []model.RecallSnippet
	var f texts.Facts
	if err == nil {
		// No copy of the bytes, which the next file overwrites: Lines, Memory.Of and Ranking.Add copy what they keep.
		text = unsafe.String(unsafe.SliceData(data), len(data))
		found := false
		if lines, found = r.Found(text); !found {
			return nil
		}
		if s.cfg.SearchOnly { // nothing asks again
			f = s.judge(e.id, text)
		} else {
			f = s.facts.Of(e.id, text, m)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, model.NotFound), err == nil && (!s.recalled(e.id, f.Status) || f.Binary):
	case errors.Is(err, rootdir.ErrTooLarge):
		r.TooBig++
	case errors.Is(err, model.Unavailable):
		return err
	case err != nil:
		r.Unreadable++
	case !f.Verdict.Clean():
		r.Quarantined = append(r.Quarantined, e.id)
	default:
		r.Add(e.id, m.Modified, text, lines)
	}
	return nil
}

// bestLine keeps one line of a note: the best score, the body before the front matter.
func bestLine(text string, lines []model.RecallSnippet) []model.RecallSnippet {
	if len(lines) == 0 {
		return nil
	}
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
