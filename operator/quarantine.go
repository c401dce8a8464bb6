package operator

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"

	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/quarantine/signal"
)

// QuarantineEntry is one row of the review list.
type QuarantineEntry struct {
	review.Entry
	Writer *origin.Written // of the blocked text; nil: unknown
	// Only of an entry that was read by itself.
	Spans []Span       // where rules matched in Body, in order
	Held  *origin.Held // the write that waits; nil for other entries
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// Quarantine lists the quarantine entries of every store. It changes nothing and is safe for concurrent use.
type Quarantine struct {
	session *Session
	list    walked[QuarantineEntry]
}

// Quarantine is the review list of the session's stores.
func (s *Session) Quarantine() *Quarantine {
	return &Quarantine{session: s}
}

// Entries lists in a stable order.
func (s *Quarantine) Entries(ctx context.Context, q PageQuery) (Page[QuarantineEntry], error) {
	return s.list.page(ctx, "quarantine", q, func(e QuarantineEntry) bool {
		return q.Matches(e.Store, e.ID, e.Source, e.Category, e.Pattern, e.Excerpt(), e.Live.String(), e.Problem)
	}, func(e QuarantineEntry) string {
		if e.ID != "" {
			return ""
		}
		return cmp.Or(e.Store, e.Source) + ": " + e.Problem
	}, s.walk)
}

// walk goes through the stores in the fleet's order. A store that cannot be read, or not to its end, has an
// entry that says so; unreadable thresholds have one before all.
func (s *Quarantine) walk(ctx context.Context) iter.Seq[QuarantineEntry] {
	return func(yield func(QuarantineEntry) bool) {
		if s.session.Judge != nil {
			if err := s.session.Judge.Problem(); err != nil && !yield(QuarantineEntry{Entry: review.Entry{Source: "thresholds", Problem: err.Error()}}) {
				return
			}
		}
		for _, m := range s.session.Fleet.Members() {
			if m.Err != nil {
				if !yield(QuarantineEntry{Entry: review.Entry{Store: m.Name, Problem: "not open: " + model.Reason(m.Err)}}) {
					return
				}
				continue
			}
			for e, err := range review.List(ctx, m.Store) {
				if err != nil {
					e = review.Entry{Store: m.Name, Problem: model.Reason(err)}
				}
				if !yield(QuarantineEntry{Entry: e, Writer: s.writer(ctx, m.Store, e)}) {
					return
				}
			}
		}
	}
}

// writer is the writer of a blocked text: of the held write, or of the source as long as it holds the text.
// Nil: unknown.
func (s *Quarantine) writer(ctx context.Context, st model.Store, e review.Entry) *origin.Written {
	if h := s.held(e); h != nil {
		return &origin.Written{Row: origin.Row{Store: h.Store, ID: h.Request.ID, Writer: h.Writer, At: h.At}, Kept: origin.InLedger}
	}
	if e.SourceID == "" || e.Live != review.Poisoned {
		return nil
	}
	return s.session.WriterOf(ctx, st, model.Header{ID: e.SourceID})
}

// held is the write that an entry stands for; nil: the entry is not of this desk's shelf.
func (s *Quarantine) held(e review.Entry) *origin.Held {
	if s.session.Shelf == nil || !e.Filed {
		return nil
	}
	h, err := s.session.Shelf.Get(e.ID)
	if err != nil || h.Store != e.Store {
		return nil
	}
	return &h
}

// Entry reads one entry with its content, or NotFound.
func (s *Quarantine) Entry(ctx context.Context, store, id string) (QuarantineEntry, error) {
	st, err := s.session.Fleet.Store(store)
	if err != nil {
		return QuarantineEntry{}, err
	}
	e, err := review.Read(ctx, st, id)
	if err != nil {
		return QuarantineEntry{}, err
	}
	d := QuarantineEntry{Entry: e, Writer: s.writer(ctx, st, e), Held: s.held(e)}
	d.Fields = slices.Clone(e.Fields)
	if e.FalsePositive != "" {
		d.Fields = append(d.Fields, model.Field{Name: "known false positive", Value: e.FalsePositive})
	}
	if d.Held != nil {
		for _, g := range d.Held.Signals {
			d.Fields = append(d.Fields, model.Field{Name: g.Name, Value: signalWords(g)})
			if g.Start < g.End && g.End <= len(e.Body) {
				d.Spans = append(d.Spans, Span{Start: g.Start, End: g.End})
			}
		}
	}
	for i, f := range e.Findings {
		if f.End <= len(e.Body) && f.Start < f.End {
			d.Spans = append(d.Spans, Span{Start: f.Start, End: f.End})
		}
		d.Fields = append(d.Fields, model.Field{Name: "hit " + strconv.Itoa(i+1),
			Value: f.Category + " / " + f.Pattern + " at line " + strconv.Itoa(f.Line) + " column " + strconv.Itoa(f.Col)})
	}
	slices.SortStableFunc(d.Spans, func(a, b Span) int { return a.Start - b.Start })
	return d, nil
}

// signalWords are a signal with its weight and its match.
func signalWords(g signal.Signal) string {
	out := g.Title + " (" + strconv.FormatFloat(g.Weight, 'f', 1, 64) + ")"
	if g.Evidence != "" {
		out += ": " + g.Evidence
	}
	return out
}
