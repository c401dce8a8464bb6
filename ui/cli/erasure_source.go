package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/sshsig"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/ui/tui"
)

// erasureSource is the desk of erasure requests for the console.
type erasureSource struct {
	a      *app
	s      *session
	desk   *gdpr.Desk
	runner *jobs.Runner // of the console
}

// Rules implements tui.ErasureSource.
func (e *erasureSource) Rules() gdpr.Policy { return e.desk.Policy }

// Requests implements tui.ErasureSource. The run of a request is its newest job.
func (e *erasureSource) Requests(ctx context.Context) ([]tui.ErasureRequest, error) {
	all, err := e.desk.List()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	runs, err := e.runs(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]tui.ErasureRequest, len(all))
	for i, r := range all {
		out[i] = tui.ErasureRequest{Due: r, Run: runs[r.ID]}
	}
	return out, nil
}

// Request implements tui.ErasureSource.
func (e *erasureSource) Request(ctx context.Context, id string) (tui.ErasureRequest, error) {
	r, err := e.desk.Get(id)
	if err != nil {
		return tui.ErasureRequest{}, err
	}
	runs, err := e.runs(ctx)
	return tui.ErasureRequest{Due: r, Run: runs[r.ID]}, err
}

// eraseKind is the kind of the jobs that carry requests out; the title is the
// request's id.
const eraseKind = "gdpr-erase"

func (e *erasureSource) runs(ctx context.Context) (map[string]*jobs.Status, error) {
	all, err := e.runner.List(ctx)
	if err != nil {
		return nil, model.E(model.Unavailable, "jobs", err)
	}
	out := map[string]*jobs.Status{}
	for _, st := range all { // newest first; one that is under way counts before
		if was := out[st.Title]; st.Kind == eraseKind && (was == nil || ended(*was) && !ended(st)) {
			out[st.Title] = &st
		}
	}
	return out, nil
}

func ended(st jobs.Status) bool { return st.State.Ended() || st.State == jobs.Interrupted }

// Unattested implements tui.ErasureSource.
func (e *erasureSource) Unattested() string { return e.desk.Unattested() }

// File implements tui.ErasureSource.
func (e *erasureSource) File(ctx context.Context, in gdpr.Intake, keyFile string) (gdpr.Due, error) {
	if err := e.a.mayChange(e.s, "gdpr-request"); err != nil {
		return gdpr.Due{}, err
	}
	switch {
	case keyFile == "":
	case e.a.visitor != nil:
		return gdpr.Due{}, model.Errorf(model.PermissionDenied, "key", "over SSH no file of the server is read: your login's own key counts")
	default:
		var err error
		if in.Signer, err = sshsig.File(backends.ExpandPath(keyFile, e.a.Dir, e.a.Env)); err != nil {
			return gdpr.Due{}, err
		}
	}
	return e.desk.File(ctx, in)
}

// Discover implements tui.ErasureSource.
func (e *erasureSource) Discover(ctx context.Context, id string, step func(store, what string)) (gdpr.Plan, error) {
	if err := e.a.mayChange(e.s, "gdpr-plan"); err != nil {
		return gdpr.Plan{}, err
	}
	return e.desk.MakePlan(ctx, id, e.s.fleet, func(s gdpr.Searching) { step(s.Store, s.String()) })
}

// Plan implements tui.ErasureSource.
func (e *erasureSource) Plan(_ context.Context, id string) (gdpr.Plan, error) { return e.desk.Plan(id) }

// change refuses where nothing may be changed, and drops what the console asks for
// anew.
func (e *erasureSource) change(op string, do func() (gdpr.Due, error)) error {
	if err := e.a.mayChange(e.s, op); err != nil {
		return err
	}
	_, err := do()
	return err
}

// Hold implements tui.ErasureSource.
func (e *erasureSource) Hold(ctx context.Context, id string, h gdpr.Hold) error {
	return e.change("gdpr-hold", func() (gdpr.Due, error) {
		h, err := gdpr.Locate(ctx, e.s.fleet, h)
		if err != nil {
			return gdpr.Due{}, err
		}
		return e.desk.Hold(ctx, id, h)
	})
}

// Unhold implements tui.ErasureSource.
func (e *erasureSource) Unhold(ctx context.Context, id string, h gdpr.Hold) error {
	h, _ = gdpr.Locate(ctx, e.s.fleet, h) // what store it is; the item may be gone
	return e.change("gdpr-unhold", func() (gdpr.Due, error) { return e.desk.Unhold(ctx, id, h) })
}

// Withdraw implements tui.ErasureSource.
func (e *erasureSource) Withdraw(ctx context.Context, id, reason string) error {
	return e.change("gdpr-withdraw", func() (gdpr.Due, error) { return e.desk.Withdraw(ctx, id, reason) })
}

// Choose implements tui.ErasureSource.
func (e *erasureSource) Choose(ctx context.Context, id string, c gdpr.Choice) error {
	return e.change("gdpr-choose", func() (gdpr.Due, error) { return e.desk.Choose(ctx, id, c) })
}

// Extend implements tui.ErasureSource.
func (e *erasureSource) Extend(ctx context.Context, id, told string) error {
	return e.change("gdpr-extend", func() (gdpr.Due, error) { return e.desk.Extend(ctx, id, told) })
}

// StopClock implements tui.ErasureSource.
func (e *erasureSource) StopClock(ctx context.Context, id string) error {
	return e.change("gdpr-pause", func() (gdpr.Due, error) { return e.desk.Pause(ctx, id) })
}

// StartClock implements tui.ErasureSource.
func (e *erasureSource) StartClock(ctx context.Context, id string) error {
	return e.change("gdpr-resume", func() (gdpr.Due, error) { return e.desk.Resume(ctx, id) })
}

// Unapproved implements tui.ErasureSource.
func (e *erasureSource) Unapproved(ctx context.Context, id string) (string, error) {
	r, err := e.desk.Get(id)
	if err != nil {
		return "", err
	}
	return e.desk.Unapproved(ctx, &r.Request)
}

// Tied implements tui.ErasureSource. Another process finds the same stores only by
// the same configuration; a visitor's run stays in the server, which knows who the
// visitor is.
func (e *erasureSource) Tied() string {
	switch {
	case e.a.visitor != nil && e.a.behind != nil:
		return ""
	case e.a.visitor != nil:
		return "nothing of this server outlives a visit"
	case e.a.demoing:
		return "the demo is one process"
	case len(e.a.flags.open) == 0 && len(e.s.cfg.Stores) == 0:
		return "the stores were found and not configured, and another process looks from another directory"
	}
	return ""
}

// Erase implements tui.ErasureSource.
func (e *erasureSource) Erase(ctx context.Context, o gdpr.Order) error {
	if err := e.a.mayChange(e.s, eraseKind); err != nil {
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
	switch {
	case e.Tied() != "":
		var out gdpr.Outcome
		_, err := e.runner.Start(ctx, eraseJob(e.desk, e.s.fleet, o, &out, nil))
		return err
	case e.a.visitor != nil:
		return e.a.behind.erase(e.a, o)
	}
	pid, err := e.a.spawnErase(eraseFlags{Order: o, yes: true})
	if err != nil {
		return err
	}
	return e.begun(ctx, o.Request, pid)
}

// beginWait is how long another process may take to open its stores and begin.
const beginWait = 20 * time.Second

// begun waits until another process has begun its job, so that who asked for it
// sees it.
func (e *erasureSource) begun(ctx context.Context, id string, pid int) error {
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

// Pause implements tui.ErasureSource.
func (e *erasureSource) Pause(ctx context.Context, run jobs.ID) error {
	if err := e.a.mayChange(e.s, eraseKind); err != nil {
		return err
	}
	return jobError(e.runner.Pause(ctx, run))
}

// Resume implements tui.ErasureSource.
func (e *erasureSource) Resume(ctx context.Context, run jobs.ID) error {
	if err := e.a.mayChange(e.s, eraseKind); err != nil {
		return err
	}
	return jobError(e.runner.Resume(ctx, run))
}

// Report implements tui.ErasureSource.
func (e *erasureSource) Report(_ context.Context, id string) (gdpr.Outcome, string, error) {
	return e.desk.Report(id)
}

// StatusReport implements tui.ErasureSource.
func (e *erasureSource) StatusReport(ctx context.Context, id string) (receipt.Report, error) {
	return e.desk.StatusReport(ctx, id)
}

// Attest implements tui.ErasureSource.
func (e *erasureSource) Attest(ctx context.Context, id string, in gdpr.Looked) error {
	return e.change("gdpr-attest", func() (gdpr.Due, error) { return e.desk.Attest(ctx, id, e.s.fleet, in) })
}

// Verify implements tui.ErasureSource.
func (e *erasureSource) Verify(ctx context.Context, id, typed string, aliases ...string) ([]receipt.Layer, error) {
	if err := e.a.mayChange(e.s, "gdpr-verify"); err != nil { // it is recorded
		return nil, err
	}
	return e.desk.Verify(ctx, id, typed, e.s.fleet, aliases...)
}

// Receipt implements tui.ErasureSource.
func (e *erasureSource) Receipt(_ context.Context, id string) ([]byte, receipt.Receipt, string, error) {
	return e.desk.Receipt(id)
}

// SaveReceipt implements tui.ErasureSource. A visitor's file would be one of this
// machine, so a visitor has none.
func (e *erasureSource) SaveReceipt(ctx context.Context, id, path string) (int64, error) {
	target, err := e.target(path)
	if err != nil {
		return 0, err
	}
	file, err := e.paper(ctx, id, strings.HasSuffix(strings.ToLower(target), ".md"))
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return 0, model.Errorf(model.AlreadyExists, "receipt", "%s is there already: choose another name", filepath.Base(target))
	case err != nil:
		return 0, model.Errorf(model.Unavailable, "receipt", "%s cannot be written: is its directory there and yours?", filepath.Base(target))
	}
	_, err = f.Write(file)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, model.Errorf(model.Unavailable, "receipt", "%s cannot be written to its end", filepath.Base(target))
	}
	return int64(len(file)), nil
}

// paper is a request's receipt, or as long as it has none its status report; as a file
// for programs or as a page for people.
func (e *erasureSource) paper(ctx context.Context, id string, page bool) ([]byte, error) {
	r, err := e.desk.Get(id)
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

// Export implements tui.ErasureSource.
func (e *erasureSource) Export(ctx context.Context, id, path string) (int64, []string, error) {
	if err := e.a.mayChange(e.s, "gdpr-export"); err != nil {
		return 0, nil, err
	}
	target, err := e.target(path)
	if err != nil {
		return 0, nil, err
	}
	return e.desk.Export(ctx, id, target, e.s.fleet)
}

// target is where a file that the operator names lies.
func (e *erasureSource) target(path string) (string, error) {
	switch {
	case e.a.visitor != nil:
		return "", model.Errorf(model.PermissionDenied, "file", "over SSH no file of the server is written: run memdesk gdpr on that machine")
	case path == "":
		return "", model.Errorf(model.InvalidInput, "file", "the name is missing")
	}
	return backends.ExpandPath(path, e.a.Dir, e.a.Env), nil
}

// FreeBytes implements tui.ErasureSource.
func (e *erasureSource) FreeBytes() int64 {
	n, _ := gdpr.FreeSpace(e.desk.State)
	return n
}

// background is the work that visitors leave behind. It ends with the server.
type background struct {
	ctx context.Context
	wg  sync.WaitGroup
}

// erase carries a plan out under the visitor's name, with stores of its own: those
// of the visit are closed when it ends.
func (b *background) erase(visit *app, o gdpr.Order) error {
	v := *visit
	v.session, v.only = nil, nil
	s, err := v.open(b.ctx)
	if err != nil {
		return err
	}
	r, err := jobs.Open(jobs.Options{Dir: filepath.Join(s.state, "jobs"), Clock: v.Clock})
	if err != nil {
		return errors.Join(err, s.close())
	}
	var out gdpr.Outcome
	id, err := r.Start(b.ctx, eraseJob(s.desk(&v), s.fleet, o, &out, nil))
	if err != nil {
		return errors.Join(err, s.close())
	}
	ended, err := r.Watch(context.WithoutCancel(b.ctx), id)
	if err != nil {
		return errors.Join(err, r.Close(b.ctx), s.close())
	}
	stop := context.AfterFunc(b.ctx, func() { _ = r.Close(context.WithoutCancel(b.ctx)) }) // the job stays to be gone on with
	b.wg.Go(func() {
		defer stop()
		for range ended {
		}
		_ = errors.Join(r.Close(context.WithoutCancel(b.ctx)), s.close()) // how it ended is in its journal
	})
	return nil
}
