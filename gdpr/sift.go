package gdpr

import (
	"context"
	"slices"
	"strings"
	"sync"

	"memdesk/model"
)

// sift searches the texts of all items in one pass, and reads those that may concern the subject as in any
// other store. It misses nothing that look would find: look alone decides.
func (q *search) sift(ctx context.Context, step func(int64)) error {
	s := sieve{q: q, step: step, due: map[string]bool{}, unread: map[string]bool{}}
	for id := range q.reasons {
		s.due[id] = true
	}
	problems, err := q.store.Texts.EachText(ctx, func(t model.Text, err error) bool { return s.take(ctx, t, err) })
	switch {
	case ctx.Err() != nil:
		return model.FromContext(ctx, "discover")
	case s.failed != nil:
		return s.failed
	case err != nil:
		return err
	}
	q.problems = including(q.problems, problems...)
	slices.SortStableFunc(s.found, func(a, b model.Item) int { return strings.Compare(a.ID, b.ID) })
	for i, it := range s.found {
		q.seen[it.ID] = true
		id := it.ID
		var err error
		if s.unread[it.ID] {
			it, err = q.store.Browser.Read(ctx, it.ID)
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

	due map[string]bool // ids that the store itself ties to the subject

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
		named = s.due[t.ID] || !s.q.othersOnly && (s.q.m.Names(all) || (t.Binary || strings.IndexByte(t.Body, 0) >= 0) && s.q.m.NamesBytes([]byte(t.Body)))
		if named && t.Whole != nil && !s.q.lean {
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
	if err != nil {
		q.seen[t.ID] = true // so that taken does not ask the store
		if err := q.unread(ctx, t.ID, err); err != nil && s.failed == nil {
			s.failed = err
		}
		return s.failed == nil // a text on its way may still come after one that failed
	}
	q.bytes += int64(len(t.Body))
	q.shut(t.ID, t.Body, closed)
	q.note(t.ID, t.Body, t.Meta, near)
	if named {
		s.found = append(s.found, it)
		if t.Whole == nil || q.lean {
			s.unread[t.ID] = true
		}
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
