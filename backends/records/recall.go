package records

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// longestQuery bounds a query.
const longestQuery = 10_000

// Recall finds items that contain the query, without regard to letter case: a match in the title before one
// in the text, then the newest. Every item is searched, so the total is exact. Items that the owner's program
// hides are left out, and items that the scanner rejects are listed apart.
func (a *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	const op = "recall"
	res := model.RecallResult{Hits: []model.RecallSnippet{}}
	if err := a.begin(ctx, op, false); err != nil {
		return res, err
	}
	needle := snippet.Fold(strings.TrimSpace(req.Query))
	switch {
	case needle == "":
		return res, model.Errorf(model.InvalidInput, op, "the query is empty")
	case len(req.Query) > longestQuery:
		return res, model.Errorf(model.InvalidInput, op, "the query is longer than %d bytes", longestQuery)
	case !utf8.ValidString(req.Query):
		return res, model.Errorf(model.InvalidInput, op, "the query is not valid UTF-8 text")
	}
	if req.Tier != "" {
		if _, err := a.table(op, req.Tier); err != nil {
			return res, err
		}
	}
	type hit struct {
		it    model.Item
		score float64
	}
	var best []hit
	limit := model.ClampLimit(req.Limit)
	first := func(x, y hit) int {
		switch {
		case x.score != y.score:
			return int(2 * (y.score - x.score))
		case !x.it.Modified.Equal(y.it.Modified):
			return y.it.Modified.Compare(x.it.Modified)
		}
		return strings.Compare(x.it.ID, y.it.ID)
	}
	err := a.matching(ctx, op, req.Tier, needle, func() { best, res.Quarantined, res.Total = nil, nil, 0 }, func(it model.Item) {
		if a.scanner.Rejects(it.Body) {
			res.Quarantined = append(res.Quarantined, it.ID)
			return
		}
		res.Total++
		h := hit{it, 0.5}
		if strings.Contains(snippet.Fold(it.Title), needle) {
			h.score = 1
		}
		at, _ := slices.BinarySearchFunc(best, h, first)
		if at < limit {
			if text, _ := shown(it, needle); text != it.Body && a.scanner.Rejects(text) {
				res.Total--
				res.Quarantined = append(res.Quarantined, it.ID)
				return
			}
			best = slices.Insert(best, at, h)
			best = best[:min(len(best), limit)]
		}
	}, func(why string) { res.Bounded, res.BoundNote = true, why })
	slices.Sort(res.Quarantined)
	if err != nil {
		return model.RecallResult{Hits: []model.RecallSnippet{}}, model.Wrap(op, err)
	}
	for _, h := range best {
		text, line := quote(h.it, req.Query)
		res.Hits = append(res.Hits, model.RecallSnippet{ID: h.it.ID, Source: h.it.ID, Snippet: text, Line: line, Score: h.score})
	}
	return res, nil
}

// matching yields the items that contain a folded text, in no order and on one snapshot. begin is called
// before the first, and again when the snapshot is repeated; bounded is called where it was incomplete.
func (a *store) matching(ctx context.Context, op, tier, needle string, begin func(), yield func(model.Item), bounded func(why string)) error {
	return a.DB.View(ctx, op, func(tx Tx) error {
		begin()
		for i := range a.Tables {
			t := &a.Tables[i]
			if tier != "" && tier != t.Tier.Name {
				continue
			}
			w := t.Recall
			if w == nil {
				w = &Words{Text: t.searched(), JSON: t.SearchJSON}
			}
			cond, args := a.mayHold(w.Text, w.JSON, needle)
			err := t.read(tx, false, cond, args, func(r Row) {
				if it := t.item(r); t.Recall == nil && Matches(it, needle) || t.Recall != nil && t.Recall.hold(it, needle) {
					yield(it)
				}
			})
			if err != nil {
				return err
			}
		}
		problems, err := a.unread(tx, 0)
		if len(problems) > 0 {
			bounded(problems[0])
		}
		return err
	})
}

// hold reports whether the parts that Recall searches contain a folded text.
func (w Words) hold(it model.Item, needle string) bool {
	has := func(s string) bool { return strings.Contains(snippet.Fold(s), needle) }
	return has(it.Body) || has(it.Title) || slices.ContainsFunc(it.Meta, func(f model.Field) bool { return slices.Contains(w.Fields, f.Name) && has(f.Value) })
}

// shown is the text that a snippet is cut from. A match that is only in a field is shown by that field.
func shown(it model.Item, needle string) (text, field string) {
	if !strings.Contains(snippet.Fold(it.Body), needle) && !strings.Contains(snippet.Fold(it.Title), needle) {
		for _, f := range it.Meta {
			if strings.Contains(snippet.Fold(f.Value), needle) {
				return f.Value, f.Name
			}
		}
	}
	return cmp.Or(it.Body, it.Title), ""
}

// quote cuts a snippet. A match that is only in a field is marked with the field's name.
func quote(it model.Item, query string) (string, int) {
	from, field := shown(it, snippet.Fold(strings.TrimSpace(query)))
	text, line := snippet.Cut(from, query)
	switch {
	case field != "":
		return field + ": " + text, 0
	case it.Body == "": // the title
		return strings.ToValidUTF8(it.Title, "\ufffd"), 0
	}
	return text, line
}

// mayHold is a condition that is true for every row whose item contains a folded text, and false for many
// others: one of the expressions must contain the text's longest word. A letter that non-ASCII letters fold
// to (k of the Kelvin sign, s of the long s, i of the dotless i), and a non-ASCII letter, match any
// character; an escape \u of JSON may be any letter.
func (a *store) mayHold(inText, inJSON []string, needle string) (cond string, args []any) {
	word := ""
	for _, w := range strings.FieldsFunc(needle, snippet.NotWord) {
		if len(w) > len(word) {
			word = w
		}
	}
	pattern := strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf || strings.ContainsRune("ksi", r) {
			return '_'
		}
		return r
	}, word)
	if len(inText)+len(inJSON) == 0 || strings.Trim(pattern, "_") == "" {
		return "", nil
	}
	like := cmp.Or(a.Like, "LIKE")
	var any []string
	for _, e := range slices.Concat(inText, inJSON) {
		any, args = append(any, `(`+e+`) `+like+` ? ESCAPE '!'`), append(args, `%`+pattern+`%`)
	}
	for _, e := range inJSON {
		if a.Like == "" { // SQLite finds a byte of GLOB's with memchr, of LIKE's with a table of both cases
			any = append(any, `(`+e+`) GLOB '*\u*'`)
			continue
		}
		any, args = append(any, `(`+e+`) LIKE ? ESCAPE '!'`), append(args, `%\u%`)
	}
	return `(` + strings.Join(any, ` OR `) + `)`, args
}

// Concerning streams the items that the store's own keys tie to the subjects.
func (a *store) Concerning(ctx context.Context, subjects []string, yield func(model.SubjectHit) bool) error {
	const op = "concerning"
	if err := a.begin(ctx, op, false); err != nil {
		return err
	}
	var hits []model.SubjectHit
	err := a.DB.View(ctx, op, func(tx Tx) (err error) {
		hits, err = a.hits(tx, subjects)
		return err
	})
	if err != nil {
		return model.Wrap(op, err)
	}
	for _, h := range hits {
		if !yield(h) {
			return nil
		}
	}
	return nil
}

func (a *store) hits(tx Tx, subjects []string) (hits []model.SubjectHit, err error) {
	if a.Config.Concerning == nil || len(subjects) == 0 {
		return nil, nil
	}
	seen := map[model.SubjectHit]bool{}
	err = a.Config.Concerning(tx, subjects, func(id, subject, reason string) {
		h := model.SubjectHit{ID: id, Subject: subject, Reason: reason}
		if !seen[h] {
			seen[h] = true
			hits = append(hits, h)
		}
	})
	return hits, err
}
