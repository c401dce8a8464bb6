package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
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
	fl.Int64Var(&f.ConfirmCount, "confirm-count", 0, "the `NUMBER` of items, where a large part of a store goes")
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

func (a *app) gdprVerifyCommand() *cobra.Command {
	key, aliases, all := "", []string(nil), false
	c := &cobra.Command{
		Use: "verify REQUEST|FILE [--alias A]...", Short: "Check a receipt offline, or look again at every layer",
		Long: "With a FILE (it exists, or holds a /) checks that the receipt is exactly as it was signed, and by whom; nothing\n" +
			"is opened. The key must be this desk's own, or the one of --key, which `gdpr receipt` names where the receipt\n" +
			"was made: anybody can sign with a key of their own. Exit 3 where the signature fits and nobody vouches for the key.\n" +
			"With a REQUEST looks again at every store and layer. The names of a complete one are gone: give the person's id\n" +
			"instead, and --alias for each other name. Items and texts are looked through by keyed hashes for those that are not\n" +
			"given too; the bytes of databases and their indexes are searched for those that are. Exit 7 for a changed receipt, a wrong key or residue.",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := a.path(args[0])
			_, err := os.Stat(path)
			if strings.Contains(args[0], "/") || err == nil {
				if len(aliases) > 0 {
					return usage("--alias looks at stores, not at a receipt's file")
				}
				return a.verifyReceipt(cmd.Context(), path, key, all)
			}
			if key != "" {
				return usage("--key checks a receipt's file")
			}
			return a.verifyRequest(cmd.Context(), args[0], aliases, all)
		},
	}
	c.Flags().StringArrayVar(&aliases, "alias", nil, "another `NAME`, address or number of the person of a complete request (repeatable)")
	c.Flags().BoolVar(&all, "all", false, allLayers)
	c.Flags().StringVar(&key, "key", "", "the public key, or key id, that must have signed the receipt, in `HEX`")
	return c
}

// badReceiptRow is a receipt that is not as it was signed.
type badReceiptRow struct {
	OK     bool   `json:"ok"` // false
	Reason string `json:"reason"`
}

// signedRow is a receipt that is as it was signed.
type signedRow struct {
	OK        bool          `json:"ok"`        // somebody vouches for the key
	Signature string        `json:"signature"` // valid
	Key       receipt.Vouch `json:"key"`
	Request   string        `json:"request"`
	KeyID     string        `json:"key_id"`
	PublicKey string        `json:"public_key"`
	Subject   string        `json:"subject"` // pseudonym
	PlanHash  string        `json:"plan_hash"`
	Begun     string        `json:"begun"`
	Finished  string        `json:"finished"`
	Forgotten int64         `json:"forgotten"`
	Redacted  int64         `json:"redacted"`
	Held      int64         `json:"held"`
	Status    string        `json:"status"`
}

func (a *app) verifyReceipt(ctx context.Context, path, pin string, all bool) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return model.Errorf(model.NotFound, "verify", "there is no such file")
	}
	text, err := a.readInput(ctx, path)
	if err != nil {
		return err
	}
	d := &gdpr.Desk{Clock: a.Clock}
	if s, err := a.base(); err == nil { // without one there is no key of its own
		d.State = s.State
	}
	rec, signer, err := d.CheckReceipt([]byte(text), pin)
	if errors.Is(err, receipt.ErrTampered) {
		a.emit("verify", badReceiptRow{Reason: err.Error()})
	}
	if err != nil {
		return err
	}
	a.printLayers(rec.Layers, all)
	a.emit("verify", signedRow{OK: signer.Known != "", Signature: "valid", Key: cmp.Or(signer.Known, "unknown"), Request: rec.Request, KeyID: signer.KeyID,
		PublicKey: signer.PublicKey, Subject: rec.Subject, PlanHash: rec.Plan, Begun: rec.Begun, Finished: rec.Finished,
		Forgotten: rec.Forgotten, Redacted: rec.Redacted, Held: receipt.Items(rec.Held), Status: rec.Status})
	switch signer.Known {
	case receipt.OwnKey:
		a.tellf("%s: as it was signed, with this desk's own key %s; finished %s", rec.Request, signer.KeyID, rec.Finished)
	case receipt.PinnedKey:
		a.tellf("%s: as it was signed, with the key that was asked for, %s; finished %s", rec.Request, signer.KeyID, rec.Finished)
	default:
		a.tellf("%s: as it was signed, but whose key %s is nobody here can say; finished %s", rec.Request, signer.KeyID, rec.Finished)
		return &exitError{exitPartial, errors.New("the receipt is not proven: this desk has no key of its own; give the key that must have signed it with --key")}
	}
	return nil
}

func (a *app) verifyRequest(ctx context.Context, id string, aliases []string, all bool) error {
	d, r, err := a.request(ctx, "", id)
	if err != nil {
		return err
	}
	if _, err := a.stores(ctx); err != nil {
		return err
	}
	typed := ""
	if id != r.ID {
		typed = id
	}
	out, err := d.Verify(ctx, r.ID, typed, aliases...)
	if err != nil {
		return err
	}
	a.printLayers(out, all)
	return verified(out)
}

// verified is the exit code of the layers that a verification found: partial where one is left open, or is out of
// scope and known to hold the person.
func verified(layers []receipt.Layer) error {
	open := false
	for _, l := range layers {
		if l.Verdict == model.VerdictResidue {
			return &exitError{code: exitTampered}
		}
		open = open || !receipt.Passes(l.Verdict) || l.HoldsPerson()
	}
	return partialIf(open)
}

type receiptRow struct {
	Request   string  `json:"request"`
	KeyID     string  `json:"key_id"`
	PublicKey *string `json:"public_key"`
	Bytes     int     `json:"bytes"`
}

func (a *app) gdprReceiptCommand() *cobra.Command {
	out, all := "", false
	c := &cobra.Command{
		Use: "receipt REQUEST --out FILE", Short: "The signed receipt of an erasure; as a page when FILE ends in .md",
		RunE: a.onRequest("", func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			if out == "" {
				return usage("--out is missing: where should the receipt go")
			}
			file, rec, key, err := d.Receipt(ctx, r.ID)
			if err != nil {
				return err
			}
			if strings.HasSuffix(strings.ToLower(out), ".md") {
				file = []byte(rec.Markdown(key, all))
			}
			if err := atomicfile.Write(a.path(out), file, 0o600); err != nil {
				return model.Errorf(model.Unavailable, "receipt", "%s cannot be written", filepath.Base(out))
			}
			a.result("receipt", receiptRow{r.ID, key, nilIfEmpty(d.PublicKey()), len(file)}, "%s: receipt written", r.ID)
			a.hintf("where nobody knows this desk: memdesk gdpr verify FILE --key %s (its key id)", key)
			return nil
		}),
	}
	c.Flags().StringVar(&out, "out", "", "the `FILE` to write")
	c.Flags().BoolVar(&all, "all", false, "on a page: "+allLayers)
	return c
}
