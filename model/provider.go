package model

import "context"

// Provider is the four-verb contract (provider-contract.md R1). It is
// append-only: fields may be added, none changes its meaning (R43).
//
// Every method is safe for concurrent use (R2) and returns promptly when its
// context ends (R40). Errors are *Error values, so errors.Is(err, NotFound) and
// its siblings work; they hold no credential and no absolute path (R15, R41).
type Provider interface {
	// Retain writes one item. It is InvalidInput for an empty or unknown Mode
	// (R3, R4), tier (R7) or key (R9, R11), for empty content or content that is
	// not UTF-8 (R12), for a result over the tier's cap (R13), for a scope that is
	// not the store's (R17) and for content that a scanner rejects (R18). Nothing
	// has changed when an error is returned. Not idempotent in append mode.
	Retain(ctx context.Context, req RetainRequest) (RetainResult, error)

	// Recall searches like an agent: at most 20 hits (R21), best first, never text from a quarantined item
	// (R25). A blank query (R19) and an unknown tier (R20) are InvalidInput.
	Recall(ctx context.Context, req RecallRequest) (RecallResult, error)

	// Forget removes one item by ID, or everything that concerns one person by
	// DataSubjectID; exactly one of the two must be set (R28, R29). Idempotent: an
	// absent item is Removed 0 and no error (R31). A store without subject keys
	// answers Unsupported to the cascade and removes nothing (R32).
	Forget(ctx context.Context, req ForgetRequest) (ForgetResult, error)

	// Health observes and changes nothing (R39). It answers within 200 ms for a
	// local and 1 s for a remote store by a deadline of its own (R35).
	Health(ctx context.Context) HealthStatus
}

// Mode says how Retain combines content with the existing item.
type Mode string

// The two modes, spelled exactly so (R4).
const (
	Replace Mode = "replace"
	Append  Mode = "append"
)

// Check returns an InvalidInput error for anything but the two modes.
func (m Mode) Check() error {
	switch m {
	case Replace, Append:
		return nil
	case "":
		return Errorf(InvalidInput, "retain", "mode is missing: give replace or append")
	}
	return Errorf(InvalidInput, "retain", "unknown mode %q: give replace or append", string(m))
}

// Erased replaces a subject's identifier in a text after an erasure; ErasedWord where a format permits no
// brackets. A tier that its own writer fills, and that accepts only edits which remove, accepts these in the
// place of removed text.
const (
	Erased     = "[erased]"
	ErasedWord = "erased"
)

// RetainRequest asks for one write. Tier and Key address an item by the store's
// rules; ID, when set, addresses an existing or new item directly, and Tier and
// Key must then be empty or agree with it.
type RetainRequest struct {
	WorkspaceID string
	AgentID     string
	CrewID      string
	Tier        string
	Key         string
	Content     string // the body, UTF-8
	Mode        Mode

	// ID addresses an item by the handle Retain or a list returned.
	ID string
	// IfMatch is the revision that the caller has seen, or Absent to create only. A mismatch is Conflict and
	// changes nothing. Empty means unconditional.
	IfMatch Revision
	// Unseen: IfMatch is the revision that undo keeps; the caller has seen none, so that the request does not clean.
	Unseen bool
	// Meta is the whole set of metadata fields; nil keeps the stored ones. A read-only field whose value
	// differs from the stored one is InvalidInput.
	Meta []Field
	// DataSubjectID tags the item with the subject whom it concerns, where the store keeps such keys;
	// elsewhere a non-empty value is Unsupported.
	DataSubjectID string
	// Binary: Content may be any bytes, to move or to restore an item that is not
	// text. Unsupported where a store holds text only. Without it Content that is
	// not UTF-8 stays InvalidInput (R12).
	Binary bool
	// Restore: the request restores, with Meta, an earlier item of this store. Where metadata makes the item
	// (TierSpec.Document structured) an empty Content is then accepted, and metadata of any shape that the
	// store once held.
	Restore bool
	// Erase: the change removes a subject. Nothing of the text that it displaces is kept for undo, and what was
	// kept of the item before goes.
	Erase bool
	// Beside is the data beside the item's document when it was read, for an item that is restored or copied;
	// nil for an ordinary write. A store that keeps such data accepts it, with the times and counts of Meta
	// for a new item, and names in Warnings what it cannot accept. With it Content may be empty, as with
	// Restore.
	Beside *Beside
	// Ahead, where set, receives the body and the result of the write just before the store makes it durable; an error
	// prevents it. A store that cannot tell them before does not call it, and one that tries again calls it again. What it does
	// must be short, and must not use the store.
	Ahead func(body string, res RetainResult) error `json:"-"`
}

// Foretell calls Ahead, if there is one.
func (r RetainRequest) Foretell(body string, res RetainResult) error {
	if r.Ahead == nil {
		return nil
	}
	return r.Ahead(body, res)
}

// BesideLine is a line of an index, with its line end, and the number of lines before it.
type BesideLine struct {
	At   int    `json:"at"`
	Text string `json:"text"`
	End  string `json:"end,omitempty"` // the line end of the index, where Text, its last line, has none
}

// Beside is data that belongs to an item and is no part of its document.
type Beside struct {
	Vector      []float32 `json:"vector,omitempty"`
	VectorModel string    `json:"vector_model,omitempty"`
	Seats       []Seat    `json:"seats,omitempty"`
	// Lines are the index lines that lead only to this item.
	Lines []BesideLine `json:"lines,omitempty"`
	// Rows are those that Forget removed, where the store is another program's tables; for a graph in such
	// tables, only the forms of its values; of an edit, the columns that it replaced.
	Rows []BesideRow `json:"rows,omitempty"`
	// Left is a digest of what an edit left in place of Rows: they are put back whole only where it still stands.
	Left string `json:"left,omitempty"`
}

// FileRow is the table of the row that a renamed item takes over: the mode of its own file, or how long its row is to
// last.
const FileRow = "file"

// BesideRow is a whole row of a table; a row that Forget only changes, in its state before.
type BesideRow struct {
	Table string       `json:"table"`
	Cells []BesideCell `json:"cells"`
}

// BesideCell is a column's value: text as it is, a number in decimal digits, bytes in base64.
type BesideCell struct {
	Column string   `json:"column"`
	Type   CellType `json:"type"`
	Value  string   `json:"value,omitempty"`
}

// CellType is the type of a cell's value.
type CellType string

// The types of cells.
const (
	CellNull    CellType = "null"
	CellText    CellType = "text"
	CellInteger CellType = "integer"
	CellReal    CellType = "real"
	CellBytes   CellType = "bytes"
)

// Seat is an item's membership in a relation.
type Seat struct {
	Relation string `json:"relation"` // id of the relation's own item
	Role     string `json:"role"`
	Position int64  `json:"position"`
}

// RetainResult reports one write.
type RetainResult struct {
	ID       string   // stable and accepted by Forget (R14)
	Bytes    int64    // size of the whole item as persisted (R16)
	Revision Revision // of the item as persisted
	Warnings []string // successful, but worth a look: 80 % of a cap (R13), stale vectors
	// Displaced is, of an edit, what it replaced beyond the document: for Beside of the request that undoes it. nil
	// where the document was everything.
	Displaced *Beside
}

// RecallRequest asks for hits. Limit outside 1..20 behaves as 20 (R21).
type RecallRequest struct {
	WorkspaceID string
	AgentID     string
	CrewID      string
	Tier        string // empty: every tier the caller may read (R20)
	Query       string
	Limit       int
}

// RecallLimit is the most hits that Recall ever returns (R21).
const RecallLimit = 20

// SnippetRunes is the most characters of a snippet (R23).
const SnippetRunes = 500

// RecallResult is the answer for an agent. Hits is never nil (R22).
type RecallResult struct {
	Hits        []RecallSnippet
	Quarantined []string // labels of items the scanner rejected (R25); operators only (R26)

	// Total is how many items match; TotalUnknown when the store cannot count.
	Total int64
	// Bounded is true when the hits were ranked, or Total counted, over a part of the matches only; BoundNote
	// then says which part.
	Bounded   bool
	BoundNote string
}

// TotalUnknown is the total of a store that cannot count.
const TotalUnknown int64 = -1

// RecallSnippet is one hit.
type RecallSnippet struct {
	ID      string  // handle of the item
	Source  string  // label, never an absolute path (R15)
	Snippet string  // at most SnippetRunes characters of valid UTF-8 (R23)
	Line    int     // 1-based, 0 when unknown (R24)
	Score   float64 // 0..1, comparable within this store only (R24)
	// Meta is the store's metadata of the hit: session_id, resource_uri.
	Meta []Field
}

// ForgetRequest selects what to remove: exactly one of ID and DataSubjectID.
type ForgetRequest struct {
	WorkspaceID   string
	AgentID       string
	CrewID        string
	ID            string
	DataSubjectID string
	// KeepHistory keeps the store's record of the item's earlier texts, where its capabilities name
	// keep_history; a store without it answers Unsupported or ignores it.
	KeepHistory bool
	// Erase is as in RetainRequest.
	Erase bool
	// Beside says, where an undo removes what a write has made, what stood beside it before; nil: nothing did.
	Beside *Beside
	// IfMatch with ID: a changed item is Conflict, an absent one Removed 0. With DataSubjectID it is
	// InvalidInput.
	IfMatch Revision
}

// ForgetResult counts the items that were actually removed (R30, R33).
type ForgetResult struct {
	Removed  int64
	Warnings []string // parts of the item that remain elsewhere in the store, as far as known
}

// CheckSelectors applies R28 and R29 and the rule that a cascade accepts no IfMatch.
func (r ForgetRequest) CheckSelectors() error {
	switch {
	case (r.ID == "") == (r.DataSubjectID == ""):
		return Errorf(InvalidInput, "forget", "must set exactly one of id and data subject id")
	case r.DataSubjectID != "" && r.IfMatch != "":
		return Errorf(InvalidInput, "forget", "a revision cannot be expected of a data subject: if-match goes with an id")
	}
	return nil
}

// ClampLimit applies R21.
func ClampLimit(n int) int {
	if n <= 0 || n > RecallLimit {
		return RecallLimit
	}
	return n
}
