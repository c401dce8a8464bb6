package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"memdesk/jobs"
)

func (a *app) jobsCommand() *cobra.Command {
	list := func(cmd *cobra.Command, _ []string) error { return a.listJobs(cmd.Context()) }
	control := func(what jobs.Request, short string) *cobra.Command {
		return a.asks(&cobra.Command{ // asks nothing, and takes --yes as every change does
			Use: string(what) + " ID", Short: short,
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.withJobs(cmd.Context(), func(r *jobs.Runner) error {
					err := a.session.Control(cmd.Context(), r, jobs.ID(args[0]), what)
					if err == nil {
						a.emit("control", controlRow{jobs.ID(args[0]), what})
					}
					return err
				})
			},
		})
	}
	c := group("jobs", "Long work: progress, pause, cancel",
		&cobra.Command{Use: "list", Short: "Long work, the newest first", RunE: list},
		control(jobs.Cancel, "Stop a job at its next step"),
		control(jobs.Pause, "Hold a job at its next step"),
		control(jobs.Resume, "Let a paused job go on"))
	c.RunE = list
	return c
}

// controlRow is what a job was asked; it does so at its next step.
type controlRow struct {
	Job   jobs.ID      `json:"job"`
	Asked jobs.Request `json:"asked"`
}

func (a *app) withJobs(ctx context.Context, fn func(*jobs.Runner) error) (err error) {
	s, err := a.base()
	if err != nil {
		return err
	}
	r, err := s.Jobs()
	if err != nil {
		return err
	}
	// An interrupt ends the work, which has been waited for, and not this.
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	return fn(r)
}

type jobRow struct {
	Job      jobs.ID    `json:"job"`
	Kind     string     `json:"kind"`
	Title    string     `json:"title"`
	State    jobs.State `json:"state"`
	Progress string     `json:"-" col:"PROGRESS"`
	Done     int64      `json:"done"`
	Total    int64      `json:"total"` // 0: unknown
	Unit     string     `json:"unit"`
	Note     string     `json:"note"`
	Steps    int        `json:"steps"`
	Class    string     `json:"class"`
	PID      int        `json:"pid"`
	Started  stamp      `json:"started"`
	Updated  stamp      `json:"updated"`
}

func (a *app) listJobs(ctx context.Context) error {
	return a.withJobs(ctx, func(r *jobs.Runner) error {
		all, err := r.List(ctx)
		if err != nil {
			return err
		}
		putAll(a.table("JOB", "KIND", "STATE", "PROGRESS", "STARTED", "TITLE").orSay("no jobs"), "job", all, func(j jobs.Status) jobRow {
			return jobRow{Job: j.ID, Kind: j.Kind, Title: j.Title, State: j.State, Progress: progress(j), Done: j.Done, Total: j.Total, Unit: j.Unit,
				Note: j.Note, Steps: j.Steps, Class: j.Class, PID: j.PID, Started: stamp(j.Started), Updated: stamp(j.Updated)}
		})
		unread := slices.DeleteFunc(all, func(j jobs.Status) bool { return j.State != jobs.Unreadable })
		for _, j := range unread {
			a.errorf("job %s cannot be read: %v", j.ID, j.Err)
		}
		return partialIf(len(unread) > 0)
	})
}

func progress(j jobs.Status) string {
	switch {
	case j.Total == 0 && j.Done == 0 && j.Note != "": // the work does not count here
		return j.Note
	case j.Total == 0:
		return plural(j.Done, j.Unit)
	}
	return plural(j.Done, j.Unit) + " of " + plural(j.Total, j.Unit) + ", " + j.Updated.Sub(j.Started).Round(time.Second).String()
}
