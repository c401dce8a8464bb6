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

// Acts changes memory on behalf of the operator. Every act is recorded and what
// it displaces is kept before it happens; a store that refuses or has moved on is
// an error that changes nothing. It is safe for concurrent use.
type Acts interface {
	// Preview says in words what forgetting an item would do beside removing it.
	Preview(ctx context.Context, store, id string) (warnings []string, err error)
	// Forget removes one item; Conflict when it is not at the revision of req, if that has one.
	Forget(ctx context.Context, store string, req model.ForgetRequest, reason string) (operator.Done, error)
	// Retain writes one item; Conflict when it is not at the revision that req
	// expects. What it displaces is kept.
	Retain(ctx context.Context, store string, req model.RetainRequest, reason string) (operator.Done, error)
	// Release writes a text over the live source of a quarantine entry and removes
	// the entry. The text must pass the scanner; a nil body releases a source that
	// has been cleaned already. seen is the revision of the source.
	Release(ctx context.Context, store, id string, body *string, seen model.Revision, reason string) (operator.Done, error)
	// Reindex builds anew what a store derives from its items of a tier, empty for all, and
	// counts the items in the new index.
	Reindex(ctx context.Context, store, tier string) (int64, error)
	// Undos lists what can be put back, newest first; damaged counts the entries that
	// cannot be read.
	Undos(ctx context.Context) (rows []operator.UndoRow, damaged int, err error)
	// Restore puts back what a change displaced; Conflict when the item has changed
	// since.
	Restore(ctx context.Context, id, reason string) (operator.Done, error)
}

// AuditSource is the operator log as the console reads it. It changes nothing
// and is safe for concurrent use.
type AuditSource interface {
	// Events lists newest first what the AuditFilter of q.Filter matches. A cursor that is not this list's is InvalidInput.
	Events(ctx context.Context, q operator.PageQuery) (operator.AuditPage, error)
	// Stamp changes whenever a record was added; it is cheap. Empty: not known.
	Stamp(ctx context.Context) string
}

// OriginSource knows who wrote what, and takes back what one source wrote. It is safe for
// concurrent use.
type OriginSource interface {
	// WriterOf is who wrote an item of a list last, and where that is kept; false when
	// nobody knows.
	WriterOf(ctx context.Context, s model.Store, h model.Header) (origin.Row, string, bool)
	// WriterOfItem is who wrote the text of an item that was read.
	WriterOfItem(s model.Store, it model.Item) (origin.Row, string, bool)
	// PlanTakeback says what taking back the writes of one source since a time would do; it
	// changes nothing.
	PlanTakeback(ctx context.Context, source string, since time.Time) ([]origin.Taken, error)
	// Takeback does such a plan store by store, each as a whole or not at all, and gives the
	// undo entries.
	Takeback(ctx context.Context, plan []origin.Taken, reason string) (undone []string, err error)
	// Told are the times that items were given to agents since a time, oldest first.
	Told(ctx context.Context, items []model.Ref, since time.Time) ([]origin.Recall, error)
}

// QuarantineSource lists what scanners have set aside in every store. It changes
// nothing and is safe for concurrent use.
type QuarantineSource interface {
	// Entries lists in a stable order. A store that cannot be read has one entry
	// with Problem set, so it is never left out.
	Entries(ctx context.Context, q operator.PageQuery) (operator.QuarantinePage, error)
	// Entry reads one with its content, or NotFound.
	Entry(ctx context.Context, store, id string) (operator.QuarantineDetail, error)
}

// ConflictSource lists what is in conflict in every store, compares and resolves
// it. It is safe for concurrent use.
type ConflictSource interface {
	// Conflicts lists grouped by base, in a stable order; the first page begins a new
	// look. A store that cannot be looked at has a row with Problem set.
	Conflicts(ctx context.Context, q operator.PageQuery) (operator.ConflictPage, error)
	// Compare reads both sides as they are now.
	Compare(ctx context.Context, c conflict.Copy) (conflict.Comparison, error)
	// Resolve ends one conflict. Conflict when a side is not as c has it: nothing has
	// changed then. What it displaces is kept.
	Resolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, reason string) (operator.Done, error)
	// Returned reports whether a copy that a resolve removed stands there again.
	Returned(ctx context.Context, c conflict.Copy) (bool, error)
	// Redundant looks through all stores for copies that are byte for byte their base
	// and may be removed; spared counts those that their tool's vendor warns against
	// removing.
	Redundant(ctx context.Context) (all []conflict.Copy, spared int, err error)
}

// ErasureSource is the desk of erasure requests as the console works at it. Every
// act is recorded by it, and what it refuses changes nothing. It is safe for
// concurrent use.
type ErasureSource interface {
	// Rules are the configuration of erasures.
	Rules() gdpr.Policy
	// Requests is every request, those with work left first, by deadline.
	Requests(ctx context.Context) ([]operator.ErasureRequest, error)
	// Request is one of them, or NotFound.
	Request(ctx context.Context, id string) (operator.ErasureRequest, error)
	// Unattested says why a request that is filed here could not be approved by
	// anybody; empty where it could, or need not be.
	Unattested() string
	// Propose asks the stores for names that they tie to the person of a request that is to
	// be filed; notes say which store was not asked.
	Propose(ctx context.Context, in gdpr.Intake) (all []gdpr.Proposal, notes []string, err error)
	// File takes a request in. keyFile is the private key of who files it, where the
	// session has none and approvals are demanded; empty without.
	File(ctx context.Context, in gdpr.Intake, keyFile string) (gdpr.Due, error)
	// Discover searches every store and writes a new plan; step hears where it is.
	Discover(ctx context.Context, id string, step func(store, what string)) (gdpr.Plan, error)
	// Plan is the plan that stands, or NotFound.
	Plan(ctx context.Context, id string) (gdpr.Plan, error)
	// Backups says until when backups of a plan's stores may hold the person.
	Backups(p gdpr.Plan) []receipt.Backup
	// Hold keeps items back; this voids the plan. Where one of them is not there, none is held.
	Hold(ctx context.Context, id string, holds ...gdpr.Hold) error
	// Unhold lifts holds, also of a complete request; this voids the plan.
	Unhold(ctx context.Context, id string, holds ...gdpr.Hold) error
	// Withdraw closes a request that is not to be carried out any further.
	Withdraw(ctx context.Context, id, reason string) error
	// Choose decides otherwise than the policy; this voids the plan.
	Choose(ctx context.Context, id string, choices ...gdpr.Choice) error
	// Extend lengthens the deadline, once; told is when the person was told, empty for
	// today.
	Extend(ctx context.Context, id, told string) error
	// StopClock and StartClock go around a check of the person's identity.
	StopClock(ctx context.Context, id string) error
	StartClock(ctx context.Context, id string) error
	// Unapproved says why the plan that stands may not be carried out yet; empty
	// when it may.
	Unapproved(ctx context.Context, id string) (string, error)
	// MayApprove reports whether the key with this fingerprint could approve a request.
	MayApprove(r *gdpr.Request, fingerprint string) bool
	// Approve signs the plan of a hash as a second operator; PermissionDenied for a key
	// that may not.
	Approve(ctx context.Context, id, planHash string, signer sshsig.Signer) error
	// BySession reports whether this session's own key may approve a request's plan by its record
	// in the log, and ApproveHere does.
	BySession(r *gdpr.Request) bool
	ApproveHere(ctx context.Context, id, planHash string) error
	// Erase begins to carry a plan out, or to go on with it, and returns: the work
	// goes on without whoever began it.
	Erase(ctx context.Context, o gdpr.Order) error
	// Tied says why the work ends with this console, to be gone on with later; empty
	// when it does not.
	Tied() string
	// Pause and Resume hold a run at its next step and let it go on.
	Pause(ctx context.Context, run jobs.ID) error
	Resume(ctx context.Context, run jobs.ID) error
	// Report is the last run that did not become complete and its plan, or NotFound.
	Report(ctx context.Context, id string) (gdpr.Outcome, string, error)
	// StatusReport says what is left of a request and what there is to do; NotFound when
	// nothing is.
	StatusReport(ctx context.Context, id string) (receipt.Report, error)
	// Attest records that a person looked at a layer that the program cannot open or
	// change.
	Attest(ctx context.Context, id string, in gdpr.Looked) error
	// Verify looks again at every store and layer. typed is the subject's id where
	// the request has none any more, aliases as many of the other names as are known.
	Verify(ctx context.Context, id, typed string, aliases ...string) ([]receipt.Layer, error)
	// Receipt is the signed file of a complete request, checked, with what it says and
	// the id of its key; NotFound as long as there is none.
	Receipt(ctx context.Context, id string) ([]byte, receipt.Receipt, string, error)
	// SaveReceipt writes the receipt, or of what is not complete the status report, to a
	// file that is not there yet, as a page where it ends in .md. It gives the bytes that
	// were written.
	SaveReceipt(ctx context.Context, id, path string) (int64, error)
	// Export writes all that is kept about the person to a new directory, or to a zip
	// file where path ends in .zip. It gives the number of items and what could not be
	// searched.
	Export(ctx context.Context, id, path string) (items int64, missing []string, err error)
	// FreeBytes is the room where a plan and its receipt are kept; 0 when not known.
	FreeBytes() int64
}

// Jobs runs long work so that it is journalled, listed by memdesk jobs and can be
// cancelled from there too.
type Jobs interface {
	// Run does work and returns when it is over. The end of ctx cancels it, and it
	// returns then. kind and title are stored in clear: no names in them.
	Run(ctx context.Context, kind, title string, work func(ctx context.Context, j operator.Running) error) error
	// List is every job that the journal knows, newest first, those of other
	// processes too.
	List(ctx context.Context) ([]jobs.Status, error)
	// Cancel asks a job to end at its next step, wherever it runs; Conflict when it
	// has ended.
	Cancel(ctx context.Context, id jobs.ID) error
	// Tied reports whether a job ends with this console.
	Tied(id jobs.ID) bool
}

// StorySource groups what is blocked and what looks planted by who wrote it, or by what it
// says. It is safe for concurrent use.
type StorySource interface {
	// Stories looks through all stores, the largest story first; note is told what could not
	// be looked at.
	Stories(ctx context.Context, note func(model.Ref, error)) []review.Story
	// Family are the texts of some items and of all suspects that say nearly the same, alike
	// of them for that.
	Family(ctx context.Context, refs []model.Ref, note func(model.Ref, error)) (texts []string, alike int, err error)
	// ClearTexts marks texts as harmless until the rules change.
	ClearTexts(ctx context.Context, texts []string, reason string) error
	// Difference compares today's rules with the scan that was kept last; flagged is for KeepScan.
	Difference(ctx context.Context, note func(model.Ref, error)) (changes []operator.Change, flagged []string, last review.Scan, err error)
	// KeepScan makes a scan the one that is compared with.
	KeepScan(ctx context.Context, flagged []string) error
}

// ChangeSource tells whether stores have changed. It is safe for concurrent use.
type ChangeSource interface {
	// Stamp differs from the one before when the store may have changed in between; empty: the
	// store cannot tell, and has to be asked.
	Stamp(st model.Store) string
}
