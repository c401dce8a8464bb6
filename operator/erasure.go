package operator

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/papers"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/internal/atomicfile"
	"memdesk/internal/statedir"
	"memdesk/jobs"
	"memdesk/model"
)

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

// Erasures is the desk of erasure requests. It records every act, and a refusal changes nothing. It is safe
// for concurrent use.
type Erasures struct {
	s      *Session
	desk   *gdpr.Desk
	runner *jobs.Runner // of the console; nil: runs are neither listed nor begun
	away   Away
}

// Erasures is the desk over the session's stores; runner may be nil.
func (s *Session) Erasures(runner *jobs.Runner, away Away) (*Erasures, error) {
	if s.State == "" {
		return nil, statedir.ErrNoHome
	}
	return &Erasures{s, s.desk, runner, away}, nil
}

// unless does what is not refused.
func unless[T any](refused error, do func() (T, error)) (T, error) {
	if refused != nil {
		var none T
		return none, refused
	}
	return do()
}

// Get is a request, or NotFound.
func (e *Erasures) Get(id string) (gdpr.Due, error) {
	return unless(e.s.Look(context.Background(), ReadRequests), func() (gdpr.Due, error) { return e.desk.Get(id) })
}

// List is every request, open ones first, by deadline.
func (e *Erasures) List() ([]gdpr.Due, error) {
	return unless(e.s.Look(context.Background(), ReadRequests), e.desk.List)
}

// DueWithin are the open requests whose deadline is at most so many days away.
func (e *Erasures) DueWithin(days int) ([]gdpr.Due, error) {
	return unless(e.s.Look(context.Background(), ReadRequests), func() ([]gdpr.Due, error) { return e.desk.DueWithin(days) })
}

// Authorise is the plan of an order that may be carried out now.
func (e *Erasures) Authorise(ctx context.Context, o gdpr.Order) (gdpr.Plan, error) {
	return unless(e.s.Look(ctx, ReadRequests), func() (gdpr.Plan, error) { return e.desk.Authorise(ctx, o) })
}

// StatusReport is the state of a request.
func (e *Erasures) StatusReport(ctx context.Context, id string) (receipt.Report, error) {
	return unless(e.s.Look(ctx, ReadRequests), func() (receipt.Report, error) { return e.desk.StatusReport(ctx, id) })
}

// Letter is a letter to the subject of a request.
func (e *Erasures) Letter(ctx context.Context, id, kind, lang string) (string, error) {
	return unless(e.s.Look(ctx, ReadRequests), func() (string, error) { return e.desk.Letter(ctx, id, kind, lang) })
}

// Register is the register of a year. One with a receipt that cannot be checked is whole, and the error tells of it.
func (e *Erasures) Register(ctx context.Context, year int) (papers.Register, error) {
	return unless(e.s.Look(ctx, ReadRequests), func() (papers.Register, error) { return e.desk.Register(ctx, year) })
}

// PolicyNow is the policy of erasures in force; it names nobody.
func (e *Erasures) PolicyNow(ctx context.Context) (gdpr.PolicyState, error) {
	return e.desk.PolicyNow(ctx)
}

// PublicKey is that of the receipts.
func (e *Erasures) PublicKey() string { return e.desk.PublicKey() }

// Unattested says why nobody could approve a request that is filed here; empty where somebody could.
func (e *Erasures) Unattested() string { return e.desk.Unattested() }

// mayApprove reports whether a key may approve a request's plan.
func (e *Erasures) mayApprove(r *gdpr.Request, fingerprint string) bool {
	return e.s.May(Approve) == nil && e.desk.MayApprove(r, fingerprint)
}

// BySession reports whether this session's own key may approve a request's plan.
func (e *Erasures) BySession(r *gdpr.Request) bool {
	return e.desk.Policy.Approval == gdpr.BySession && e.desk.Operator.Key != "" && e.mayApprove(r, e.desk.Operator.Key)
}

// Backups says until when backups of a plan's stores may hold the subject's data.
func (e *Erasures) Backups(p gdpr.Plan) []receipt.Backup { return e.desk.Backups(p) }

// EraseCommand is the command that carries out the request's plan.
func (e *Erasures) EraseCommand(r *gdpr.Request) string { return e.desk.EraseCommand(r) }

// Rules are the configuration of erasures.
func (e *Erasures) Rules() gdpr.Policy { return e.desk.Policy }

// Requests is every request, open ones first, by deadline. The run of a request is its newest job. With gdpr.Damaged the
// others are returned.
func (e *Erasures) Requests(ctx context.Context) ([]ErasureRequest, error) {
	all, err := e.List()
	if len(all) == 0 {
		return nil, err
	}
	runs, unread := e.runs(ctx)
	if unread != nil {
		return nil, unread
	}
	out := make([]ErasureRequest, len(all))
	for i, r := range all {
		out[i] = ErasureRequest{Due: r, Run: runs[r.ID]}
	}
	return out, err
}

// Request is one request, or NotFound.
func (e *Erasures) Request(ctx context.Context, id string) (ErasureRequest, error) {
	r, err := e.Get(id)
	if err != nil {
		return ErasureRequest{}, err
	}
	runs, err := e.runs(ctx)
	return ErasureRequest{Due: r, Run: runs[r.ID]}, err
}

// eraseKind is the kind of the jobs that carry requests out; the title is the
// request's id.
const eraseKind = "gdpr-erase"

func (e *Erasures) runs(ctx context.Context) (map[string]*jobs.Status, error) {
	all, err := e.runner.List(ctx)
	if err != nil {
		return nil, model.E(model.Unavailable, "jobs", err)
	}
	out := map[string]*jobs.Status{}
	for _, st := range all { // newest first; a running one precedes
		if was := out[st.Title]; st.Kind == eraseKind && (was == nil || ended(*was) && !ended(st)) {
			out[st.Title] = &st
		}
	}
	return out, nil
}

func ended(st jobs.Status) bool { return st.State.Ended() || st.State == jobs.Interrupted }

// Propose asks the open stores for aliases of the subject of a request to be filed.
func (e *Erasures) Propose(ctx context.Context, in gdpr.Intake) (all []gdpr.Proposal, notes []string, err error) {
	if err := e.s.Look(ctx, ReadContent); err != nil {
		return nil, nil, err
	}
	return gdpr.Propose(ctx, e.s.Fleet, in)
}

// Others names the other open requests of the subject of a request to be filed; empty: none.
func (e *Erasures) Others(ctx context.Context, in gdpr.Intake) (string, error) {
	return unless(e.s.Look(ctx, ReadRequests), func() (string, error) { return e.desk.OtherRequests(in), nil })
}

// File files a request. keyFile is the filer's private key, needed where the session has none and approvals
// are demanded; else empty.
func (e *Erasures) File(ctx context.Context, in gdpr.Intake, keyFile string) (gdpr.Due, error) {
	if err := e.s.Allow(ctx, Request, "", ""); err != nil {
		return gdpr.Due{}, err
	}
	switch {
	case keyFile == "":
	case e.s.Door == Visit:
		return gdpr.Due{}, model.Errorf(model.PermissionDenied, "key", "over SSH no file of the server is read: your login's own key counts")
	default:
		var err error
		if in.Signer, err = sshsig.File(backends.ExpandPath(keyFile, e.s.Dir, e.s.Env)); err != nil {
			return gdpr.Due{}, err
		}
	}
	return e.desk.File(ctx, in)
}

// Discover searches every store and writes a new plan; step hears the progress.
func (e *Erasures) Discover(ctx context.Context, id string, step func(store, what string)) (gdpr.Plan, error) {
	return unless(e.s.Allow(ctx, Plan, "", ""), func() (gdpr.Plan, error) {
		return e.desk.MakePlan(ctx, id, e.s.Fleet, func(s gdpr.Searching) { step(s.Store, s.String()) })
	})
}

// Plan is the current plan, or NotFound.
func (e *Erasures) Plan(ctx context.Context, id string) (gdpr.Plan, error) {
	return unless(e.s.Look(ctx, ReadRequests), func() (gdpr.Plan, error) { return e.desk.Plan(id) })
}

// change does an act that the session may do. It returns no request: Get has the new state.
func (e *Erasures) change(ctx context.Context, act Act, do func() (gdpr.Due, error)) error {
	_, err := unless(e.s.Allow(ctx, act, "", ""), do)
	return err
}

// Hold puts holds on items and voids the plan. Where one item is missing, none is held. redacted are those that a run
// of the plan had redacted before: the hold keeps what is left of them.
func (e *Erasures) Hold(ctx context.Context, id string, holds ...gdpr.Hold) (redacted []model.Ref, err error) {
	err = e.change(ctx, Hold, func() (gdpr.Due, error) {
		located := make([]gdpr.Hold, len(holds))
		for i, h := range holds {
			var err error
			if located[i], err = e.desk.Locate(ctx, e.s.Fleet, h); err != nil {
				return gdpr.Due{}, err
			}
		}
		redacted = e.redacted(ctx, id, located)
		return e.desk.Hold(ctx, id, located...)
	})
	return redacted, err
}

// redacted are the items that have the text of the plan's redaction. An item that cannot be read is not among them.
func (e *Erasures) redacted(ctx context.Context, id string, holds []gdpr.Hold) (out []model.Ref) {
	plan, err := e.desk.Plan(id)
	if err != nil {
		return nil // without a readable plan nobody can tell
	}
	held := map[model.Ref]bool{}
	for _, h := range holds {
		held[model.Ref{Store: h.Store, ID: h.ID}] = true
	}
	for _, part := range plan.Stores {
		s, err := e.s.Fleet.Store(part.Store)
		if err != nil || s.Browser == nil {
			continue
		}
		for _, st := range part.Steps {
			ref := model.Ref{Store: st.Store, ID: st.ID}
			if st.Action != gdpr.Redact || !held[ref] {
				continue
			}
			if now, err := s.Browser.Read(ctx, st.ID); err == nil && now.Revision != st.Revision && now.Body == st.NewBody {
				out = append(out, ref)
			}
		}
	}
	return out
}

// Unhold lifts holds, also of a complete request; this voids the plan.
func (e *Erasures) Unhold(ctx context.Context, id string, holds ...gdpr.Hold) error {
	return e.change(ctx, Unhold, func() (gdpr.Due, error) {
		located := make([]gdpr.Hold, len(holds))
		for i, h := range holds {
			located[i], _ = e.desk.Locate(ctx, e.s.Fleet, h) // to know its store; the item may be gone
		}
		return e.desk.Unhold(ctx, id, located...)
	})
}

// Withdraw closes a request for good.
func (e *Erasures) Withdraw(ctx context.Context, id, reason string) error {
	return e.change(ctx, Withdraw, func() (gdpr.Due, error) { return e.desk.Withdraw(ctx, id, reason) })
}

// Choose overrides the policy for single items; this voids the plan.
func (e *Erasures) Choose(ctx context.Context, id string, choices ...gdpr.Choice) error {
	return e.change(ctx, Choose, func() (gdpr.Due, error) { return e.desk.Choose(ctx, id, choices...) })
}

// Extend lengthens the deadline, once; told is the day that the subject was told, empty for today.
func (e *Erasures) Extend(ctx context.Context, id, told string) error {
	return e.change(ctx, Extend, func() (gdpr.Due, error) { return e.desk.Extend(ctx, id, told) })
}

// StopClock and StartClock enclose a check of the subject's identity.
func (e *Erasures) StopClock(ctx context.Context, id string) error {
	return e.change(ctx, Pause, func() (gdpr.Due, error) { return e.desk.Pause(ctx, id) })
}

// Identify records how the requester's identity was checked; on is a day, empty for today.
func (e *Erasures) Identify(ctx context.Context, id, method, on string) error {
	return e.change(ctx, Identify, func() (gdpr.Due, error) { return e.desk.Identify(ctx, id, method, on) })
}

// StartClock lets the clock run again.
func (e *Erasures) StartClock(ctx context.Context, id string) error {
	return e.change(ctx, Resume, func() (gdpr.Due, error) { return e.desk.Resume(ctx, id) })
}

// Unapproved says why the current plan may not be carried out yet; empty when it may.
func (e *Erasures) Unapproved(ctx context.Context, id string) (string, error) {
	r, err := e.Get(id)
	if err != nil {
		return "", err
	}
	return e.desk.Unapproved(ctx, &r.Request)
}

// Report is the last incomplete run and its plan, or NotFound.
func (e *Erasures) Report(ctx context.Context, id string) (gdpr.Outcome, string, error) {
	if err := e.s.Look(ctx, ReadRequests); err != nil {
		return gdpr.Outcome{}, "", err
	}
	return e.desk.Report(id)
}

// Attest records that a person looked at a layer that memdesk cannot open or change.
func (e *Erasures) Attest(ctx context.Context, id string, in gdpr.Looked) error {
	return e.change(ctx, Attest, func() (gdpr.Due, error) { return e.desk.Attest(ctx, id, e.s.Fleet, in) })
}

// Verify searches every store and layer again. typed is the subject's id where the request no longer has one,
// aliases as many of the aliases as are known.
func (e *Erasures) Verify(ctx context.Context, id, typed string, aliases ...string) ([]receipt.Layer, error) {
	return unless(e.s.Allow(ctx, Verify, "", ""), func() ([]receipt.Layer, error) { // Verify is recorded
		return e.desk.Verify(within(ctx), id, typed, e.s.Fleet, aliases...)
	})
}

// Receipt is the signed file of a complete request, checked, with its content and the id of its key; NotFound
// before that.
func (e *Erasures) Receipt(ctx context.Context, id string) ([]byte, receipt.Receipt, string, error) {
	if err := e.s.Look(ctx, ReadRequests); err != nil {
		return nil, receipt.Receipt{}, "", err
	}
	return e.desk.Receipt(id)
}

// SaveReceipt writes the receipt, or the status report of an incomplete request, to a new file, as Markdown
// where path ends in .md. It returns the bytes written, also with an error of model.IsPartial. A visitor has no file: it
// would be on this machine.
func (e *Erasures) SaveReceipt(ctx context.Context, id, path string) (int64, error) {
	target, err := e.target(path)
	if err != nil {
		return 0, err
	}
	file, err := e.paper(ctx, id, strings.HasSuffix(strings.ToLower(target), ".md"))
	if err != nil {
		return 0, err
	}
	begun := false
	err = atomicfile.Create(target, func(w io.Writer) error {
		begun = true
		_, err := w.Write(file)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return 0, model.Errorf(model.AlreadyExists, "receipt", "%s is there already: choose another name", filepath.Base(target))
	case errors.Is(err, atomicfile.ErrUnsynced): // the whole file is in place
		return int64(len(file)), &model.Partial{Err: model.Errorf(model.Unavailable, "receipt", "%s is written, but may not outlast a crash", filepath.Base(target))}
	case err != nil && !begun:
		return 0, model.Errorf(model.Unavailable, "receipt", "%s cannot be written: is its directory there and yours?", filepath.Base(target))
	case err != nil:
		return 0, model.Errorf(model.Unavailable, "receipt", "%s cannot be written to its end", filepath.Base(target))
	}
	return int64(len(file)), nil
}

// paper is a request's receipt, or its status report before that; as a file for programs or as a page for
// people.
func (e *Erasures) paper(ctx context.Context, id string, page bool) ([]byte, error) {
	r, err := e.Get(id)
	if err != nil {
		return nil, err
	}
	if !r.Receipted() {
		rep, err := e.desk.StatusReport(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if page {
			return []byte(rep.Markdown(false)), nil
		}
		return rep.JSON()
	}
	file, rec, key, err := e.desk.Receipt(r.ID)
	if err == nil && page {
		file = []byte(rec.Markdown(key, false))
	}
	return file, err
}

// Export writes all that is kept about the subject to a new directory, or to a zip file where path ends in
// .zip. It returns the number of items and the parts that could not be searched.
func (e *Erasures) Export(ctx context.Context, id, path string) (int64, []string, error) {
	if err := e.s.Allow(ctx, Export, "", ""); err != nil {
		return 0, nil, err
	}
	target, err := e.target(path)
	if err != nil {
		return 0, nil, err
	}
	return e.desk.Export(ctx, id, target, e.s.Fleet)
}

// target resolves a file that the operator names.
func (e *Erasures) target(path string) (string, error) {
	switch {
	case e.s.Door == Visit:
		return "", model.Errorf(model.PermissionDenied, "file", "over SSH no file of the server is written: run memdesk gdpr on that machine")
	case path == "":
		return "", model.Errorf(model.InvalidInput, "file", "the name is missing")
	}
	return backends.ExpandPath(path, e.s.Dir, e.s.Env), nil
}

// FreeBytes is the free space for a plan and its receipt; 0 when unknown.
func (e *Erasures) FreeBytes() int64 { return e.desk.FreeBytes() }

// MarkExport records the result of an export; n 0 is the only open one.
func (e *Erasures) MarkExport(ctx context.Context, id string, n int, state string) error {
	return e.change(ctx, Export, func() (gdpr.Due, error) { return e.desk.MarkExport(ctx, id, n, state) })
}

// Tell records that a recipient of the data was told of the erasure, or has answered.
func (e *Erasures) Tell(ctx context.Context, id, name, told, answered string) error {
	return e.change(ctx, Tell, func() (gdpr.Due, error) { return e.desk.Tell(ctx, id, name, told, answered) })
}

// Whole records that a store is about the request's subject alone: all of it may go.
func (e *Erasures) Whole(ctx context.Context, id string, store model.Store) error {
	return e.change(ctx, Plan, func() (gdpr.Due, error) { return e.desk.Whole(ctx, id, store) })
}

// Approve signs the plan with this hash as a second operator: with the key of a file, else with one of the agent at a
// socket. Where no agent gives a key, the record of this session approves it, if its key may.
func (e *Erasures) Approve(ctx context.Context, id, planHash, keyFile, agent string) error {
	return e.change(ctx, Approve, func() (gdpr.Due, error) {
		r, err := e.desk.Get(id)
		if err != nil {
			return r, err
		}
		if keyFile != "" {
			signer, err := sshsig.File(keyFile)
			if err != nil {
				return r, err
			}
			return e.desk.Approve(ctx, id, planHash, signer)
		}
		keys, conn, err := sshsig.Agent(agent)
		switch {
		case err != nil && e.BySession(&r.Request):
			return e.desk.ApproveHere(ctx, id, planHash)
		case err != nil:
			return r, err
		}
		defer conn.Close()
		// An agent may hold the requester's key too. Of none that may approve the first is tried: the refusal says why.
		i := slices.IndexFunc(keys, func(k sshsig.Signer) bool { return e.mayApprove(&r.Request, sshsig.Fingerprint(k.PublicKey())) })
		return e.desk.Approve(ctx, id, planHash, keys[max(i, 0)])
	})
}

// ApproveHere approves the plan with this hash by the record of this session, whose key is another
// operator's; PermissionDenied where the policy wants a signature.
func (e *Erasures) ApproveHere(ctx context.Context, id, planHash string) error {
	return e.change(ctx, Approve, func() (gdpr.Due, error) { return e.desk.ApproveHere(ctx, id, planHash) })
}

// SetPolicy records the configured policy as the one in force.
func (e *Erasures) SetPolicy(ctx context.Context, reason string) (gdpr.PolicyState, error) {
	return unless(e.s.Allow(ctx, SetPolicy, "", ""), func() (gdpr.PolicyState, error) { return e.desk.SetPolicy(ctx, reason) })
}

// Sweep finds erased subjects whose data has returned and erases them again, after confirm; restored names
// the one store to search after a restore, empty for all.
func (e *Erasures) Sweep(ctx context.Context, restored string, confirm func(gdpr.Plan) error) ([]gdpr.Swept, []string, error) {
	if err := e.s.Allow(ctx, Sweep, "", ""); err != nil {
		return nil, nil, err
	}
	return e.desk.Sweep(within(ctx), e.s.Fleet, restored, confirm)
}

// Retire reduces closed requests past their retention to their line in the register, and returns their
// number.
func (e *Erasures) Retire(ctx context.Context) (int, error) {
	return unless(e.s.Allow(ctx, Sweep, "", ""), func() (int, error) { return e.desk.Retire(ctx) })
}
