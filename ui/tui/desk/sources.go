package desk

import (
	"context"
	"time"

	"memdesk/conflict"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/undo"
)

// Acts changes memory on behalf of the operator. Every act is recorded, and what it displaces is
// kept before it happens; an error, such as a refusal or a conflict, changes nothing. Safe for
// concurrent use.
type Acts interface {
	// Preview names the side effects of forgetting an item.
	Preview(ctx context.Context, store, id string) (warnings []string, err error)
	// Forget removes one item; Conflict when it is not at the revision of req, if that has one.
	Forget(ctx context.Context, store string, req model.ForgetRequest, reason string) (operator.Done, error)
	// Retain writes one item; Conflict when it is not at the revision of req. The displaced text is kept.
	Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (operator.Done, error)
	// Release writes a text over the live source of a quarantine entry and removes the entry. The text
	// must pass the scanner; a nil body releases a source that is clean already. seen is the revision
	// of the source.
	Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (operator.Done, error)
	// Reindex rebuilds the index of a tier, empty for all, and counts the items in it.
	Reindex(ctx context.Context, store, tier string) (int64, error)
	// Undos lists the undo entries, newest first; damaged counts unreadable ones.
	Undos(ctx context.Context) (entries []undo.Entry, damaged int, err error)
	// Restore undoes a change; Conflict when the item has changed since.
	Restore(ctx context.Context, id, reason string) (operator.Done, error)
}

// AuditSource is the operator's log, read-only. Safe for concurrent use.
type AuditSource interface {
	// Events lists the matches of the AuditFilter in q.Filter, newest first; InvalidInput for another list's cursor.
	Events(ctx context.Context, q operator.PageQuery) (operator.AuditPage, error)
	// Stamp changes with every added record; it is cheap. Empty: unknown.
	Stamp(ctx context.Context) string
}

// OriginSource knows writers, and takes back the writes of one source. Safe for concurrent use.
type OriginSource interface {
	// WriterOf is the last writer of a listed item; nil when unknown.
	WriterOf(ctx context.Context, s model.Store, h model.Header) *origin.Written
	// WriterOfItem is the writer of the text of an item that was read.
	WriterOfItem(s model.Store, it model.Item) *origin.Written
	// PlanTakeback plans to take back the writes of one source since a time; it changes nothing.
	PlanTakeback(ctx context.Context, source string, since time.Time) ([]origin.Taken, error)
	// Takeback carries out such a plan, each store under one undo entry, and returns these too. An item that cannot be
	// taken back becomes a skip of the plan.
	Takeback(ctx context.Context, plan []origin.Taken, reason string) (done []origin.Taken, undone []operator.Done, err error)
	// Told lists when items were given to agents since a time, oldest first.
	Told(ctx context.Context, items []model.Ref, since time.Time) ([]origin.Recall, error)
}

// QuarantineSource lists the quarantine entries of every store, read-only. Safe for concurrent use.
type QuarantineSource interface {
	// Entries lists in a stable order. An unreadable store has one entry with Problem set.
	Entries(ctx context.Context, q operator.PageQuery) (operator.Page[operator.QuarantineEntry], error)
	// Entry reads one entry with its content, or NotFound.
	Entry(ctx context.Context, store, id string) (operator.QuarantineEntry, error)
}

// ConflictSource lists, compares and resolves the conflicts of every store. Safe for concurrent use.
type ConflictSource interface {
	// Conflicts lists, grouped by base, in a stable order; the first page begins a new search. An
	// unreadable store has a row with Problem set.
	Conflicts(ctx context.Context, q operator.PageQuery) (operator.Page[conflict.Copy], error)
	// Part is what the lists so far know of an item, empty for nothing. It reads no store.
	Part(ref model.Ref) operator.Part
	// Compare reads both sides as they are now.
	Compare(ctx context.Context, c conflict.Copy) (conflict.Comparison, error)
	// Resolve ends one conflict and keeps the displaced item; Conflict, and no change, where a side is not as in c.
	Resolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, reason string) (operator.Done, error)
	// Returned reports whether a copy that Resolve removed is there again.
	Returned(ctx context.Context, c conflict.Copy) (bool, error)
	// Redundant searches all stores for copies that equal their base byte for byte and may be removed;
	// spared counts those that the tool's vendor warns against removing.
	Redundant(ctx context.Context) (all []conflict.Copy, spared int, err error)
}

// Jobs runs long work: journalled, listed by memdesk jobs, and cancelled from there.
type Jobs interface {
	// Run does work until it is over; the end of ctx cancels it. kind and title are stored in clear: no names.
	Run(ctx context.Context, kind, title string, work func(ctx context.Context, j operator.Running) error) error
	// List is every job in the journal, newest first, also those of other processes.
	List(ctx context.Context) ([]jobs.Status, error)
	// Cancel asks a job to end at its next step, in any process; Conflict when it has ended.
	Cancel(ctx context.Context, id jobs.ID) error
	// Tied reports whether a job ends with this console.
	Tied(id jobs.ID) bool
}

// StorySource groups blocked and suspect texts by writer, or by content. Safe for concurrent use.
type StorySource interface {
	// Stories searches all stores, the largest story first; note hears what could not be read.
	Stories(ctx context.Context, note func(model.Ref, error)) []review.Story
	// Planted are the signals of a text that looks planted, none for any other.
	Planted(text string) []string
	// Family returns the texts of some items and of the suspects that are alike; alike counts those suspects.
	Family(ctx context.Context, refs []model.Ref, note func(model.Ref, error)) (texts []string, alike int, err error)
	// ClearTexts marks texts as harmless until the rules change.
	ClearTexts(ctx context.Context, texts []string, reason string) error
	// Difference compares today's rules with the last kept scan; flagged is for KeepScan.
	Difference(ctx context.Context, note func(model.Ref, error)) (changes []operator.Change, flagged []string, last review.Scan, err error)
	// KeepScan makes a scan the baseline of Difference.
	KeepScan(ctx context.Context, flagged []string) error
}
