package tui

import (
	"context"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/jobs"
)

// ErasureSource is the desk of erasure requests as the console works at it. Every
// act is recorded by it, and what it refuses changes nothing. It is safe for
// concurrent use.
type ErasureSource interface {
	// Rules are the configuration of erasures.
	Rules() gdpr.Policy
	// Requests is every request, those with work left first, by deadline.
	Requests(ctx context.Context) ([]ErasureRequest, error)
	// Request is one of them, or NotFound.
	Request(ctx context.Context, id string) (ErasureRequest, error)
	// Unattested says why a request that is filed here could not be approved by
	// anybody; empty where it could, or need not be.
	Unattested() string
	// File takes a request in. keyFile is the private key of who files it, where the
	// session has none and approvals are demanded; empty without.
	File(ctx context.Context, in gdpr.Intake, keyFile string) (gdpr.Due, error)
	// Discover searches every store and writes a new plan; step hears where it is.
	Discover(ctx context.Context, id string, step func(store, what string)) (gdpr.Plan, error)
	// Plan is the plan that stands, or NotFound.
	Plan(ctx context.Context, id string) (gdpr.Plan, error)
	// Hold keeps an item back; this voids the plan.
	Hold(ctx context.Context, id string, h gdpr.Hold) error
	// Unhold lifts a hold, also of a complete request; this voids the plan.
	Unhold(ctx context.Context, id string, h gdpr.Hold) error
	// Withdraw closes a request that is not to be carried out any further.
	Withdraw(ctx context.Context, id, reason string) error
	// Choose decides otherwise than the policy; this voids the plan.
	Choose(ctx context.Context, id string, c gdpr.Choice) error
	// Extend lengthens the deadline, once; told is when the person was told, empty for
	// today.
	Extend(ctx context.Context, id, told string) error
	// StopClock and StartClock go around a check of the person's identity.
	StopClock(ctx context.Context, id string) error
	StartClock(ctx context.Context, id string) error
	// Unapproved says why the plan that stands may not be carried out yet; empty
	// when it may.
	Unapproved(ctx context.Context, id string) (string, error)
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
