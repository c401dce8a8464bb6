package notes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Scores of the two sorts of match. They rank within this store only (R24).
const (
	scorePhrase = 1.0 // the line holds the query as it was typed
	scoreTerms  = 0.5 // the line holds every word of it
)

// Recall searches every readable text as an agent would, in any letter case. A
// line matches when it holds every word of the query, as a whole word or inside
// one; lines that hold the query as typed come first, then the newest file. Notes
// that are deleted or expired are passed over. Files that the scanner rejects give
// no text and are named in Quarantined whether or not they match.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	q := newQuery(req.Query)
	if len(q.terms) == 0 {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "the query is blank")
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
	r := recall{query: q, limit: model.ClampLimit(req.Limit)}
	if err := r.search(ctx, s, snap, req.Tier); err != nil {
		return model.RecallResult{}, err
	}
	return r.result(snap), nil
}

type recall struct {
	query       query
	mu          sync.Mutex // of what follows, while the files are searched
	limit       int
	hits        []hit
	quarantined []string
	total       int64
	tooBig      int
	unreadable  int
}

// hit is a match with what it is ranked by.
type hit struct {
	model.RecallSnippet
	modified time.Time
}

func (r *recall) search(ctx context.Context, s *store, snap *snapshot, tier string) error {
	root, err := s.open("recall")
	if err != nil || root == nil {
		return err
	}
	defer root.Close()
	err = inParallel(ctx, "recall", root, len(snap.entries), func(files *reader, i int) error {
		e := &snap.entries[i]
		if e.hidden() || tier != "" && e.tier != tier || e.meta.Kind != rootdir.File {
			return nil
		}
		return r.file(s, files, e)
	})
	slices.Sort(r.quarantined)
	return err
}

// file searches one file. What its text tells is only asked when it matches: the
// scanner costs more than the search.
func (r *recall) file(s *store, files *reader, e *entry) error {
	dir, name, err := files.at(e.id)
	var data []byte
	var m rootdir.Meta
	if err == nil {
		data, m, err = dir.Read(name, readLimit)
	}
	text := string(data)
	var hits []hit
	if err == nil {
		if hits = r.query.lines(text, nil); len(hits) == 0 {
			return nil
		}
	}
	var f facts
	if err == nil {
		f = s.factsOf(e.id, text, m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, model.NotFound), err == nil && (f.head.archived() || f.binary):
	case errors.Is(err, rootdir.ErrTooLarge):
		r.tooBig++
	case errors.Is(err, model.Unavailable):
		return err
	case err != nil:
		r.unreadable++
	case !f.verdict.Clean():
		r.quarantined = append(r.quarantined, e.id)
	default:
		r.add(e, m, hits)
	}
	return nil
}

func (r *recall) add(e *entry, m rootdir.Meta, hits []hit) {
	r.total++
	for _, h := range hits {
		h.ID, h.Source, h.modified = e.id, e.id, m.Modified
		r.hits = append(r.hits, h)
	}
	if len(r.hits) > 4*model.RecallLimit { // keep the best only: a million hits cost as much as twenty
		r.rank()
	}
}

func (r *recall) rank() {
	slices.SortStableFunc(r.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.modified.Compare(a.modified),
			strings.Compare(a.ID, b.ID), cmp.Compare(a.Line, b.Line))
	})
	r.hits = r.hits[:min(len(r.hits), r.limit)]
}

func (r *recall) result(snap *snapshot) model.RecallResult {
	r.rank()
	out := model.RecallResult{Hits: []model.RecallSnippet{}, Quarantined: r.quarantined, Total: r.total}
	for _, h := range r.hits {
		out.Hits = append(out.Hits, h.RecallSnippet)
	}
	var notes []string
	if r.tooBig > 0 {
		notes = append(notes, fmt.Sprintf("%d files over %d MiB were not searched", r.tooBig, readLimit>>20))
	}
	if n := r.unreadable + len(snap.problems); n > 0 {
		notes = append(notes, fmt.Sprintf("%d files or directories could not be read", n))
	}
	out.Bounded, out.BoundNote = len(notes) > 0, strings.Join(notes, "; ")
	return out
}

// query is a search as it was typed, and its words, in lower case.
type query struct {
	phrase string
	terms  []string
}

func newQuery(q string) query {
	q = strings.ToLower(strings.ToValidUTF8(q, "\uFFFD"))
	return query{phrase: strings.TrimSpace(q), terms: strings.Fields(q)}
}

// lines appends a hit for every line that matches.
func (q query) lines(text string, out []hit) []hit {
	whole := strings.ToLower(text)
	for _, t := range q.terms {
		if !strings.Contains(whole, t) {
			return out
		}
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		low := strings.ToLower(line)
		at := strings.Index(low, q.phrase)
		score := scorePhrase
		if at < 0 {
			if at = q.allTerms(low); at < 0 {
				continue
			}
			score = scoreTerms
		}
		line = strings.TrimRight(line, "\r\n")
		out = append(out, hit{RecallSnippet: model.RecallSnippet{
			Snippet: window(line, utf8.RuneCountInString(low[:at])), Line: n, Score: score,
		}})
	}
	return out
}

// allTerms is where the first term stands, or -1 when one is missing.
func (q query) allTerms(low string) int {
	first := -1
	for i, t := range q.terms {
		at := strings.Index(low, t)
		if at < 0 {
			return -1
		}
		if i == 0 {
			first = at
		}
	}
	return first
}

// window cuts at most SnippetRunes out of a line around the rune at, on rune
// boundaries (R23). Lower case keeps the number of runes, so a place in it is a
// place in the line.
func window(line string, at int) string {
	if utf8.RuneCountInString(line) <= model.SnippetRunes {
		return line
	}
	runes := []rune(line)
	from := min(max(0, at-model.SnippetRunes/4), len(runes)-model.SnippetRunes)
	return string(runes[from : from+model.SnippetRunes])
}
