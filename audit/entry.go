package audit

import "time"

// Phase is a record's position around an act.
type Phase string

// The phases. An intent is followed by at least one outcome that links to it; a
// note stands alone: a read, a refusal, an event of the log itself.
const (
	PhaseIntent  Phase = "intent"
	PhaseOutcome Phase = "outcome"
	PhaseNote    Phase = "note"
)

// Verdict is how an act ended.
type Verdict string

// The verdicts. Unknown is for an act whose effect was not seen; it is not ok.
const (
	OK      Verdict = "ok"
	Partial Verdict = "partial"
	Failed  Verdict = "failed"
	Pending Verdict = "pending"
	Unknown Verdict = "unknown"
	Refused Verdict = "refused"
)

// The log's own events, all of phase note.
const (
	ActionBegin       = "audit.begin"       // the first record
	ActionRotate      = "audit.rotate"      // a segment was full, or not trusted after an I/O error
	ActionTorn        = "audit.torn"        // an append cut short was set aside
	ActionAcknowledge = "audit.acknowledge" // an operator acknowledged an alarm
	ActionClock       = "audit.clock"       // the wall clock stepped: counts.step_ns
	ActionKey         = "audit.key"         // a new key after the old one was lost
	ActionRetire      = "audit.retire"      // segments past their retention were removed: counts.seq is the last record, plan its hash
	ActionErase       = "audit.erase"       // rows of the side table were erased: counts.rows
	ActionTree        = "audit.tree"        // a tree over the records began: scope is its verifier key, counts.first its first record
	ActionTreeKey     = "audit.tree_key"    // checkpoints are signed with another key from here on: scope
	ActionTreeEnd     = "audit.tree_end"    // an acknowledged break ended a tree: scope is its origin
)

// Entry describes an act for the log. Names and reasons are given in clear: the record holds keyed hashes of
// Target and Subject, the side table holds Target and Reason; Subject is never stored in clear.
type Entry struct {
	Action string // the verb: "forget"
	Store  string // the store's configured name
	Scope  string // workspace or crew; an identifier, never a person's name
	Tier   string
	// Target is the item's id or path, stored as a keyed hash and in the side table.
	Target string
	// Subject is the data subject's id, stored as a keyed hash only.
	Subject string
	Plan    string // hash of the plan that was shown and approved
	Reason  string // free text; side table only
	Origin  string // the client, session and source of a write; side table only
	Counts  map[string]int64
}

// Result is how an act ended, in classes and numbers only.
type Result struct {
	Verdict Verdict
	Class   string // the error's kind, never its text
	Counts  map[string]int64
	// Target is the item that an act made, where its intent could not name it: the store makes its id.
	Target string
}

// Record is one stored record, decoded.
type Record struct {
	V        int
	Seq      uint64
	TS       time.Time // UTC
	Mono     time.Duration
	Boot     string // boot id of the machine
	Host     string // hash of the machine id, and the namespace of PID (processSpace)
	PID      int
	Tool     string
	Actor    string
	ActorKey string // fingerprint of the operator's SSH key; empty when unauthenticated
	Key      string // id of the HMAC key
	Role     string
	Session  string
	Action   string
	Store    string
	Scope    string
	Tier     string
	Target   string
	Subject  string
	Phase    Phase
	Link     uint64 // an outcome's intent; 0 otherwise
	Plan     string
	Result   Verdict
	Class    string
	Segment  string // the sealed segment, in the first record of the next
	Seal     string
	Counts   map[string]int64
	Prev     string
	Hash     string
}
