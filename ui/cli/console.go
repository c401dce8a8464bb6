package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"memdesk/gdpr"
	"memdesk/internal/drafts"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/linear"
)

// consoleHeap is how far the heap of a console may grow over what lives, in per cent, until garbage is collected:
// a console mostly waits, and what it learns of a large store stays as long as it is open. GOGC overrides it.
const consoleHeap = 25

// console opens the desk on the stores of the session.
func (a *app) console(ctx context.Context) error {
	if !a.Terminal(a.Stdin) || !a.Terminal(a.Stdout) {
		how := ""
		if a.Env("SSH_CONNECTION") != "" {
			how = ", which `ssh -t` asks for"
		}
		return usage("the console needs a terminal%s; for scripts there are commands: memdesk --help", how)
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	if err := checkConsole(&s.Config); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := operator.NewChanges(ctx)
	o := tui.Options{
		Fleet: s.Fleet, Operator: inFrame(s), Authenticated: s.Who.Authenticated, ReadOnlyReason: s.Unwritable(),
		Plain: a.flags.plain || s.Config.UI.Plain, NoColor: a.flags.noColor || s.Config.UI.NoColor, ASCII: a.text.ASCII,
		Environ: os.Environ(), Clock: a.Clock, Sources: desk.Sources{Quarantine: s.Quarantine(), Origins: s, Stories: s, Conflicts: s.Conflicts(changes), Changes: changes},
		Terminal: tui.Terminal{Input: a.Stdin, Output: a.Stdout}, Theme: s.Config.UI.Theme, Keys: s.Config.UI.Keys, Views: s.Config.UI.Views, NoMouse: s.Config.UI.Mouse != nil && !*s.Config.UI.Mouse, IdleLock: time.Duration(s.Config.UI.IdleLock), Poll: 3 * time.Second,
	}
	o.Lacks = func(act operator.Act) string {
		if s.May(act) != nil {
			return s.Role()
		}
		return ""
	}
	if p := s.Config.UI.Poll; p != nil {
		o.Poll = time.Duration(*p)
	}
	// A terminal without cursor control gets the linear mode where plain output is asked for. Without
	// --plain the console is tried, in ASCII and without colour.
	term := a.Env("TERM")
	run := tui.Run
	if s.Config.UI.Linear || o.Plain && (term == "" || term == "dumb") {
		run = linear.Run
	}
	if a.Env("GOGC") == "" {
		debug.SetGCPercent(consoleHeap)
	}
	if a.screen != nil {
		o.Terminal = *a.screen
	}
	if v := a.visitor; v != nil {
		o.Environ, o.Sizes = v.Environ, v.Sizes
	}
	if s.Log != nil {
		o.Audit, o.Acts = s.AuditTrail(), s
		o.Anchored = func(ctx context.Context) (string, model.HealthState) {
			at := s.Anchoring(ctx)
			return at.Words(a.Clock.Now()), at.State()
		}
		return a.acting(ctx, s, o, run)
	}
	return run(ctx, o)
}

// inFrame names the operator, with the role where it is neither operator nor reader.
func inFrame(s *operator.Session) string {
	who := strings.TrimPrefix(s.Who.ID, "unauthenticated ")
	switch role := s.Role(); operator.Role(role) {
	case operator.RoleOperator, operator.RoleReader: // the frame says read-only of itself
		return who
	default:
		return role + " " + who
	}
}

// acting runs a console that can change stores: with drafts and with jobs. When the console ends it
// names the drafts that were not written.
func (a *app) acting(ctx context.Context, s *operator.Session, o tui.Options, run func(context.Context, tui.Options) error) (err error) {
	runner, err := s.Jobs()
	if err != nil {
		return err
	}
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	o.Gone, o.Jobs = gone, s.Journal(ctx, runner)
	if !a.narrowed(s) { // an erasure is over all stores
		if o.Erasure, err = s.Erasures(runner, a.away()); err != nil {
			return err
		}
	}
	o.Drafts = drafts.New(filepath.Join(s.State, "edit"), a.Clock, func() error { return statedir.Ensure(s.State) })
	o.Drafts.May = func() error { return s.Look(context.Background(), operator.ReadContent) }
	o.Drafts.Believed = func(now time.Time) time.Time {
		if s.Log == nil {
			return now
		}
		at, _ := s.Log.Believed(ctx, now) // zero, so that nothing expires, where the log cannot be read
		return at
	}
	kept, serr := o.Drafts.Sweep()
	o.Notices = s.Notices(ctx, runner)
	if o.Due, err = s.DueSoon(); err != nil { // no tab says so
		var each gdpr.Damaged
		if !errors.As(err, &each) {
			each = gdpr.Damaged{err}
		}
		for _, why := range each {
			o.Notices = append(o.Notices, "an erasure request cannot be looked at: "+why.Error())
		}
	}
	for _, path := range kept {
		o.Notices = append(o.Notices, "a text that was being edited when a session broke off is kept for 30 days: "+path)
	}
	if serr != nil {
		o.Notices = append(o.Notices, "texts of earlier edits cannot be looked at: "+serr.Error())
	}
	err = errors.Join(run(ctx, o), runner.Close(context.WithoutCancel(ctx)))
	if ctx.Err() != nil { // the output has no reader: the next session names the drafts
		return errors.Join(err, o.Drafts.Leave())
	}
	kept, serr = o.Drafts.Close()
	a.sayEach(kept, "your text was not written; it is kept for 30 days: %s")
	return errors.Join(err, serr)
}

// away starts the erasures that continue when the console ends. Another process finds the same stores only by
// the same configuration. A visitor's erasure stays in the server, which knows the visitor.
func (a *app) away() operator.Away {
	switch {
	case a.visitor != nil && a.behind != nil:
		return operator.Away{Begin: func(_ context.Context, o gdpr.Order) (int, error) { return 0, a.behind.erase(a, o) }}
	case a.visitor != nil:
		return operator.Away{Tied: "nothing of this server outlives a visit"}
	case a.demoing:
		return operator.Away{Tied: "the demo is one process"}
	case len(a.flags.open) == 0 && len(a.session.Config.Stores) == 0:
		return operator.Away{Tied: "the stores were found and not configured, and another process looks from another directory"}
	}
	return operator.Away{Begin: func(_ context.Context, o gdpr.Order) (int, error) { return a.spawnErase(o) }}
}

// background runs what visitors leave behind. It ends with the server.
type background struct {
	ctx context.Context
	wg  sync.WaitGroup
}

// erase carries a plan out under the visitor's name. It opens stores of its own, because the
// visitor's close with the visit.
func (b *background) erase(visit *app, o gdpr.Order) error {
	v := *visit
	v.session, v.only = nil, nil
	s, err := v.open(b.ctx)
	if err != nil {
		return err
	}
	return s.Carry(b.ctx, o, &b.wg)
}
