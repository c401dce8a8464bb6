package operator

import (
	"time"

	"memdesk/conflict"
	"memdesk/gdpr"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/origin"
)

// Done says what an act did.
type Done struct {
	Store, Item string
	Bytes       int64          // of the item that was written
	Revision    model.Revision // at which it stands now
	Removed     int64          // items that are gone now
	Gone        bool           // of a restore: the change had created the item, which is gone again
	Kept        string         // of a resolve: id under which the copy's text stays; empty when it went
	Relations   int64          // that went with them, or with Restore came back with them
	Fell        string         // the word for what Relations counts: relation, or item
	Undo        string         // takes the act back; empty: nothing was kept
	Expires     time.Time      // until when it can
	Obstacle    string         // why Restore cannot put it back, empty when it can
	Warnings    []string       // what did not go as asked, in words
	Notes       []string       // what else is to be known
}

// UndoRow is one change that was kept.
type UndoRow struct {
	ID, Store, Item string
	Op              string
	At, Expires     time.Time
	Bytes           int64
	Existed         bool   // false: the change made the item, so putting back removes it
	Confirmed       bool   // false: nobody knows whether the change was made
	Obstacle        string // why it cannot be put back; empty when it can
	Sides           int    // items that were changed together; 0: one
}

// PageQuery asks for a window of a list.
type PageQuery struct {
	Filter string // words that a row must contain; empty: all
	Not    bool   // rows that do not match, instead
	Cursor string // from a page's Next; empty: the start
	Limit  int    // 1..model.MaxPage
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
	// Notice warns of the log as a whole, in words:
	// that its chain does not verify, that it cannot be written. Empty: nothing.
	Notice string
	// Verified says up to where and when the chain was verified, in words.
	Verified string
}

// AuditEvent is one record with the clear names that the log's side table still
// has; a name that was erased or never kept stays empty.
type AuditEvent struct {
	Seq     int64
	At      time.Time
	Actor   string
	KeyID   string
	Action  string
	Store   string
	Target  string // clear name, else empty
	Subject string // clear name, else empty
	Phase   string // intent or outcome
	Result  string
	Open    bool // an intent without an outcome
	// Noted: an event of the store's own system and no record of the log; it has no
	// Seq, and N tells it from others of its page.
	Noted  bool
	N      int
	Reason string
	Fields []model.Field // the rest of the record, in its order: keyed hashes, counts, prev
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

// QuarantinePage is a window of the review list.
type QuarantinePage struct {
	Entries []QuarantineEntry
	Next    string
	Total   model.Count
}

// Liveness says whether the source of a quarantined item is still poisoned.
type Liveness string

// The answers; unknown is not clean.
const (
	LivePoisoned Liveness = "poisoned" // the source still holds what was blocked
	LiveClean    Liveness = "clean"    // the source passes the scanner now
	LiveGone     Liveness = "gone"     // there is no source any more
	LiveUnknown  Liveness = "unknown"  // nobody could look
)

// QuarantineEntry is one row of the review list.
type QuarantineEntry struct {
	Store         string
	ID            string
	Source        string
	SourceID      string // id of the live item, empty when it cannot be told
	Filed         bool   // the store's quarantine holds it; otherwise it is a live item
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
	Writer        *Written // who wrote what was blocked; nil: nobody knows
}

// Written is who wrote an item, and where that is kept.
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
	Fields  []model.Field // what else is known
}

// ConflictPage is a window of the list of conflicts.
type ConflictPage struct {
	Copies []conflict.Copy
	Next   string
	Total  model.Count
	Notice string // what was not looked at, in words
}

// ErasureRequest is a request with the run that carries it out, or did last.
type ErasureRequest struct {
	gdpr.Due
	Run *jobs.Status // nil: none was begun
}

// Under reports whether a run is under way, also a paused one.
func (r ErasureRequest) Under() bool {
	return r.Run != nil && (r.Run.State == jobs.Queued || r.Run.State == jobs.Running || r.Run.State == jobs.Paused)
}

// Stopped reports whether a run began and broke off.
func (r ErasureRequest) Stopped() bool { return r.State == gdpr.StateRunning && !r.Under() }

// DaysLeft counts whole days to the deadline; negative when it has passed.
func (r ErasureRequest) DaysLeft(now time.Time) int {
	y, m, day := now.UTC().Date()
	return int(r.Deadline.Sub(time.Date(y, m, day, 0, 0, 0, 0, time.UTC)).Hours() / 24)
}
