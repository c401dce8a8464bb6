package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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

// Away continues an erasure when the session ends.
type Away struct {
	Tied string // why no run outlives the session; empty: Begin works
	// Begin starts the run elsewhere. pid is the process that will begin it, 0 when it has begun.
	Begin func(ctx context.Context, o gdpr.Order) (pid int, err error)
}

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

// Tied says why the work ends with this session, to be continued later; empty when it does not.
func (e *Erasures) Tied() string { return e.away.Tied }

// Erase begins or continues to carry out a plan, and returns: the work outlives the caller.
func (e *Erasures) Erase(ctx context.Context, o gdpr.Order) error {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return err
	}
	r, err := e.Request(ctx, o.Request)
	if err != nil {
		return err
	}
	if r.Under() {
		return model.E(model.Conflict, eraseKind, gdpr.ErrBusy)
	}
	if _, err := e.desk.Authorise(ctx, o); err != nil {
		return err
	}
	if e.Tied() != "" {
		var out gdpr.Outcome
		_, err := e.runner.Start(ctx, e.job(o, &out, nil))
		return err
	}
	pid, err := e.away.Begin(ctx, o)
	if err != nil || pid == 0 {
		return err
	}
	return e.begun(ctx, o.Request, pid)
}

// beginWait is the time that another process has to open its stores and begin.
const beginWait = 20 * time.Second

// begun waits until another process has begun its job, so that the caller sees the job.
func (e *Erasures) begun(ctx context.Context, id string, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, beginWait)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := e.runner.List(ctx)
		if err != nil && ctx.Err() == nil {
			return model.E(model.Unavailable, "jobs", err)
		}
		if slices.ContainsFunc(all, func(st jobs.Status) bool { return st.Kind == eraseKind && st.Title == id && st.PID == pid }) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return model.Errorf(model.Timeout, eraseKind, "the process in the background has not begun; `memdesk gdpr erase %s` in a terminal says why", id)
		}
	}
}

// Pause holds a run at its next step.
func (e *Erasures) Pause(ctx context.Context, run jobs.ID) error {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return err
	}
	return JobError(e.runner.Pause(ctx, run))
}

// Resume lets a paused run go on.
func (e *Erasures) Resume(ctx context.Context, run jobs.ID) error {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return err
	}
	return JobError(e.runner.Resume(ctx, run))
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
	ctx = within(ctx)
	if restored != "" {
		return e.desk.SweepRestored(ctx, e.s.Fleet, restored, confirm)
	}
	return e.desk.Sweep(ctx, e.s.Fleet, confirm)
}

// Retire reduces closed requests past their retention to their line in the register, and returns their
// number.
func (e *Erasures) Retire(ctx context.Context) (int, error) {
	return unless(e.s.Allow(ctx, Sweep, "", ""), func() (int, error) { return e.desk.Retire(ctx) })
}

// pauseEvery is the number of steps between two lines of the job's journal. The job can pause at every step.
const pauseEvery = 32

func statusWords(s gdpr.State) string { return strings.ReplaceAll(string(s), "_", " ") }

// ErasedHow is what the job of an erasure made of its request; empty for any other job, one that has not come to
// its end, and one of an earlier version.
func ErasedHow(j jobs.Status) string {
	for _, s := range []gdpr.State{gdpr.StateComplete, gdpr.StateInScope, gdpr.StatePartial, gdpr.StatePending} {
		if j.State == jobs.Done && j.Kind == eraseKind && j.Note == statusWords(s) {
			return j.Note
		}
	}
	return ""
}

// job is an erasure as a job. told hears the progress in the job's own goroutine; nil: nobody listens. out may be
// read when the job has ended.
func (e *Erasures) job(o gdpr.Order, out *gdpr.Outcome, told func(gdpr.Progress)) jobs.Spec {
	spec := jobs.Spec{Kind: eraseKind, Title: o.Request, Classify: func(err error) string { return string(model.KindOf(err)) }}
	spec.Run = func(ctx context.Context, h *jobs.Handle) error {
		n, last := 0, ""
		var err error
		*out, err = e.desk.Erase(within(ctx), o, e.s.Fleet, func(ctx context.Context, p gdpr.Progress) error {
			now := p.Store + " " + p.What
			h.Progress(p.Done, p.Total, "step", now)
			if n++; n%pauseEvery == 1 || now != last {
				if err := h.Checkpoint(ctx); err != nil {
					return err
				}
			} else if err := h.Wait(ctx); err != nil {
				return err
			}
			last = now
			if told != nil {
				told(p)
			}
			return nil
		})
		changed := out.Forgotten + out.Redacted
		switch {
		case err == nil: // a run comes to its end also where a store was down
			h.Progress(changed, changed, "item", statusWords(out.Status))
		case out.Status != "": // it was broken off
			h.Progress(changed, 0, "item", statusWords(out.Status))
		}
		return err
	}
	return spec
}

// EraseHere carries out or continues a plan as a job of this process and returns when it is over; told hears
// the progress in the job's own goroutine. The end of ctx stops the run at its next step. A run that began and
// did not come to its end is ErrEndedEarly, with the outcome so far.
func (e *Erasures) EraseHere(ctx context.Context, o gdpr.Order, told func(gdpr.Progress)) (out gdpr.Outcome, err error) {
	if err := e.s.Allow(ctx, Erase, "", ""); err != nil {
		return out, err
	}
	id, err := e.runner.Start(ctx, e.job(o, &out, told))
	if err != nil {
		return out, err
	}
	end, err := follow(ctx, e.runner, id, func(jobs.Status) {})
	switch {
	case err != nil:
		return out, err
	case end.State == jobs.Done:
		return out, nil
	case end.State == jobs.Failed && out.Status == "": // it did not begin
		return out, end.Err
	case end.Err != nil:
		return out, fmt.Errorf("%[2]w: %[1]w", end.Err, ErrEndedEarly)
	}
	return out, ErrEndedEarly
}

// ErrEndedEarly is a run that was stopped before its end.
var ErrEndedEarly = model.Errorf(model.Timeout, "", "the run ended early; call it again to go on")

// Carry carries out a plan for a visitor who may leave, and closes the session at its end, which wg awaits.
// The end of ctx leaves the job to be continued.
func (s *Session) Carry(ctx context.Context, o gdpr.Order, wg *sync.WaitGroup) error {
	r, err := s.Jobs()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	e, err := s.Erasures(r, Away{})
	if err == nil {
		err = s.Allow(ctx, Erase, "", "")
	}
	var id jobs.ID
	if err == nil {
		var out gdpr.Outcome
		id, err = r.Start(ctx, e.job(o, &out, nil))
	}
	if err != nil {
		return errors.Join(err, r.Close(ctx), s.Close())
	}
	ended, err := r.Watch(context.WithoutCancel(ctx), id)
	if err != nil {
		return errors.Join(err, r.Close(ctx), s.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = r.Close(context.WithoutCancel(ctx)) })
	wg.Go(func() {
		defer stop()
		for range ended {
		}
		_ = errors.Join(r.Close(context.WithoutCancel(ctx)), s.Close()) // its journal has the outcome
	})
	return nil
}
