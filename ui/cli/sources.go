package cli

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine/review"
	"memdesk/ui/tui"
)

// auditSource shows the operator log in the console.
type auditSource struct {
	log   *audit.Log
	clock clock.Clock
	// noted lists what the stores' own systems have noted, the newest first, and what
	// could not be read of it; nil: nobody is asked.
	noted func(context.Context) (events []storeEvent, trouble string)

	mu   sync.Mutex
	last verification
	ends map[string]time.Time // of the last record before a cursor: newer events are shown
}

// verification is the result of the last walk over the chain.
type verification struct {
	at   time.Time
	seq  uint64 // of the newest record then
	rep  audit.Report
	err  error
	open map[uint64]bool // intents without an outcome
}

// verifyEvery is how long a verification is shown before the chain is walked
// again: a walk reads the whole log.
const verifyEvery = time.Minute

// verified walks the chain when the last walk is old.
func (s *auditSource) verified(ctx context.Context) verification {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if !s.last.at.IsZero() && now.Sub(s.last.at) < verifyEvery && s.last.err == nil && s.last.rep.OK {
		return s.last
	}
	v := verification{at: now, open: map[uint64]bool{}}
	v.rep, v.err = s.log.Verify(ctx)
	for _, r := range v.rep.OpenIntents {
		v.open[r.Seq] = true
	}
	if got, err := s.log.List(ctx, audit.Filter{}, 1, ""); err == nil && len(got.Rows) > 0 {
		v.seq = got.Rows[0].Seq
	}
	s.last = v
	return v
}

// settled takes an intent off the list: its outcome has been seen.
func (s *auditSource) settled(intent uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last.open, intent)
}

func (s *auditSource) open(seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.open[seq]
}

// words say how far the chain is verified.
func (v verification) words() (state, trouble string) {
	switch {
	case v.err != nil:
		return "", "the chain could not be verified, which is not the same as broken: " + v.err.Error()
	case !v.rep.OK && v.rep.Acknowledged:
		return "", "the chain is BROKEN, as an operator has noted: " + v.rep.Reason
	case !v.rep.OK:
		return "", "the chain is BROKEN: " + v.rep.Reason
	}
	state = "chain verified up to " + strconv.FormatUint(v.seq, 10) + " (" + plural(int64(v.rep.Events), "record") + ") at " + when(v.at)
	if n := len(v.open); n > 0 {
		state += "; " + plural(int64(n), "open intent") + ": outcome:open shows them"
	}
	return state, ""
}

// Stamp implements tui.AuditSource.
func (s *auditSource) Stamp(ctx context.Context) string {
	got, err := s.log.List(ctx, audit.Filter{}, 1, "")
	if err != nil || len(got.Rows) == 0 {
		return ""
	}
	return strconv.FormatUint(got.Rows[0].Seq, 10)
}

// auditChunk is how many records are read at a time while looking for matches.
const auditChunk = 500

// Events implements tui.AuditSource.
func (s *auditSource) Events(ctx context.Context, q tui.PageQuery) (tui.AuditPage, error) {
	var page tui.AuditPage
	page.Total = model.Count{Unknown: true}
	filter, err := tui.ParseAuditFilter(q.Filter)
	if err != nil {
		return page, err
	}
	if q.Not { // a record before since is one that does not match
		filter.Since, filter.Until = time.Time{}, time.Time{}
	}
	v := s.verified(ctx)
	page.Verified, page.Notice = v.words()
	cursor := q.Cursor
	events, trouble := s.storesEvents(ctx, q.Cursor)
	if page.Notice == "" {
		page.Notice = trouble
	}
	asked := len(events) > 0
	show := func(e tui.AuditEvent) {
		if filter.Match(e) != q.Not {
			page.Events = append(page.Events, e)
		}
	}
	var last time.Time
	for len(page.Events) < q.Limit {
		limit := q.Limit - len(page.Events)
		if q.Filter != "" {
			limit = auditChunk
		}
		got, err := s.log.List(ctx, audit.Filter{Since: filter.Since, Until: filter.Until}, limit, cursor)
		if errors.Is(err, audit.ErrBadCursor) {
			return page, model.E(model.InvalidInput, "audit", err)
		}
		if err != nil {
			return page, err
		}
		for _, r := range got.Rows {
			if r.Link > 0 {
				s.settled(r.Link)
			}
			var newer []storeEvent
			newer, events = between(events, r.TS)
			for i, e := range newer {
				show(notedEvent(e, i))
			}
			e := eventOf(r)
			e.Open = r.Phase == audit.PhaseIntent && s.open(r.Seq)
			show(e)
			last = r.TS
		}
		page.Next, cursor = got.Next, got.Next
		if cursor == "" {
			break
		}
	}
	if page.Next == "" {
		for i, e := range events {
			show(notedEvent(e, i))
		}
	} else {
		s.endsAt(page.Next, last)
	}
	if q.Cursor == "" && q.Filter == "" && !asked && len(page.Events) > 0 && v.err == nil {
		page.Total = model.Count{N: page.Events[0].Seq} // records are numbered from 1
	}
	return page, nil
}

// storesEvents are the stores' own events that stand behind a cursor.
func (s *auditSource) storesEvents(ctx context.Context, cursor string) ([]storeEvent, string) {
	if s.noted == nil {
		return nil, ""
	}
	events, trouble := s.noted(ctx)
	s.mu.Lock()
	end, later := s.ends[cursor]
	s.mu.Unlock()
	if later {
		_, events = between(events, end)
	}
	return events, trouble
}

// endsAt remembers the time of the last record before a cursor.
func (s *auditSource) endsAt(cursor string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = map[string]time.Time{}
	}
	s.ends[cursor] = at
}

// notedEvent is a store's own event as the pane shows it.
func notedEvent(e storeEvent, n int) tui.AuditEvent {
	return tui.AuditEvent{Noted: true, N: n, At: e.At, Actor: "the store", Action: e.Name, Store: e.store, Phase: "noted", Fields: e.Payload}
}

func eventOf(r audit.Row) tui.AuditEvent {
	e := tui.AuditEvent{Seq: int64(r.Seq), At: r.TS, Actor: r.Actor, KeyID: r.ActorKey, Action: r.Action, Store: r.Store,
		Target: nameWords(r), Phase: string(r.Phase), Result: string(r.Result), Reason: r.Reason}
	if r.Damaged != "" {
		e.Result, e.Reason = "damaged", r.Damaged
	}
	add := func(name, value string) {
		if value != "" {
			e.Fields = append(e.Fields, model.Field{Name: name, Value: value})
		}
	}
	add("role", r.Role)
	add("tier", r.Tier)
	add("scope", r.Scope)
	if r.Link > 0 {
		add("outcome of", strconv.FormatUint(r.Link, 10))
	}
	add("error class", r.Class)
	for _, k := range []string{"bytes", "removed"} {
		if n, ok := r.Counts[k]; ok {
			add(k, strconv.FormatInt(n, 10))
		}
	}
	add("target (keyed)", r.Target)
	add("subject (keyed)", r.Subject)
	add("session", r.Session)
	add("tool", r.Tool)
	add("prev", r.Prev)
	add("hash", r.Hash)
	return e
}

// matches applies a pane's filter: every word must occur in some column.
func matches(q tui.PageQuery, columns ...string) bool {
	if q.Filter == "" {
		return true
	}
	all := strings.ToLower(strings.Join(columns, "\n"))
	hit := true
	for _, w := range strings.Fields(strings.ToLower(q.Filter)) {
		hit = hit && strings.Contains(all, w)
	}
	return hit != q.Not
}

// quarantineSource lists the quarantine of every store.
type quarantineSource struct {
	fleet *backends.Fleet
	list  walked[tui.QuarantineEntry]
}

// Entries implements tui.QuarantineSource.
func (s *quarantineSource) Entries(ctx context.Context, q tui.PageQuery) (tui.QuarantinePage, error) {
	page, err := s.list.page(ctx, "quarantine", q, func(e tui.QuarantineEntry) bool {
		return matches(q, e.Store, e.ID, e.Source, e.Category, e.Pattern, e.Excerpt, e.Problem)
	}, s.walk)
	return tui.QuarantinePage{Entries: page.rows, Next: page.next, Total: page.total}, err
}

// walk goes through the stores in the fleet's order. A store that cannot be
// looked at, or not to its end, has an entry that says so.
func (s *quarantineSource) walk(ctx context.Context) iter.Seq[tui.QuarantineEntry] {
	return func(yield func(tui.QuarantineEntry) bool) {
		for _, m := range s.fleet.Members() {
			if m.Err != nil {
				if !yield(tui.QuarantineEntry{Store: m.Name, Live: tui.LiveUnknown, Problem: "not open: " + m.Err.Error()}) {
					return
				}
				continue
			}
			for e, err := range review.List(ctx, m.Store) {
				row := rowOf(e)
				if err != nil {
					row = tui.QuarantineEntry{Store: m.Name, Live: tui.LiveUnknown, Problem: "the scan stopped: " + err.Error()}
				}
				if !yield(row) {
					return
				}
			}
		}
	}
}

// Entry implements tui.QuarantineSource.
func (s *quarantineSource) Entry(ctx context.Context, store, id string) (tui.QuarantineDetail, error) {
	st, err := s.fleet.Store(store)
	if err != nil {
		return tui.QuarantineDetail{}, err
	}
	e, err := review.Read(ctx, st, id)
	if err != nil {
		return tui.QuarantineDetail{}, err
	}
	d := tui.QuarantineDetail{QuarantineEntry: rowOf(e), Body: e.Body, Decoded: e.Decoded}
	if e.FalsePositive != "" {
		d.Fields = append(d.Fields, model.Field{Name: "known false positive", Value: e.FalsePositive})
	}
	for i, f := range e.Findings {
		if f.End <= len(e.Body) && f.Start < f.End {
			d.Spans = append(d.Spans, tui.Span{Start: f.Start, End: f.End})
		}
		d.Fields = append(d.Fields, model.Field{Name: "hit " + strconv.Itoa(i+1),
			Value: f.Category + " / " + f.Pattern + " at line " + strconv.Itoa(f.Line) + " column " + strconv.Itoa(f.Col)})
	}
	slices.SortStableFunc(d.Spans, func(a, b tui.Span) int { return a.Start - b.Start })
	return d, nil
}

func rowOf(e review.Entry) tui.QuarantineEntry {
	q := tui.QuarantineEntry{Store: e.Store, ID: e.ID, Source: e.Source, SourceID: e.SourceID, Filed: e.Filed, Category: e.Category, Pattern: e.Pattern, SHA256: e.SHA256,
		Line: e.Line, Col: e.Col, Excerpt: e.Before + e.Match + e.After, At: e.At, Bytes: e.Bytes,
		FalsePositive: e.FalsePositive != "", Problem: e.Problem, Live: tui.LiveUnknown}
	switch {
	case e.Live == nil:
	case e.Gone:
		q.Live = tui.LiveGone
	case *e.Live:
		q.Live = tui.LivePoisoned
	default:
		q.Live = tui.LiveClean
	}
	return q
}
