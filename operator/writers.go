package operator

import (
	"context"
	"time"

	"memdesk/model"
	"memdesk/origin"
)

// WriterOf is who wrote an item of a list last, and where that is kept; false when nobody
// knows. The ledger is asked first. Only a store that knows origins of its own has the item
// read.
func (s *Session) WriterOf(ctx context.Context, st model.Store, h model.Header) (origin.Row, string, bool) {
	if s.Ledger != nil {
		if r, ok, err := s.Ledger.Latest(st.Name, h.ID); err == nil && ok && (h.Revision == "" || h.Revision == r.Revision) {
			return r, origin.InLedger, true
		}
	}
	if st.Origin == nil || st.Browser == nil {
		return origin.Row{}, "", false
	}
	it, err := st.Browser.Read(ctx, h.ID)
	if err != nil {
		return origin.Row{}, "", false
	}
	return s.WriterOfItem(st, it)
}

// WriterOfItem is who wrote the text of an item that was read, and where that is kept; false
// when nobody knows.
func (s *Session) WriterOfItem(st model.Store, it model.Item) (origin.Row, string, bool) {
	return origin.Known(s.Ledger, st, it)
}

// Told are the times that some items were given to agents since a time, oldest first.
func (s *Session) Told(_ context.Context, items []model.Ref, since time.Time) (out []origin.Recall, err error) {
	if s.Trace == nil {
		return nil, nil
	}
	asked := map[model.Ref]bool{}
	for _, ref := range items {
		asked[ref] = true
	}
	err = s.Trace.All(func(r origin.Recall) bool {
		if asked[model.Ref{Store: r.Store, ID: r.ID}] && !r.At.Before(since) {
			out = append(out, r)
		}
		return true
	})
	return out, err
}

// ParseSince takes a moment, a day or a duration before now.
func ParseSince(s string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, model.Errorf(model.InvalidInput, "since", "%q is no time: write 2026-05-21, 2026-05-21T10:00:00Z or a duration such as 36h", s)
}
