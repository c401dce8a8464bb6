package gdpr

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/papers"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/gdpr/subject"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// State is the state of a request.
type State string

// The states. Partial and pending have work left; complete and withdrawn are the ends.
const (
	StateOpen     State = "open"     // nothing planned yet
	StatePlanned  State = "planned"  // a plan exists
	StateApproved State = "approved" // a second operator has approved it
	StateRunning  State = "running"  // begun; also after a crash, until it is continued
	StatePartial  State = "partial"  // a store failed, or residue is left
	StatePending  State = "pending"  // held back by a reader or a sync; try again
	// StateInScope is done as far as memdesk reaches, with a receipt: a layer out of scope or an item on hold
	// still holds the subject, until it is finished or attested.
	StateInScope  State = "complete_in_scope"
	StateComplete State = "complete" // no layer that can be reached holds the subject; a receipt exists
	// StateWithdrawn is a request that is not to be carried out any further.
	StateWithdrawn State = "withdrawn"
)

// Request is one subject's request. Subject, Aliases and Ground are empty once it is complete or withdrawn:
// only the pseudonym stays.
type Request struct {
	ID        string   `json:"request"`
	Pseudonym string   `json:"pseudonym"` // keyed, of the subject id
	Subject   string   `json:"subject,omitempty"`
	Aliases   []string `json:"aliases,omitempty"` // each confirmed by the operator who gave it
	Ground    string   `json:"ground,omitempty"`

	Received    string `json:"received"` // YYYY-MM-DD
	Extended    bool   `json:"extended,omitempty"`
	Told        string `json:"told,omitempty"` // when the subject was told of the extension
	PausedSince string `json:"paused_since,omitempty"`
	// Pauses are those that ended; PausedDays are those of an older memdesk.
	Pauses     []Pause `json:"pauses,omitempty"`
	PausedDays int     `json:"paused_days,omitempty"`
	// Identity says how the requester's identity was checked; OpenDSR is the request's id in the system that
	// sent it.
	Identity *receipt.IdentityCheck `json:"identity,omitempty"`
	OpenDSR  string                 `json:"opendsr,omitempty"`

	By    string `json:"by"`               // who filed it
	ByID  string `json:"by_id,omitempty"`  // the operator's id, where By is another name
	ByKey string `json:"by_key,omitempty"` // fingerprint of the key that filed it

	State   State    `json:"state"`
	Reason  string   `json:"reason,omitempty"` // why the request is in a state that is not final
	Holds   []Hold   `json:"holds,omitempty"`
	Choices []Choice `json:"choices,omitempty"`
	Whole   []string `json:"whole,omitempty"` // identities of stores that are about this subject alone
	// Attested lists the attestations of layers and items that the program cannot read.
	Attested []Attestation `json:"attested,omitempty"`
	Exports  []Export      `json:"exports,omitempty"` // made for the subject
	// Recipients are those who were told, or have answered, with the days.
	Recipients []receipt.Recipient `json:"recipients,omitempty"`
	PlanHash   string              `json:"plan_hash,omitempty"`
	Approvals  []Approval          `json:"approvals,omitempty"`
	// Tally counts the work under earlier plans, by plan and run.
	Tally map[string][]receipt.Store `json:"tally,omitempty"`
	// Gone are the items that went under earlier plans, as keyed hashes: what undo keeps of them is the
	// subject's, whatever it says.
	Gone []string `json:"gone,omitempty"`
	// Warnings of runs are repeated in the receipt.
	Warnings []string `json:"warnings,omitempty"`
	// Begun is when the first run began.
	Begun time.Time `json:"begun,omitzero"`
	// Of is the request whose erasure a sweep repeats.
	Of string `json:"of,omitempty"`

	// Kept is the register line of a request past its retention: nothing else is left.
	Kept *papers.Entry `json:"kept,omitempty"`

	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Finished time.Time `json:"finished,omitzero"`
}

// Choice overrides the policy's action for an item: forget or redact.
type Choice struct {
	Store string `json:"store"` // the store's name at that time
	// Where is the store's identity; empty in a choice before the first plan, which counts in every store of the name.
	Where  string `json:"where,omitempty"`
	ID     string `json:"id"`
	Action Action `json:"action"`
}

// Pause is the first and the last day of a check of the requester's identity.
type Pause struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Intake holds the particulars of a new request.
type Intake struct {
	Subject  string
	Aliases  []string
	Received string
	Ground   string
	By       string
	OpenDSR  string // subject_request_id, where it came as OpenDSR
	// Signer is the key that files the request, where the session has none; may be nil.
	Signer sshsig.Signer
}

// AddLines takes identifiers from a text, one a line; the first is the id where none was given.
func (in *Intake) AddLines(text string) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) { // with the mark no key of a store would be the id
		switch line = strings.TrimSpace(line); {
		case line == "":
		case in.Subject == "":
			in.Subject = line
		default:
			in.Aliases = append(in.Aliases, line)
		}
	}
}

// Fill takes the fields that this intake lacks from another; the other's aliases come first.
func (in *Intake) Fill(from Intake) {
	in.Subject, in.OpenDSR = cmp.Or(in.Subject, from.Subject), cmp.Or(in.OpenDSR, from.OpenDSR)
	in.Received, in.Ground = cmp.Or(in.Received, from.Received), cmp.Or(in.Ground, from.Ground)
	in.Aliases = append(from.Aliases, in.Aliases...)
}

// Terms are the identifiers, the id first.
func (r *Request) Terms() []string { return append([]string{r.Subject}, r.Aliases...) }

// texts are the texts that a request keeps after its end, and that can name somebody.
func (r *Request) texts() []*string {
	out := []*string{&r.By, &r.ByID, &r.OpenDSR}
	if r.Identity != nil {
		out = append(out, &r.Identity.By)
	}
	for i := range r.Exports {
		out = append(out, &r.Exports[i].Path)
	}
	for i := range r.Attested {
		out = append(out, &r.Attested[i].Layer, &r.Attested[i].By.Name)
	}
	return out
}

// Done reports whether the identifiers are gone.
func (r *Request) Done() bool { return r.State == StateComplete || r.State == StateWithdrawn }

// Receipted reports whether a run has made a receipt.
func (r *Request) Receipted() bool { return r.State == StateComplete || r.State == StateInScope }

// Unfinished reports whether a run has ended with work left.
func (r *Request) Unfinished() bool {
	return r.State == StatePartial || r.State == StatePending || r.State == StateInScope
}

// over refuses an act on a request that has ended.
func (r *Request) over(op string) error {
	switch r.State {
	case StateComplete:
		return model.Errorf(model.Conflict, op, "request %s is complete; its identifiers are gone", r.ID)
	case StateWithdrawn:
		return model.Errorf(model.Conflict, op, "request %s was withdrawn; its identifiers are gone: file a new one", r.ID)
	}
	return nil
}

func (d *Desk) newRequest(in Intake) (Request, error) {
	if _, err := subject.New(append([]string{in.Subject}, in.Aliases...)...); err != nil {
		return Request{}, err
	}
	now := d.Clock.Now().UTC()
	received, err := Received(in.Received, now)
	if err != nil {
		return Request{}, err
	}
	if strings.TrimSpace(in.Ground) == "" {
		return Request{}, model.Errorf(model.InvalidInput, "gdpr", "a request needs its ground: what did the person ask for, and why")
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return Request{}, err
	}
	print, err := d.requester(in.Signer)
	if err != nil {
		return Request{}, err
	}
	by, byID := in.By, d.Operator.ID
	if by == "" {
		by, byID = d.Operator.ID, ""
	}
	r := Request{
		ID:        "er-" + now.Format("20060102") + "-" + atomicfile.Suffix()[:8],
		Pseudonym: key.Pseudonym(in.Subject), Subject: strings.TrimSpace(in.Subject),
		Received: received.Format(dateForm), Ground: strings.TrimSpace(in.Ground), By: by, ByID: byID, ByKey: print, OpenDSR: in.OpenDSR,
		State: StateOpen, Created: now, Updated: now,
	}
	for _, a := range in.Aliases {
		if a = strings.TrimSpace(a); a != r.Subject && !slices.Contains(r.Aliases, a) {
			r.Aliases = append(r.Aliases, a)
		}
	}
	return r, nil
}
