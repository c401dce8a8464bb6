package operator

import (
	"strings"
	"time"

	"memdesk/conflict"
	"memdesk/gdpr"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/origin"
)

// Done is the result of an act.
type Done struct {
	Store, Item string
	Bytes       int64          // of the item that was written
	Revision    model.Revision // current revision
	Removed     int64          // items removed
	Gone        bool           // of a restore: the change had created the item, which is now removed
	Kept        string         // of a resolve: id of the copy's kept text; empty when it went
	Relations   int64          // removed along with them, or restored with them
	Fell        string         // unit of Relations: relation, or item
	Undo        string         // entry that undoes the act; empty: nothing was kept
	Expires     time.Time      // of Undo
	Obstacle    string         // why Restore is impossible; empty when it is possible
	Warnings    []string       // deviations from the request, in words
	Notes       []string       // further facts
}

// UndoRow is one undo entry.
type UndoRow struct {
	ID, Store, Item string
	Op              string
	Undoes          bool // the change took back an act of this Op
	At, Expires     time.Time
	Bytes           int64
	Existed         bool      // false: the change made the item, or all of Items, so undo removes it
	Confirmed       bool      // false: it is unknown whether the change was made
	Obstacle        string    // why it cannot be undone; empty when it can
	Items           []UndoRow // Item and Existed of those changed together; nil: of Item alone
}

// PageQuery asks for a window of a list.
type PageQuery struct {
	Filter string // words that a row must contain; empty: all
	Not    bool   // select the rows that do not match
	Cursor string // from a page's Next; empty: the start
	Limit  int    // 1..model.MaxPage
	// Of selects the records of one item, in the log alone; the zero Ref selects all.
	Of model.Ref
}

// Matches reports whether a row passes the filter, as Match reads it.
func (q PageQuery) Matches(columns ...string) bool {
	return q.Filter == "" || NewMatch(q.Filter).Of(columns...) != q.Not
}

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

// QuarantinePage is a window of the review list.
type QuarantinePage struct {
	Entries  []QuarantineEntry
	Next     string
	Total    model.Count
	Problems []string // stores that could not be read
}

// Liveness says whether the source of a quarantined item is still poisoned.
type Liveness string

// The answers; unknown is not clean.
const (
	LivePoisoned Liveness = "poisoned" // the source still holds the blocked text
	LiveClean    Liveness = "clean"    // the source passes the scanner now
	LiveGone     Liveness = "gone"     // the source is gone
	LiveUnknown  Liveness = "unknown"  // it could not be read
)

// QuarantineEntry is one row of the review list.
type QuarantineEntry struct {
	Store         string
	ID            string
	Source        string
	SourceID      string // id of the live item, empty when unknown
	Filed         bool   // it is in the store's quarantine; else it is a live item
	Category      string
	Pattern       string // the rule that matched
	SHA256        string
	Line, Col     int // of the match; 0 when unknown
	Excerpt       string
	Live          Liveness
	At            time.Time
	Bytes         int64
	FalsePositive bool // a known false positive of the scanner
	Problem       string
	Writer        *Written // of the blocked text; nil: unknown
}

// Written is the writer of an item, and where that is recorded.
type Written struct {
	origin.Row
	Kept string
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int }

// QuarantineDetail is an entry with its content.
type QuarantineDetail struct {
	QuarantineEntry
	Body    string
	Spans   []Span        // where rules matched in Body, in order
	Decoded string        // the view that the rule matched in, when it differs from Body
	Fields  []model.Field // further facts
	Held    *origin.Held  // the write that waits; nil for other entries
}

// ConflictPage is a window of the list of conflicts.
type ConflictPage struct {
	Copies   []conflict.Copy
	Next     string
	Total    model.Count
	Problems []string // stores that could not be read
	Notice   string   // what a search or a resolve left unfinished, in words
}

// ErasureRequest is a request with its current or last run.
type ErasureRequest struct {
	gdpr.Due
	Run *jobs.Status // nil: never begun
}

// Under reports whether a run is going, also a paused one.
func (r ErasureRequest) Under() bool {
	return r.Run != nil && r.Run.State.UnderWay()
}

// Stopped reports whether a run began and broke off.
func (r ErasureRequest) Stopped() bool { return r.State == gdpr.StateRunning && !r.Under() }
