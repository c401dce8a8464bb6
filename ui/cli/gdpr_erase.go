package cli

import (
	"context"
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
)

type eraseFlags struct {
	gdpr.Order
	detach, all bool
}

func (a *app) gdprEraseCommand() *cobra.Command {
	var f eraseFlags
	c := &cobra.Command{
		Use: "erase REQUEST --plan-hash HASH", Short: "Carry a plan out, scrub, verify; or go on with it",
		Long: "Does exactly what the plan of this hash says, item by item with the revision that was seen, scrubs what\n" +
			"deleting leaves, and looks again. What was done is not done twice: call it again after any interruption.\n" +
			"Exit 3 means partial or pending: something is left, and the output says what.",
		RunE: a.onRequest(operator.Erase, func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error { return a.erase(ctx, d, r, f) }),
	}
	fl := c.Flags()
	fl.StringVar(&f.PlanHash, "plan-hash", "", "the `HASH` that `gdpr plan` printed, or at least its first 12 digits")
	fl.Int64Var(&f.ConfirmCount, "confirm-count", 0, "the `NUMBER` of items in the plan, required where it removes a large part of a store")
	fl.BoolVar(&f.all, "all", false, allLayers)
	fl.BoolVar(&f.detach, "detach", false, "go on in the background: memdesk jobs shows it")
	return a.asks(c)
}

func (a *app) erase(ctx context.Context, d *operator.Erasures, r gdpr.Due, f eraseFlags) error {
	if f.PlanHash == "" {
		return usage("--plan-hash is missing: `memdesk gdpr plan %s` prints it", r.ID)
	}
	f.Request = r.ID
	if r.State == gdpr.StateComplete && r.Planned(f.PlanHash) { // the caller of an earlier, cut-off run asks again
		return a.printOutcome(ctx, d, r.ID, gdpr.Outcome{Status: gdpr.StateComplete, Reason: "this plan was carried out to its end before; nothing was done now"}, f.all)
	}
	p, err := d.Authorise(ctx, f.Order)
	if err != nil {
		return err
	}
	items, held := p.Count()
	if err := a.confirm(ctx, a.text.Sprintf("erase %d items for good, %d on hold? This cannot be undone.", items, held).String()); err != nil {
		return err
	}
	if !f.detach {
		return a.runErase(ctx, f)
	}
	return a.withJobs(ctx, func(runner *jobs.Runner) error {
		pid := 0
		d, err := a.session.Erasures(runner, operator.Away{Begin: func(_ context.Context, o gdpr.Order) (_ int, err error) {
			pid, err = a.spawnErase(o)
			return pid, err
		}})
		if err == nil {
			err = d.Erase(ctx, f.Order)
		}
		if err == nil {
			a.result("detached", detachedRow{r.ID, pid}, "%s goes on in the background; `memdesk jobs` and `memdesk gdpr status %s` show it", r.ID, r.ID)
		}
		return err
	})
}

type detachedRow struct {
	Request string `json:"request"`
	PID     int    `json:"pid"`
}

// spawnErase starts another process of this program in a session of its own.
func (a *app) spawnErase(o gdpr.Order) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, model.Errorf(model.Internal, "gdpr-erase", "the program cannot find itself to start in the background")
	}
	args := []string{"gdpr", "erase", o.Request, "--plan-hash", o.PlanHash, "--yes", "--json"}
	if o.ConfirmCount != 0 {
		args = append(args, "--confirm-count", strconv.FormatInt(o.ConfirmCount, 10))
	}
	if a.flags.timeout != 0 {
		args = append(args, "--timeout", a.flags.timeout.String())
	}
	config, named := backends.ConfigPath(a.flags.config, a.Env)
	if !named {
		config = "" // the other process finds it by itself
	}
	args = append(args, a.storeArgs(config)...)
	if len(a.flags.open) == 0 && len(a.session.Config.Stores) == 0 {
		return 0, usage("--detach needs stores that are configured or given with --open: another process discovers from another directory")
	}
	return jobs.Spawn(self, args...)
}

type progressRow struct {
	Store string `json:"store"`
	What  string `json:"what"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Note  string `json:"note"`
}

// runErase runs the erasure as a job of this process and prints its progress.
func (a *app) runErase(ctx context.Context, f eraseFlags) error {
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	return a.withJobs(ctx, func(r *jobs.Runner) error {
		d, err := s.Erasures(r, operator.Away{})
		if err != nil {
			return err
		}
		last := ""
		out, err := d.EraseHere(ctx, f.Order, func(p gdpr.Progress) { // people get the first row of each step
			a.emit("progress", progressRow{p.Store, p.What, p.Done, p.Total, p.Note})
			if a.flags.json {
				_ = a.out.Flush() // its error is kept for the end
			}
			if step := p.Store + ": " + p.What; step != last {
				last = step
				a.hintf("%s", step)
			}
		})
		early := errors.Is(err, operator.ErrEndedEarly)
		if err != nil && !early {
			return err
		}
		var printed error
		if out.Status != "" { // it was begun
			printed = a.printOutcome(context.WithoutCancel(ctx), d, f.Request, out, f.all)
		}
		if early {
			return &exitError{exitPartial, err}
		}
		return printed
	})
}

// outcomeRow is how a run ended.
type outcomeRow struct {
	Request   string     `json:"request"`
	Status    gdpr.State `json:"status"`
	Reason    string     `json:"reason"`
	Forgotten int64      `json:"forgotten"`
	Redacted  int64      `json:"redacted"`
	Held      int64      `json:"held"`
	Problems  []string   `json:"problems"` // what was not done
	Left      []string   `json:"left"`     // and how to finish it
}

// printOutcome prints how a run ended, and last what is left to do.
func (a *app) printOutcome(ctx context.Context, d *operator.Erasures, id string, out gdpr.Outcome, all bool) error {
	a.printLayers(out.Layers, all)
	problems := mapped(out.Problems, gdpr.Problem.String)
	a.sayEach(problems, "not done: %s")
	rep, err := d.StatusReport(ctx, id)
	if err != nil && model.KindOf(err) != model.NotFound { // it is complete
		return err
	}
	left := mapped(rep.Left, receipt.Left.String)
	a.result("summary", outcomeRow{id, out.Status, out.Reason, out.Forgotten, out.Redacted, out.Held, problems, left},
		"%s: %s; %d forgotten, %d redacted, %d on hold", id, string(out.Status), out.Forgotten, out.Redacted, out.Held)
	if out.Reason != "" {
		a.hintf("%s", out.Reason)
	}
	if out.Status == gdpr.StateComplete || out.Status == gdpr.StateInScope {
		a.hintf("the receipt: memdesk gdpr receipt %s --out FILE", id)
	}
	if out.Status == gdpr.StatePartial || out.Status == gdpr.StatePending {
		a.hintf("what is left and what to do: memdesk gdpr report %s", id)
	} else {
		for _, l := range left {
			a.tellf("%s", l)
		}
	}
	return partialIf(out.Status != gdpr.StateComplete)
}

// allLayers is the help of --all, which prints the rows that printLayers sums up.
const allLayers = "list every clean layer too, a row each"

// layerRow is what became of one layer of a store.
type layerRow struct {
	Store        string        `json:"store"`
	Layer        string        `json:"layer"`
	Verdict      model.Verdict `json:"verdict"`
	Method       string        `json:"method" col:"HOW"`
	BytesScanned int64         `json:"bytes_scanned" col:"BYTES"`
	Hits         int64         `json:"hits"`
	Reason       *string       `json:"reason" col:"NOTE"`
}

// printLayers prints the verdicts: layers that are not clean, then one line for the clean ones, or all
// rows with all. With --json it prints every layer in the order of the search.
func (a *app) printLayers(layers []receipt.Layer, all bool) {
	standing, clean := receipt.Split(layers)
	switch {
	case a.flags.json:
		standing = layers
	case all:
		standing = append(standing, clean.Rows...)
	}
	tab := a.table("STORE", "LAYER", "VERDICT", "HITS", "BYTES", "HOW", "NOTE")
	for _, l := range standing {
		tab.put("layer", layerRow{l.Store, l.Layer, l.Verdict, l.Method, l.BytesScanned, l.Hits, nilIfEmpty(l.Reason)})
	}
	tab.flush()
	if clean.Layers == 0 || all || a.flags.json {
		return
	}
	a.linef("%s, %d bytes looked at; --all lists each", clean.String(), clean.Bytes)
	for _, n := range clean.Notes {
		a.linef("  %s: %s: %s", n.Store, n.Layer, n.Reason)
	}
}
