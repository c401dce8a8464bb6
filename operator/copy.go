package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"memdesk/audit"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/transfer"
)

// Copying says how to do a copy and reports on it; every func may be called from the job's own goroutine.
type Copying struct {
	To    string // the store, for the log
	Title string // names source and target; two of the same title and options are one copy
	// Options tell apart copies between the same stores. Tiers may be called like people, so the journal has only a hash.
	Options string
	Reason  string
	// TakenUp hears of an earlier, incomplete job of the same title that this one continues.
	TakenUp func(jobs.Status)
	Item    func(transfer.Outcome)
	Status  func(jobs.Status)
}

// jobTitle is the title in the journal, which outlives an erasure, holds no path and clips a long text: options become
// a hash, and a title of either sort the target and a hash.
func (c Copying) jobTitle() string {
	head, whole := c.Title, c.Title
	if len(head) > maxJobTitle || strings.Contains(head, "/") {
		head = "to " + c.To
	}
	if c.Options != "" {
		whole += ", " + c.Options
	}
	if head == whole {
		return head
	}
	sum := sha256.Sum256([]byte(whole))
	return head + ", " + hex.EncodeToString(sum[:8])
}

// maxJobTitle bounds a title that the journal keeps as it is, in bytes.
const maxJobTitle = 256

// Copied is the result of a copy.
type Copied struct {
	transfer.Summary
	Job jobs.ID
	End jobs.Status // without an error where only single items failed: the summary counts them
}

var errNotWhole = errors.New("some items were not copied")

// Copy carries out a plan as a job of r, and continues a stopped job of the same title first. The end of ctx
// stops it at its next step.
func (s *Session) Copy(ctx context.Context, r *jobs.Runner, plan transfer.Plan, c Copying) (out Copied, err error) {
	if err := s.Allow(ctx, Copy, c.To, ""); err != nil {
		return out, err
	}
	write := func(ctx context.Context, to model.Store, req model.RetainRequest) (model.RetainResult, error) {
		if req.IfMatch == model.Absent { // nothing is displaced
			return to.Provider.Retain(ctx, req)
		}
		res, _, err := s.Undo.Retain(ctx, to, req)
		return res, err
	}
	plan.Author = func(ctx context.Context, it model.Item) context.Context {
		return origin.PassingOn(ctx, s.WriterOfItem(plan.From, it))
	}
	spec := jobs.Spec{Kind: string(Copy), Title: c.jobTitle(), Run: func(ctx context.Context, h *jobs.Handle) (err error) {
		out.Summary, err = plan.Run(ctx, h, write, c.Item)
		if err == nil && out.Failed > 0 {
			err = errNotWhole
		}
		return err
	}}
	ctx = audit.WithReason(ctx, c.Reason)
	if out.Job, err = startOrRecover(ctx, r, spec, c.TakenUp); err != nil {
		return out, err
	}
	out.End, err = follow(ctx, r, out.Job, c.Status)
	if errors.Is(out.End.Err, errNotWhole) {
		out.End.Err = nil
	}
	return out, err
}

// TryCopy reports what Copy would do, item by item: what stands there, what an unfinished job of the same title has
// settled, and what suppression and holds refuse. It writes nothing.
func (s *Session) TryCopy(ctx context.Context, r *jobs.Runner, plan transfer.Plan, c Copying) (sum transfer.Summary, err error) {
	began := s.Clock.Now()
	try := transfer.Rehearsal{Gate: s.desk.Gate(), Progress: func(done, total int64) {
		c.Status(jobs.Status{Done: done, Total: total, Unit: "item", Started: began, Updated: s.Clock.Now()})
	}}
	open, err := unfinished(ctx, r, string(Copy), c.jobTitle())
	if err != nil {
		return sum, err
	}
	if len(open) > 0 {
		c.TakenUp(open[0])
		if try.Settled, err = r.Steps(ctx, open[0].ID); err != nil {
			return sum, err
		}
	}
	return plan.Try(ctx, try, c.Item)
}

// ExportStore writes a whole store into a new directory, which transfer.OpenExport reads again. It changes no
// memory and is recorded, because no erasure reaches the copy.
func (s *Session) ExportStore(ctx context.Context, store, dir, reason string, progress func(done, total int64)) (m transfer.Manifest, err error) {
	ctx, st, err := s.begin(ctx, ExportStore, store, "", reason)
	if err != nil {
		return m, err
	}
	err = s.Log.Act(ctx, audit.Entry{Action: string(ExportStore), Store: store, Target: dir, Reason: reason}, func(ctx context.Context) (map[string]int64, error) {
		m, err = transfer.Export(ctx, st, dir, s.Clock.Now(), progress)
		return map[string]int64{"items": m.Items}, err
	})
	return m, err
}

// startOrRecover continues the newest incomplete job of the same kind and title, or starts one.
func startOrRecover(ctx context.Context, r *jobs.Runner, spec jobs.Spec, takenUp func(jobs.Status)) (jobs.ID, error) {
	open, err := unfinished(ctx, r, spec.Kind, spec.Title)
	if err != nil {
		return "", err
	}
	for _, st := range open {
		switch err := r.Recover(ctx, st.ID, spec); {
		case err == nil:
			takenUp(st)
			return st.ID, nil
		case errors.Is(err, jobs.ErrRunning):
			return "", model.Errorf(model.Conflict, spec.Kind, "job %s is doing this already", st.ID)
		case !errors.Is(err, jobs.ErrEnded) && !errors.Is(err, jobs.ErrNotFound): // it is there, and must not be begun twice
			return "", err
		}
	}
	return r.Start(ctx, spec)
}

// unfinished are the jobs of a kind and title that are not done, the newest first.
func unfinished(ctx context.Context, r *jobs.Runner, kind, title string) ([]jobs.Status, error) {
	all, err := r.List(ctx)
	return slices.DeleteFunc(all, func(st jobs.Status) bool {
		return st.Kind != kind || st.Title != title || st.State == jobs.Done
	}), err
}

// follow reports the progress of a job until its end; the end of ctx cancels the job at its next step.
func follow(ctx context.Context, r *jobs.Runner, id jobs.ID, told func(jobs.Status)) (last jobs.Status, err error) {
	watch, err := r.Watch(context.WithoutCancel(ctx), id)
	if err != nil {
		return last, err
	}
	interrupted := ctx.Done()
	for {
		select {
		case st, ok := <-watch:
			if !ok {
				return last, nil
			}
			last = st
			told(st)
		case <-interrupted:
			interrupted = nil
			if err := r.Ask(context.WithoutCancel(ctx), id, jobs.Cancel); err != nil && !errors.Is(err, jobs.ErrEnded) {
				return last, err
			}
		}
	}
}
