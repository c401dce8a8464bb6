package tui

import (
	"context"
	"time"

	"memdesk/model"
)

// PageQuery asks a source for a window of its list.
type PageQuery struct {
	Filter string // words that a row must contain; empty: all
	Not    bool   // rows that do not match, instead
	Cursor string // from a page's Next; empty: the start
	Limit  int    // 1..model.MaxPage
}

// AuditSource is the operator log as the console reads it. It changes nothing
// and is safe for concurrent use.
type AuditSource interface {
	// Events lists newest first what AuditFilter of q.Filter matches. A cursor that is not this list's is InvalidInput.
	Events(ctx context.Context, q PageQuery) (AuditPage, error)
	// Stamp changes whenever a record was added; it is cheap. Empty: not known.
	Stamp(ctx context.Context) string
}

// AuditPage is a window of the log.
type AuditPage struct {
	Events []AuditEvent
	Next   string // cursor of the page after (older events); empty at the end
	Total  model.Count
	// Notice is what the operator must know about the log as a whole, in words:
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

// QuarantineSource lists what scanners have set aside in every store. It changes
// nothing and is safe for concurrent use.
type QuarantineSource interface {
	// Entries lists in a stable order. A store that cannot be read has one entry
	// with Problem set, so it is never left out.
	Entries(ctx context.Context, q PageQuery) (QuarantinePage, error)
	// Entry reads one with its content, or NotFound.
	Entry(ctx context.Context, store, id string) (QuarantineDetail, error)
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
