package operator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/audit"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// AuditPage is a window of the log.
type AuditPage struct {
	Events []AuditEvent
	Next   string // cursor of the page after (older events); empty at the end
	Total  model.Count
	// Notice warns about the log as a whole: its chain does not verify, it cannot be written, records of a lost key
	// cannot be looked up. Empty: no warning.
	Notice string
	// Verified says up to where and when the chain was verified, in words.
	Verified string
}

// AuditEvent is one record with the clear names that the log's side table still has; an erased or unknown
// name is empty.
type AuditEvent struct {
	Seq     int64
	At      time.Time
	Actor   string
	KeyID   string
	Action  string
	Store   string
	Scope   string // the item's place in its store; without a store, the erasure request or the file
	Target  string // clear name, else empty
	Subject string // clear name, else empty
	Phase   string // intent or outcome
	Result  string
	Open    bool // an intent without an outcome
	// Noted: an event of the store's own system, no record of the log; it has no Seq, and N identifies it on its
	// page.
	Noted  bool
	N      int
	Reason string
	Fields []model.Field // the rest of the record, in its order: keyed hashes, counts, prev
	// Steps are the records of what this act did through others, newest first, as far as its page has them.
	Steps []AuditEvent
}

// Facts are the members of an event beside its number, time, action and Fields, empty ones included,
// in the order in which people read them.
func (e AuditEvent) Facts() []model.Field {
	return []model.Field{
		{Name: "actor", Value: e.Actor}, {Name: "key", Value: e.KeyID}, {Name: "store", Value: e.Store},
		{Name: "target", Value: e.Target}, {Name: "subject", Value: e.Subject}, {Name: "phase", Value: e.Phase},
		{Name: "result", Value: e.Result}, {Name: "reason", Value: e.Reason},
	}
}

// About is what the act was about: an item, a store, or the scope of an act that was not of one store.
func (e AuditEvent) About() string {
	switch {
	case e.Scope != "" && e.Store == "":
		return e.Scope
	case e.Target != "" && e.Store != "": // the log's names are references already
		return e.Store + ":" + strings.TrimPrefix(e.Target, e.Store+":")
	case e.Target != "":
		return e.Target
	}
	return e.Store
}

// AuditTrail lists the audit log, the verified part of its chain, and the stores' own events. It changes
// nothing and is safe for concurrent use.
type AuditTrail struct {
	session *Session
	// noted lists the events of the stores' own systems, newest first, and reading errors.
	noted func(context.Context) (events []StoreEvent, trouble string)

	mu   sync.Mutex
	last verification
}

// AuditTrail is the log of the session, which must have one.
func (s *Session) AuditTrail() *AuditTrail {
	return &AuditTrail{session: s, noted: func(ctx context.Context) (out []StoreEvent, trouble string) {
		out, bounded := StoreEvents(ctx, s.Fleet, func(store string, err error) {
			trouble = "the events of " + store + " are missing: " + err.Error()
		})
		if trouble == "" && len(bounded) > 0 {
			trouble = OnlyNewest(bounded)
		}
		return out, trouble
	}}
}

// verification is the result of the last walk over the chain.
type verification struct {
	at   time.Time
	rep  audit.Report
	err  error
	open map[uint64]bool // intents without an outcome
	// pending is how many they were when it was handed out, newest the Stamp at the walk.
	pending int
	newest  string
	// ended are the later intents whose outcome has been seen.
	ended map[uint64]bool
}

// verifyEvery is the lifetime of a verification: walking the chain reads the whole log.
const verifyEvery = time.Minute

// verified walks the chain when the last verification has expired. One of a broken chain also ends with a new record,
// which may acknowledge it.
func (s *AuditTrail) verified(ctx context.Context) verification {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.session.Clock.Now()
	if !s.last.at.IsZero() && now.Sub(s.last.at) < verifyEvery && s.last.err == nil && (s.last.rep.OK || s.last.rep.Acknowledged || s.last.newest != "" && s.last.newest == s.Stamp(ctx)) {
		s.last.pending = len(s.last.open)
		return s.last
	}
	v := verification{at: now, open: map[uint64]bool{}, ended: map[uint64]bool{}, newest: s.Stamp(ctx)}
	v.rep, v.err = s.session.Log.Verify(ctx)
	for _, r := range v.rep.OpenIntents {
		v.open[r.Seq] = true
	}
	v.pending = len(v.open)
	s.last = v
	return v
}

// settled removes an intent whose outcome has been seen.
func (s *AuditTrail) settled(intent uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.last.open, intent)
	if intent > s.last.rep.Seq {
		s.last.ended[intent] = true
	}
}

// open reports whether an intent has no outcome. The log is read newest first: the outcome of one that is newer
// than the verification was seen before it.
func (s *AuditTrail) open(seq uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.open[seq] || seq > s.last.rep.Seq && !s.last.ended[seq]
}

// words says how far the chain is verified.
func (v verification) words() (state, trouble string) {
	switch {
	case v.err != nil:
		return "", "the chain could not be verified, which is not the same as broken: " + v.err.Error()
	case !v.rep.OK && v.rep.Acknowledged:
		return "", "the chain is BROKEN, as an operator has noted: " + v.rep.Reason
	case !v.rep.OK:
		return "", "the chain is BROKEN: " + v.rep.Reason
	}
	if v.rep.Seq == 0 { // an empty log has no chain
		return "", v.rep.Tiles
	}
	state = "chain verified to record " + strconv.FormatUint(v.rep.Seq, 10) + " at " + when(v.at) + "; one row per act"
	if v.pending > 0 {
		state += "; " + plural(int64(v.pending), "open intent") + ": outcome:open shows them"
	}
	return state, v.rep.Tiles
}

// Stamp changes with every added record; it is cheap. Empty: unknown.
func (s *AuditTrail) Stamp(ctx context.Context) string {
	if s.session.Look(ctx, ReadLog) != nil {
		return ""
	}
	got, err := s.session.Log.List(ctx, audit.Filter{}, 1, "")
	if err != nil || len(got.Rows) == 0 {
		return ""
	}
	return strconv.FormatUint(got.Rows[0].Seq, 10)
}

// auditChunk is the number of records per read in a search.
const auditChunk = 500

// maxSteps bounds the steps in the rows of one page; the page ends behind them.
const maxSteps = 2 * auditChunk

// Events lists, newest first, the matches of the AuditFilter in q.Filter, each act once: an intent is shown
// by its outcome, which names it, unless it has none, the filter asks for a phase or a number, or the chain is
// not verified. Without a filter the steps of an act that went well are in it. A cursor of another list is InvalidInput.
func (s *AuditTrail) Events(ctx context.Context, q PageQuery) (AuditPage, error) {
	l := auditList{trail: s, q: q}
	l.page.Total = model.Count{Unknown: true}
	err := s.session.Look(ctx, ReadLog)
	if err != nil {
		return l.page, err
	}
	if l.filter, err = ParseAuditFilter(q.Filter, s.session.Clock.Now()); err != nil {
		return l.page, err
	}
	look := audit.Filter{Store: q.Of.Store}
	if !q.Not { // else a record before since matches
		look.Since, look.Until = l.filter.Since, l.filter.Until
	}
	v := s.verified(ctx)
	l.sound = v.err == nil && v.rep.OK
	l.page.Verified, l.page.Notice = v.words()
	cursor, end := pageEnd(q.Cursor)
	trouble := ""
	if q.Of.ID != "" {
		look.Target = q.Of.String()
	} else { // a store's own event names no item
		l.noted, trouble = s.noted(ctx)
		if !end.IsZero() { // a later page
			_, l.noted = Between(l.noted, end)
		}
	}
	l.page.Notice = cmp.Or(l.page.Notice, trouble)
	limit := q.Limit
	if l.selects() {
		limit = auditChunk
	}
	unsearched := 0
	for len(l.page.Events) < q.Limit && l.steps < maxSteps {
		got, err := s.session.Log.List(ctx, look, limit, cursor)
		if errors.Is(err, audit.ErrBadCursor) {
			return l.page, model.E(model.InvalidInput, "audit", err)
		}
		if err != nil {
			return l.page, err
		}
		for _, r := range got.Rows {
			l.take(r)
		}
		unsearched += got.Unsearched
		if cursor = got.Next; cursor == "" {
			l.note(l.noted)
			l.page.Next = ""
			break
		}
		l.page.Next = cursor + "@" + l.last.UTC().Format(time.RFC3339Nano)
	}
	if l.page.Notice == "" && unsearched > 0 {
		l.page.Notice = Unsearched(unsearched)
	}
	return l.page, nil
}

// auditList collects a page of the log.
type auditList struct {
	trail  *AuditTrail
	q      PageQuery
	filter AuditFilter
	// sound: the chain is verified; else nobody knows which intents are open, and all are shown.
	sound bool
	noted []StoreEvent // the stores' own that are older than the records taken
	acts  []placed
	steps int
	last  time.Time // of the last record taken
	page  AuditPage
}

// selects reports whether the list leaves records out.
func (l *auditList) selects() bool { return l.q.Filter != "" || l.q.Of.ID != "" }

// take adds a record after the stores' own events that are newer.
func (l *auditList) take(r audit.Row) {
	if r.Link > 0 {
		l.trail.settled(r.Link)
	}
	newer, older := Between(l.noted, r.TS)
	l.note(newer)
	l.noted, l.last = older, r.TS
	e := eventOf(r)
	e.Open = r.Phase == audit.PhaseIntent && l.trail.open(r.Seq)
	if at, ok := ofAct(l.acts, r); ok && !l.selects() && l.sound {
		l.page.Events[at].Steps = append(l.page.Events[at].Steps, e)
		l.steps++
		return
	}
	if r.Link > 0 && rules[Act(r.Action)].steps != nil {
		l.acts = append(l.acts, placed{len(l.page.Events), r})
	}
	l.show(e)
}

func (l *auditList) note(events []StoreEvent) {
	for i, e := range events {
		l.show(notedEvent(e, i))
	}
}

// show adds what the filter passes. An intent with an outcome is shown by that.
func (l *auditList) show(e AuditEvent) {
	if e.Phase == string(audit.PhaseIntent) && !e.Open && !l.filter.records && l.sound {
		return
	}
	if l.filter.Match(e) != l.q.Not {
		l.page.Events = append(l.page.Events, e)
	}
}

// placed is the outcome of an act that works through others, and its place in the page.
type placed struct {
	at int
	audit.Row
}

// ofAct finds the innermost act that a record is a step of: it lies between the intent and the outcome of an act of the
// same session that works through others, and gives that act's reason. A step that failed stands for itself.
func ofAct(acts []placed, r audit.Row) (at int, ok bool) {
	if r.Damaged != "" || r.Result != audit.OK && r.Phase != audit.PhaseNote {
		return 0, false
	}
	for _, act := range slices.Backward(acts) {
		if r.Seq <= act.Link || r.Actor != act.Actor || r.Session != act.Session {
			continue
		}
		if rules[Act(act.Action)].steps(act.Row, r) {
			return act.at, true
		}
	}
	return 0, false
}

// erased are the steps of an erasure. Of a write that named the person the erasure has taken name and reason; its plan stays.
func erased(act, r audit.Row) bool {
	return r.Action == audit.ActionErase || r.Action == receipt.Action || r.Reason == "erasure "+act.Scope || r.Plan != "" && r.Plan == act.Plan
}

// written are the writes of an act, in its one store if it has one; an erased reason is empty.
func written(act, r audit.Row) bool {
	return (act.Store == "" || r.Store == act.Store) && r.Reason == act.Reason && (r.Action == "retain" || r.Action == "forget")
}

// Unsearched says that a lookup by name could not judge records.
func Unsearched(records int) string {
	return "whether " + plural(int64(records), "record") + " name it is not known: the key of their time is gone"
}

// pageEnd splits a cursor: the log's own, and the time of the last record before it, which bounds the stores'
// events already shown.
func pageEnd(cursor string) (string, time.Time) {
	log, end, _ := strings.Cut(cursor, "@")
	at, err := time.Parse(time.RFC3339Nano, end)
	if err != nil {
		return cursor, time.Time{} // the log refuses foreign cursors
	}
	return log, at
}

// notedEvent is a store's own event in the form of the log.
func notedEvent(e StoreEvent, n int) AuditEvent {
	return AuditEvent{Noted: true, N: n, At: e.At, Actor: "the store", Action: e.Name, Store: e.Store, Phase: "event", Fields: e.Payload}
}

func eventOf(r audit.Row) AuditEvent {
	e := AuditEvent{Seq: int64(r.Seq), At: r.TS, Actor: r.Actor, KeyID: r.ActorKey, Action: r.Action, Store: r.Store, Scope: r.Scope,
		Target: NameWords(r), Phase: string(r.Phase), Result: string(r.Result), Reason: r.Reason}
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

// NameWords is the clear name of a record, or why there is none to show.
func NameWords(r audit.Row) string {
	switch r.NameState {
	case audit.NameForged:
		return "(ALTERED: the name beside the log is not this record's)"
	case audit.NameUnchecked:
		return "(not checked: the key of its time is gone)"
	case audit.NameAbsent:
		return "(no name: erased, never kept, or taken away)"
	}
	return r.Name
}
