package gdpr

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"memdesk/model"
)

// eachText yields every item of a store, as model.Texts says: hidden ones, archived ones, and those that no list shows. A
// store without Texts is listed and read item by item, until its error makes the rest unknown.
func eachText(ctx context.Context, s model.Store, yield func(model.Text, error) bool) (problems []string, err error) {
	if s.Texts != nil {
		return s.Texts.EachText(ctx, yield)
	}
	req := model.PageRequest{Limit: model.MaxPage, Hidden: true}
	if slices.Contains(s.Orders, model.OrderID) {
		req.Order = model.OrderID
	}
	seen := map[string]bool{}
	for page, err := range model.Pages(ctx, s.Browser, req) {
		if err != nil {
			return nil, err
		}
		problems = including(problems, page.Problems...)
		for _, h := range page.Items {
			if seen[h.ID] {
				continue
			}
			seen[h.ID] = true
			if more, err := readText(ctx, s, h.ID, yield); err != nil || !more {
				return problems, err
			}
		}
	}
	if s.Names == nil {
		return problems, nil
	}
	var rest []string
	unlisted, err := s.Names.Names(ctx, func(id string) bool {
		if !seen[id] {
			seen[id] = true
			rest = append(rest, id)
		}
		return true
	})
	if err != nil {
		return problems, err
	}
	for _, id := range rest {
		if more, err := readText(ctx, s, id, yield); err != nil || !more {
			return problems, err
		}
	}
	return append(problems, unlisted...), nil
}

// readText yields one item as eachText does, and reports whether more may follow.
func readText(ctx context.Context, s model.Store, id string, yield func(model.Text, error) bool) (more bool, err error) {
	it, err := s.Browser.Read(ctx, id)
	switch {
	case errors.Is(err, model.NotFound): // deleted since it was listed
		return true, nil
	case model.KindOf(err).Retryable(): // the store went away
		return false, err
	}
	return yield(model.Text{ID: id, Body: it.Body, Meta: it.Meta, Binary: raw(it), Whole: func() model.Item { return it }}, err), nil
}

// eachQuarantined yields every entry of a store's quarantine as a text, with its source as a field. problems are the rows
// that are no entry: a file or a quarantine that cannot be read.
func eachQuarantined(ctx context.Context, s model.Store, yield func(model.Text, error) error) (problems []string, err error) {
	if s.Quarantine == nil {
		return nil, nil
	}
	all, err := s.Quarantine.Quarantined(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		full, err := s.Quarantine.ReadQuarantined(ctx, e.ID)
		switch {
		case errors.Is(err, model.NotFound): // gone since the listing
			continue
		case e.Problem != "" && errors.Is(err, model.InvalidInput):
			problems = append(problems, e.ID+": "+e.Problem)
			continue
		case err == nil && full.Unread && isLink(s, full.Problem):
			continue
		case err == nil && full.Unread:
			err = model.Errorf(model.Unsupported, "quarantine", "%s", full.Problem)
		}
		t := model.Text{ID: e.ID, Body: full.Body, Meta: []model.Field{{Name: "source", Value: cmp.Or(full.Source, e.Source)}}}
		if err := yield(t, err); err != nil {
			return problems, err
		}
	}
	return problems, nil
}

// sift searches the texts of all items in one pass, and looks at those that may concern the subject. It misses nothing
// that look would find: look alone decides.
func (q *search) sift(ctx context.Context, step func(int64)) error {
	s := sieve{q: q, step: step, unread: map[string]bool{}}
	take := func(t model.Text, err error) bool { return s.take(ctx, t, err) }
	problems, err := eachText(ctx, q.store, take)
	q.problems = including(q.problems, problems...)
	for _, id := range slices.Sorted(maps.Keys(q.reasons)) {
		if err != nil || s.failed != nil {
			break
		}
		if !q.seen[id] { // tied to the subject, and in no list
			q.seen[id] = true
			_, err = readText(ctx, q.store, id, take)
		}
	}
	switch {
	case ctx.Err() != nil:
		return model.FromContext(ctx, "discover")
	case s.failed != nil:
		return s.failed
	case err != nil:
		return err
	}
	slices.SortStableFunc(s.found, func(a, b model.Item) int { return strings.Compare(a.ID, b.ID) })
	for i, it := range s.found {
		id := it.ID
		var err error
		if s.unread[id] {
			it, err = q.store.Browser.Read(ctx, id)
		}
		s.found[i] = model.Item{}
		switch {
		case err == nil:
			q.look(it)
		case model.KindOf(err) == model.NotFound: // deleted in between
		default:
			if err := q.unread(ctx, id, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// sieve is one pass; its texts come from several goroutines at once.
type sieve struct {
	q    *search
	step func(int64)

	mu     sync.Mutex
	found  []model.Item
	unread map[string]bool // found items of which only the id is known
	failed error
}

// toldEvery is how many items are searched between two progress reports.
const toldEvery = 100

func (s *sieve) take(ctx context.Context, t model.Text, err error) bool {
	near, named := false, false
	it := model.Item{Header: model.Header{ID: t.ID}}
	if err == nil {
		all := join(t.ID, t.Body, t.Meta)
		near = s.q.m.Near(all)
		named = len(s.q.reasons[t.ID]) > 0 || !s.q.othersOnly && (s.q.m.Names(all) || (t.Binary || strings.IndexByte(t.Body, 0) >= 0) && s.q.m.NamesBytes([]byte(t.Body)))
		if named && t.Whole != nil {
			it = t.Whole()
		}
	}
	var closed []string
	if err == nil && !named && !s.q.othersOnly { // the caller looks again at a text that names the subject
		_, closed = s.q.m.Inside(t.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.q
	q.items++
	q.mark(t.ID)
	if err != nil || named || q.store.Texts == nil { // search.taken asks the store about the others
		q.seen[t.ID] = true
	}
	if err != nil {
		if err := q.unread(ctx, t.ID, err); err != nil && s.failed == nil {
			s.failed = err
		}
		return s.failed == nil // a text on its way may still come after one that failed
	}
	q.bytes += int64(len(t.Body))
	q.shut(t.ID, t.Body, closed)
	q.note(t.ID, t.Body, t.Meta, near)
	switch {
	case named && q.lean && t.Whole != nil:
		q.look(it) // keeps no text
	case named:
		s.found, s.unread[t.ID] = append(s.found, it), t.Whole == nil
	}
	if s.step != nil && q.items%toldEvery == 0 {
		s.step(q.items)
	}
	return true
}

// join concatenates all texts of an item. A NUL between two of them separates words, runs and escapes, so a
// match in one part is a match in the whole.
func join(id, body string, meta []model.Field) string {
	if len(meta) == 0 {
		return id + "\x00" + body
	}
	size := len(id) + len(body) + 1
	for _, f := range meta {
		size += len(f.Name) + len(f.Value) + 2
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteString(id)
	b.WriteByte(0)
	b.WriteString(body)
	for _, f := range meta {
		b.WriteByte(0)
		b.WriteString(f.Name)
		b.WriteByte('\n')
		b.WriteString(f.Value)
	}
	return b.String()
}
