package crewship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/linesearch"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

// Recall answers as an agent's own search does (crewship-disk.md, Ranked recall): any word suffices, rows
// are ranked per memory directory and merged. Files that the scanner rejects give no text and are named in
// Quarantined when the query reaches them; Recall writes nothing for them.
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if strings.TrimSpace(req.Query) == "" {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	}
	if t, ok := s.tier(req.Tier); req.Tier != "" && (!ok && !slices.Contains(contractTiers, req.Tier) || t.Hidden) {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "unknown tier %q; there are %s", req.Tier, window.TierNames(s.tiers))
	}
	look := s.look
	if s.cfg.SearchOnly {
		look = s.walkNames
	}
	snap, err := look(ctx)
	if err != nil {
		return model.RecallResult{}, err
	}
	places, err := s.choose("recall", snap, selection{req.WorkspaceID, req.CrewID, req.AgentID})
	if err != nil {
		return model.RecallResult{}, err
	}
	r := recall{store: s, snap: snap, tier: req.Tier, limit: model.ClampLimit(req.Limit),
		expr: expression(req.Query), words: wordsOf(req.Query)}
	r.files.s = s
	defer r.files.close()
	for _, p := range places {
		if p.missing {
			continue
		}
		if err := r.searchMemory(ctx, p); err != nil {
			return model.RecallResult{}, err
		}
	}
	r.unreadable += len(snap.problems)
	return r.result(), nil
}

// recall is one search over several memory directories.
type recall struct {
	store *store
	snap  *snapshot
	tier  string
	limit int
	expr  string
	words []string
	files reader

	hits        []model.RecallSnippet
	quarantined []string
	total       int64
	left        bool // rows beyond the bound of a memory directory
	tooBig      int
	unreadable  int
}

// rowsRanked is the number of rows of a memory directory that are ranked for a limit.
func rowsRanked(limit int) int { return min(3*limit, 50) }

func (r *recall) searchMemory(ctx context.Context, p *memoryDir) error {
	var a answer
	if !r.store.indexed(ctx, r.snap, p, func(x *rankIndex) (err error) {
		if a, err = r.rank(ctx, p, x); err != nil {
			return err
		}
		for _, c := range a.rows { // the files are scanned, and an index can hold other text
			if v, _ := quarantine.Scan(c.text); !v.Clean() {
				return errPoisonedIndex
			}
		}
		return nil
	}) {
		x, err := r.store.ranked(ctx, r.snap, p, r.words)
		if errors.Is(err, model.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		defer x.close()
		r.tooBig += x.tooBig
		r.unreadable += x.unreadable
		if x.db == nil {
			return nil
		}
		if a, err = r.rank(ctx, p, x); err != nil {
			return err
		}
	}
	r.total += int64(len(a.wanted))
	r.left = r.left || a.left
	return r.take(ctx, a)
}

var errPoisonedIndex = errors.New("a row of the index is poisoned")

// answer is the result of one memory directory's index.
type answer struct {
	rows   []chunk // best first
	wanted map[string]*entry
	score  map[string]float64 // every row of a file gets that of its last
	left   bool               // rows beyond the bound
}

func (r *recall) rank(ctx context.Context, p *memoryDir, x *rankIndex) (answer, error) {
	a := answer{wanted: map[string]*entry{}, score: map[string]float64{}}
	all, err := x.matching(ctx, r.expr)
	if err != nil {
		return a, err
	}
	files := r.snap.of(p)
	for label := range all {
		if f := files.tree.File(label); f.Exists() {
			if e := files.entry(f); r.wants(e) {
				a.wanted[label] = e
			}
		}
	}
	position := 0
	err = x.match(ctx, r.expr, func(c chunk) bool {
		e := a.wanted[c.label]
		if e == nil && r.aside() { // other tiers do not crowd out one of memdesk's own
			return true
		}
		if position++; position > rowsRanked(r.limit) {
			a.left = true
			return false
		}
		if e != nil {
			a.rows = append(a.rows, c)
			a.score[c.label] = 1 / float64(60+position)
		}
		return true
	})
	return a, err
}

// take reads the current files of the rows and keeps those that may be shown.
func (r *recall) take(ctx context.Context, a answer) error {
	texts := map[string]string{}
	for _, c := range a.rows {
		if err := model.FromContext(ctx, "recall"); err != nil {
			return err
		}
		e := a.wanted[c.label]
		text, seen := texts[c.label]
		if !seen {
			var err error
			if text, err = r.text(e); err != nil {
				return err
			}
			texts[c.label] = text
		}
		if text != "" {
			r.hits = append(r.hits, model.RecallSnippet{ID: e.id, Source: e.id,
				Snippet: snippet(c.text), Line: lineOf(text, c.text, r.words), Score: a.score[c.label]})
		}
	}
	return nil
}

// text is empty for a file without readable text.
func (r *recall) text(e *entry) (string, error) {
	text, f, _, err := r.files.content(e)
	switch {
	case errors.Is(err, model.Unavailable):
		return "", err
	case err != nil, f.TooBig, f.Binary:
		r.total--
		if err != nil && !errors.Is(err, model.NotFound) {
			r.unreadable++
		}
		return "", nil
	case !f.Verdict.Clean():
		r.total--
		r.quarantined = append(r.quarantined, e.id)
		return "", nil
	}
	return text, nil
}

// aside reports whether the search is in a tier that agents do not search.
func (r *recall) aside() bool {
	t, _ := r.store.tier(r.tier)
	return t.Aside
}

// wants reports whether a search returns a file: one of the named tier, else one that agents get.
func (r *recall) wants(e *entry) bool {
	if r.tier != "" {
		return e.tier == r.tier
	}
	switch e.memory.kind {
	case kindCrew:
		return e.tier == tierCrew
	case kindUsers:
		return false
	}
	t, _ := r.store.tier(e.tier)
	return !t.Aside && !t.Hidden
}

// result merges the memory directories: by score, an earlier directory first.
func (r *recall) result() model.RecallResult {
	slices.SortStableFunc(r.hits, func(a, b model.RecallSnippet) int { return cmp.Compare(b.Score, a.Score) })
	out := model.RecallResult{Hits: []model.RecallSnippet{}, Quarantined: r.quarantined, Total: r.total}
	out.Hits = append(out.Hits, r.hits[:min(len(r.hits), r.limit)]...)
	if r.left {
		out.Bounded, out.BoundNote = true, fmt.Sprintf("ranked as Crewship does, among the best %d rows of an agent", rowsRanked(r.limit))
	}
	linesearch.Bound(&out, r.tooBig, r.unreadable, texts.ReadLimit)
	return out
}

// snippetBytes is the shown part of a row, in bytes.
const snippetBytes = 300

func snippet(row string) string {
	if len(row) <= snippetBytes {
		return row
	}
	cut := snippetBytes
	for !utf8.RuneStart(row[cut]) {
		cut--
	}
	return row[:cut] + "..."
}

func wordsOf(query string) []string {
	return strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// lineOf is the first line of a row in its file that holds a word of the query, or the row's first line
// when the words occur in another form; 0 when the file has changed since it was indexed.
func lineOf(text, row string, words []string) int {
	at := strings.Index(text, row)
	if at < 0 { // its paragraphs stand further apart in the file
		first, _, _ := strings.Cut(row, "\n\n")
		if at = strings.Index(text, first); at < 0 {
			return 0
		}
	}
	start := 1 + strings.Count(text[:at], "\n")
	line := start
	for l := range strings.Lines(text[at:min(len(text), at+len(row))]) {
		low := strings.ToLower(l)
		if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
			return line
		}
		line++
	}
	return start
}
