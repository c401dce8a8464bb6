package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"memdesk/internal/drafts"
	"memdesk/internal/statedir"
	"memdesk/jobs"
	"memdesk/ui/tui"
)

// console opens the desk on the stores of the session.
func (a *app) console(ctx context.Context) error {
	if !a.Terminal(a.Stdin) || !a.Terminal(a.Stdout) {
		return usage("the console needs a terminal; for scripts there are commands: memdesk --help")
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	o := tui.Options{
		Fleet: s.fleet, Operator: strings.TrimPrefix(s.who.ID, "unauthenticated "), Authenticated: s.who.Authenticated, ReadOnlyReason: s.unwritable(a),
		Plain: a.flags.plain || s.cfg.UI.Plain, NoColor: a.flags.noColor || s.cfg.UI.NoColor, ASCII: a.text.ASCII,
		Environ: os.Environ(), Clock: a.Clock, Quarantine: &quarantineSource{fleet: s.fleet},
		Conflicts: &conflictSource{fleet: s.fleet, undo: s.undo, opt: a.conflictOptions(), ctx: ctx},
		Input:     a.Stdin, Output: a.Stdout, Theme: s.cfg.UI.Theme, IdleLock: time.Duration(s.cfg.UI.IdleLock),
	}
	// A terminal that cannot place text is spoken to line by line when plain output
	// is wanted; without that wish the console is tried, in ASCII and without colour.
	term := a.Env("TERM")
	o.Linear = s.cfg.UI.Linear || o.Plain && (term == "" || term == "dumb")
	if v := a.visitor; v != nil {
		o.Environ, o.Sizes = v.Environ, v.Sizes
	}
	if s.log != nil {
		o.Audit = &auditSource{log: s.log, clock: a.Clock, noted: func(ctx context.Context) (out []storeEvent, trouble string) {
			out = storeEvents(ctx, s.fleet, func(store string, err error) {
				trouble = "the events of " + store + " are missing: " + err.Error()
			})
			return out, trouble
		}}
		o.Notices = openIntents(ctx, s)
		o.Acts = &consoleActs{fleet: s.fleet, undo: s.undo, shelf: s.shelf}
		return a.acting(ctx, s, o)
	}
	return tui.Run(ctx, o)
}

// acting runs the console with what changes need beside the stores: texts in an
// editor and a journal for long work. Texts that were changed and not written are
// named when the console is left.
func (a *app) acting(ctx context.Context, s *session, o tui.Options) (err error) {
	runner, err := jobs.Open(jobs.Options{Dir: filepath.Join(s.state, "jobs"), Clock: a.Clock})
	if err != nil {
		return err
	}
	o.Jobs = &consoleJobs{runner, ctx}
	if len(a.flags.stores) == 0 { // an erasure is over all stores
		o.Erasure = &erasureSource{a: a, s: s, desk: s.desk(a), runner: runner}
	}
	o.Drafts = drafts.New(filepath.Join(s.state, "edit"), a.Clock, func() error { return statedir.Ensure(s.state) })
	kept, serr := o.Drafts.Sweep()
	for _, path := range kept {
		o.Notices = append(o.Notices, "a text that was being edited when a session broke off is kept for 30 days: "+path)
	}
	if serr != nil {
		o.Notices = append(o.Notices, "texts of earlier edits cannot be looked at: "+serr.Error())
	}
	o.Notices = append(o.Notices, a.brokenOff(ctx, s, runner)...)
	err = errors.Join(tui.Run(ctx, o), runner.Close(context.WithoutCancel(ctx)))
	if ctx.Err() != nil { // nobody reads what would be said now: the next session tells of the texts
		return errors.Join(err, o.Drafts.Leave())
	}
	kept, serr = o.Drafts.Close()
	for _, path := range kept {
		a.sayf("your text was not written; it is kept for 30 days: %s", path)
	}
	return errors.Join(err, serr)
}

// openIntents says which acts never came to an end, so that an operator looks.
func openIntents(ctx context.Context, s *session) []string {
	rows, err := s.log.OpenIntents(ctx)
	if err != nil {
		return []string{"the audit log cannot be read: " + err.Error()}
	}
	if len(rows) == 0 {
		return nil
	}
	first := rows[0]
	return []string{plural(int64(len(rows)), "act") + " began and have no recorded outcome, the first " + first.Action + " in " + first.Store +
		" at " + when(first.TS) + ": look at the items, then see `memdesk audit verify`"}
}
