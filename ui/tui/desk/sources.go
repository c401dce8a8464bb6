package desk

import (
	"context"
	"time"

	"memdesk/conflict"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/review"
)

// Acts changes memory on behalf of the operator. Every act is recorded, and what it displaces is
// kept before it happens; an error, such as a refusal or a conflict, changes nothing. Safe for
// concurrent use.
type Acts interface {
	// Preview names the side effects of forgetting an item.
	Preview(ctx context.Context, store, id string) (warnings []string, err error)
	// Forget removes one item; Conflict when it is not at the revision of req, if that has one.
	Forget(ctx context.Context, store string, req model.ForgetRequest, reason string) (operator.Done, error)
	// Retain writes one item; Conflict when it is not at the revision of req. The displaced text is
	// kept.
	Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (operator.Done, error)
	// Release writes a text over the live source of a quarantine entry and removes the entry. The text
	// must pass the scanner; a nil body releases a source that is clean already. seen is the revision
	// of the source.
	Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (operator.Done, error)
	// Reindex rebuilds the index of a tier, empty for all, and counts the items in it.
	Reindex(ctx context.Context, store, tier string) (int64, error)
	// Undos lists the undo entries, newest first; damaged counts unreadable ones.
	Undos(ctx context.Context) (rows []operator.UndoRow, damaged int, err error)
	// Restore undoes a change; Conflict when the item has changed since.
	Restore(ctx context.Context, id, reason string) (operator.Done, error)
}

// AuditSource is the operator's log, read-only. Safe for concurrent use.
type AuditSource interface {
	// Events lists, newest first, the matches of the AuditFilter in q.Filter. A cursor of another list
	// is InvalidInput.
	Events(ctx context.Context, q operator.PageQuery) (operator.AuditPage, error)
	// Stamp changes with every added record; it is cheap. Empty: unknown.
	Stamp(ctx context.Context) string
}

// OriginSource knows writers, and takes back the writes of one source. Safe for concurrent use.
type OriginSource interface {
	// WriterOf is the last writer of a listed item, and where that is recorded; false when unknown.
	WriterOf(ctx context.Context, s model.Store, h model.Header) (origin.Row, string, bool)
	// WriterOfItem is the writer of the text of an item that was read.
	WriterOfItem(s model.Store, it model.Item) (origin.Row, string, bool)
	// PlanTakeback plans to take back the writes of one source since a time; it changes nothing.
	PlanTakeback(ctx context.Context, source string, since time.Time) ([]origin.Taken, error)
	// Takeback carries out such a plan store by store, each as a whole or not at all, and returns the
	// undo entries.
	Takeback(ctx context.Context, plan []origin.Taken, reason string) (undone []string, err error)
	// Told lists when items were given to agents since a time, oldest first.
	Told(ctx context.Context, items []model.Ref, since time.Time) ([]origin.Recall, error)
}

// QuarantineSource lists the quarantine entries of every store. It changes nothing and is safe for
// concurrent use.
type QuarantineSource interface {
	// Entries lists in a stable order. An unreadable store has one entry with Problem set.
	Entries(ctx context.Context, q operator.PageQuery) (operator.QuarantinePage, error)
	// Entry reads one entry with its content, or NotFound.
	Entry(ctx context.Context, store, id string) (operator.QuarantineDetail, error)
}

// ConflictSource lists, compares and resolves the conflicts of every store. Safe for concurrent
// use.
type ConflictSource interface {
	// Conflicts lists, grouped by base, in a stable order; the first page begins a new search. An
	// unreadable store has a row with Problem set.
	Conflicts(ctx context.Context, q operator.PageQuery) (operator.ConflictPage, error)
	// Compare reads both sides as they are now.
	Compare(ctx context.Context, c conflict.Copy) (conflict.Comparison, error)
	// Resolve ends one conflict; Conflict, with nothing changed, when a side is not as c has it. The
	// displaced item is kept.
	Resolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, reason string) (operator.Done, error)
	// Returned reports whether a copy that Resolve removed is there again.
	Returned(ctx context.Context, c conflict.Copy) (bool, error)
	// Redundant searches all stores for copies that equal their base byte for byte and may be removed;
	// spared counts those that the tool's vendor warns against removing.
	Redundant(ctx context.Context) (all []conflict.Copy, spared int, err error)
}

// ErasureSource is the desk of erasure requests for the console. It records every act, and a
// refusal changes nothing. Safe for concurrent use.
type ErasureSource interface {
	// Rules are the configuration of erasures.
	Rules() gdpr.Policy
	// Requests lists every request, open ones first, by deadline.
	Requests(ctx context.Context) ([]operator.ErasureRequest, error)
	// Request is one request, or NotFound.
	Request(ctx context.Context, id string) (operator.ErasureRequest, error)
	// Unattested says why nobody could approve a request filed here; empty where somebody could, or no
	// approval is needed.
	Unattested() string
	// Propose asks the stores for aliases of the subject of a request to be filed; notes name the
	// stores not asked.
	Propose(ctx context.Context, in gdpr.Intake) (all []gdpr.Proposal, notes []string, err error)
	// File files a request. keyFile is the filer's private key, needed where the session has none and
	// approvals are demanded; else empty.
	File(ctx context.Context, in gdpr.Intake, keyFile string) (gdpr.Due, error)
	// Discover searches every store and writes a new plan; step hears the progress.
	Discover(ctx context.Context, id string, step func(store, what string)) (gdpr.Plan, error)
	// Plan is the current plan, or NotFound.
	Plan(ctx context.Context, id string) (gdpr.Plan, error)
	// Backups says until when backups of a plan's stores may hold the subject's data.
	Backups(p gdpr.Plan) []receipt.Backup
	// Hold puts holds on items and voids the plan. Where one item is missing, none is held.
	Hold(ctx context.Context, id string, holds ...gdpr.Hold) error
	// Unhold lifts holds, also of a complete request; this voids the plan.
	Unhold(ctx context.Context, id string, holds ...gdpr.Hold) error
	// Withdraw closes a request for good.
	Withdraw(ctx context.Context, id, reason string) error
	// Choose overrides the policy for single items; this voids the plan.
	Choose(ctx context.Context, id string, choices ...gdpr.Choice) error
	// Extend lengthens the deadline, once; told is the day that the subject was told, empty for today.
	Extend(ctx context.Context, id, told string) error
	// StopClock and StartClock enclose a check of the subject's identity.
	StopClock(ctx context.Context, id string) error
	StartClock(ctx context.Context, id string) error
	// Unapproved says why the current plan may not be carried out yet; empty when it may.
	Unapproved(ctx context.Context, id string) (string, error)
	// MayApprove reports whether the key with this fingerprint could approve a request.
	MayApprove(r *gdpr.Request, fingerprint string) bool
	// Approve signs the plan with this hash as a second operator; PermissionDenied for a key that may
	// not.
	Approve(ctx context.Context, id, planHash string, signer sshsig.Signer) error
	// BySession reports whether this session's own key may approve a request's plan by its record in
	// the log, and ApproveHere does.
	BySession(r *gdpr.Request) bool
	ApproveHere(ctx context.Context, id, planHash string) error
	// Erase begins or continues to carry out a plan, and returns: the work outlives the caller.
	Erase(ctx context.Context, o gdpr.Order) error
	// Tied says why the work ends with this console, to be continued later; empty when it does not.
	Tied() string
	// Pause holds a run at its next step; Resume lets it go on.
	Pause(ctx context.Context, run jobs.ID) error
	Resume(ctx context.Context, run jobs.ID) error
	// Report is the last incomplete run and its plan, or NotFound.
	Report(ctx context.Context, id string) (gdpr.Outcome, string, error)
	// StatusReport says what is left of a request and what to do; NotFound when nothing is.
	StatusReport(ctx context.Context, id string) (receipt.Report, error)
	// Attest records that a person looked at a layer that memdesk cannot open or change.
	Attest(ctx context.Context, id string, in gdpr.Looked) error
	// Verify searches every store and layer again. typed is the subject's id where the request no
	// longer has one, aliases as many of the aliases as are known.
	Verify(ctx context.Context, id, typed string, aliases ...string) ([]receipt.Layer, error)
	// Receipt is the signed file of a complete request, checked, with its content and the id of its
	// key; NotFound before that.
	Receipt(ctx context.Context, id string) ([]byte, receipt.Receipt, string, error)
	// SaveReceipt writes the receipt, or the status report of an incomplete request, to a new file, as
	// Markdown where path ends in .md. It returns the bytes written.
	SaveReceipt(ctx context.Context, id, path string) (int64, error)
	// Export writes all that is kept about the subject to a new directory, or to a zip file where path
	// ends in .zip. It returns the number of items and the parts that could not be searched.
	Export(ctx context.Context, id, path string) (items int64, missing []string, err error)
	// FreeBytes is the free space for a plan and its receipt; 0 when unknown.
	FreeBytes() int64
}

// Jobs runs long work so that it is journalled, listed by memdesk jobs and can be cancelled from
// there.
type Jobs interface {
	// Run does work and returns when it is over; the end of ctx cancels it. kind and title are stored
	// in clear: no names in them.
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
	// Family returns the texts of some items and of every suspect that is alike; alike counts those
	// suspects.
	Family(ctx context.Context, refs []model.Ref, note func(model.Ref, error)) (texts []string, alike int, err error)
	// ClearTexts marks texts as harmless until the rules change.
	ClearTexts(ctx context.Context, texts []string, reason string) error
	// Difference compares today's rules with the last kept scan; flagged is for KeepScan.
	Difference(ctx context.Context, note func(model.Ref, error)) (changes []operator.Change, flagged []string, last review.Scan, err error)
	// KeepScan makes a scan the baseline of Difference.
	KeepScan(ctx context.Context, flagged []string) error
}

// ChangeSource reports changes of stores. Safe for concurrent use.
type ChangeSource interface {
	// Stamp differs from the one before when the store may have changed; empty: the store cannot tell
	// and must be read.
	Stamp(st model.Store) string
}
