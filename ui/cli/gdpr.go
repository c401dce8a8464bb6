package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/identifier"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) gdprCommand() *cobra.Command {
	type erasures = operator.Erasures
	c := group("gdpr", "Erasure requests: file, plan, approve, erase, verify", a.gdprRequestCommand(), a.gdprStatusCommand(),
		a.gdprPlanCommand(), a.gdprHoldCommand(), a.gdprUnholdCommand(), a.gdprChooseCommand(), a.gdprExtendCommand(), a.gdprWithdrawCommand(),
		a.gdprExportCommand(), a.gdprAttestCommand(), a.gdprPolicyCommand(), a.gdprApproveCommand(), a.gdprEraseCommand(), a.gdprVerifyCommand(), a.gdprReceiptCommand(), a.gdprReportCommand(), a.gdprSweepCommand(),
		a.gdprDueCommand(), a.gdprIdentityCommand(), a.gdprRecipientCommand(), a.gdprLetterCommand(), a.gdprRegisterCommand(),
		a.requestCommand("pause REQUEST", "Stop the clock while the person's identity is checked", "", operator.Pause,
			func(ctx context.Context, d *erasures, id string) error { return d.StopClock(ctx, id) }),
		a.requestCommand("resume REQUEST", "Let the clock run again", "", operator.Resume,
			func(ctx context.Context, d *erasures, id string) error { return d.StartClock(ctx, id) }))
	c.Long = "A request is filed, planned, carried out, verified and closed with a signed receipt. Nothing changes\n" +
		"before `gdpr erase` is given the hash of the plan that was shown."
	return c
}

// desk opens the session's erasures. It refuses act, unless that is empty, before any question is asked.
func (a *app) desk(ctx context.Context, act operator.Act) (*operator.Erasures, error) {
	s, err := a.base()
	if err != nil {
		return nil, err
	}
	if a.narrowed(s) { // stores that are left out would be neither searched nor named
		return nil, usage("an erasure is over all stores: leave --store and --open out")
	}
	d, err := s.Erasures(nil, operator.Away{})
	if err != nil || act == "" {
		return d, err
	}
	return d, s.Allow(ctx, act, "", "")
}

// onDesk runs a command on the erasures.
func (a *app) onDesk(act operator.Act, do func(ctx context.Context, d *operator.Erasures, args []string) error) command {
	return func(cmd *cobra.Command, args []string) error {
		d, err := a.desk(cmd.Context(), act)
		if err != nil {
			return err
		}
		return do(cmd.Context(), d, args)
	}
}

// request finds a request. It refuses act, unless act is empty or allowed.
func (a *app) request(ctx context.Context, act operator.Act, id string) (d *operator.Erasures, r gdpr.Due, err error) {
	if d, err = a.desk(ctx, act); err == nil {
		r, err = d.Get(id)
	}
	return d, r, err
}

// onRequest runs a command on the request that the first argument names.
func (a *app) onRequest(act operator.Act, do func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error) command {
	return func(cmd *cobra.Command, args []string) error {
		d, r, err := a.request(cmd.Context(), act, args[0])
		if err != nil {
			return err
		}
		return do(cmd.Context(), d, r)
	}
}

func (a *app) gdprRequestCommand() *cobra.Command {
	var in gdpr.Intake
	keyFile, from, dsr := "", "", ""
	c := &cobra.Command{
		Use: "request (--subject ID [--alias A]... | --identifiers FILE | --opendsr FILE) [--received YYYY-MM-DD] --ground TEXT", Short: "File a person's request",
		Long: "Files a request to be forgotten. Every alias is looked for as a whole: give each name, address and\n" +
			"number by which the stores may know the person, exactly as written. Each is confirmed by you. Names that a\n" +
			"store itself ties to the person and that were not given are proposed on stderr, and never taken by themselves:\n" +
			"of each store up to 1000 tied items, 5 seconds and 20 names. The deadline is one calendar month.",
		RunE: a.onDesk(operator.Request, func(ctx context.Context, d *operator.Erasures, _ []string) error {
			if err := a.readIntake(ctx, dsr, from, &in); err != nil {
				return err
			}
			a.sayKinds(in)
			if err := a.propose(ctx, in); err != nil {
				return err
			}
			for _, alias := range in.Aliases {
				if err := a.confirm(ctx, "is "+alias+" this person and nobody else?"); err != nil {
					return err
				}
			}
			in.Received = cmp.Or(in.Received, a.Clock.Now().UTC().Format("2006-01-02"))
			r, err := d.File(ctx, in, keyFile)
			if err != nil {
				return err
			}
			if why := d.Unattested(); why != "" && r.ByKey == "" {
				a.sayf("%s", why)
			}
			if r.Note != "" {
				a.sayf("%s", r.Note)
			}
			a.printRequest(r)
			return nil
		}),
	}
	f := c.Flags()
	f.StringVar(&in.Subject, "subject", "", "the person's `ID`")
	f.StringArrayVar(&in.Aliases, "alias", nil, "another `NAME`, address or number of the person (repeatable)")
	f.StringVar(&from, "identifiers", "", "read the identifiers from this `FILE`, one a line, so that no process list shows them; - is standard input. Without --subject the first one is the id")
	f.StringVar(&dsr, "opendsr", "", "a `FILE` with an erasure request in OpenDSR's JSON, - for standard input: identifiers, date and ground come from it")
	f.StringVar(&in.Received, "received", "", "the `DATE` on which the request came in (default today)")
	f.StringVar(&in.Ground, "ground", "", "what was asked for and why: a `TEXT`; its articles stand in the receipt")
	f.StringVar(&in.By, "by", "", "`WHO` files it, for people (default: the operator)")
	f.StringVar(&keyFile, "key", "", "your private key `FILE`, where approvals are required and you are not connected over SSH: another key must approve then")
	return a.asksUnless(c, "do not ask: every alias is confirmed")
}

// readIntake reads a request in OpenDSR's JSON and a file of identifiers. Flags go before both.
func (a *app) readIntake(ctx context.Context, dsr, identifiers string, in *gdpr.Intake) error {
	if dsr != "" {
		if in.Subject != "" {
			return usage("give --subject or --opendsr, not both")
		}
		text, err := a.readInput(ctx, dsr)
		if err != nil {
			return err
		}
		from, err := gdpr.FromOpenDSR([]byte(text))
		if err != nil {
			return err
		}
		in.Fill(from)
	}
	if identifiers == "" {
		return nil
	}
	text, err := a.readInput(ctx, identifiers)
	if err == nil {
		in.AddLines(text)
	}
	if err == nil && in.Subject == "" {
		err = usage("--identifiers: there is none in it")
	}
	return err
}

// sayKinds prints the kind of each identifier with its warnings, before anything is searched.
func (a *app) sayKinds(in gdpr.Intake) {
	for _, id := range append([]string{in.Subject}, in.Aliases...) {
		if subject.Check(id) != nil {
			continue // refused when the request is filed
		}
		a.sayf("%s: %s", id, identifier.Sentence(id))
		a.sayEach(identifier.Warnings(id), "warning: %s: %s", id)
	}
}

type requestRow struct {
	Request       string                 `json:"request"`
	State         gdpr.State             `json:"state"`
	Deadline      string                 `json:"deadline"`
	Received      string                 `json:"received"`
	Overdue       bool                   `json:"overdue"`
	Due           string                 `json:"due"`
	Reason        string                 `json:"reason"`
	By            string                 `json:"by"`
	Subject       *string                `json:"subject"` // null once it is erased
	Pseudonym     string                 `json:"pseudonym"`
	Aliases       int                    `json:"aliases"`
	PlanHash      *string                `json:"plan_hash"`
	Approvals     int                    `json:"approvals"`
	Extended      bool                   `json:"extended"`
	Holds         []string               `json:"holds"`
	OpenExports   int                    `json:"open_exports"` // neither handed over nor deleted
	Open          dashed                 `json:"-" col:"NOTE"`
	OpenDSR       *string                `json:"subject_request_id"`
	OpenDSRStatus string                 `json:"request_status"`
	Identity      *receipt.IdentityCheck `json:"identity_check"`
	Note          string                 `json:"note,omitempty"`
}

func newRequestRow(r gdpr.Due) requestRow {
	note := r.Reason
	if r.ExportsOpen > 0 {
		note = strings.TrimPrefix(note+"; "+plural(int64(r.ExportsOpen), "export")+" neither handed over nor deleted", "; ")
	}
	held := mapped(r.Holds, func(h gdpr.Hold) string { return refOf(h.Store, h.ID) })
	return requestRow{Request: r.ID, State: r.State, Deadline: r.Deadline.Format("2006-01-02"), Received: r.Received, Overdue: r.Overdue, Due: r.Words,
		Reason: r.Reason, By: r.By, Subject: nilIfEmpty(r.Subject), Pseudonym: r.Pseudonym, Aliases: len(r.Aliases), PlanHash: nilIfEmpty(r.PlanHash),
		Approvals: len(r.Approvals), Extended: r.Extended, Holds: held, OpenExports: r.ExportsOpen, Open: dashed(note), OpenDSR: nilIfEmpty(r.OpenDSR),
		OpenDSRStatus: r.OpenDSRStatus(), Identity: r.Identity, Note: r.Note}
}

func (a *app) printRequest(r gdpr.Due) {
	a.result("request", newRequestRow(r), "%s  %s  deadline %s (%s)", r.ID, string(r.State), r.Deadline.Format("2006-01-02"), r.Words)
	if r.Reason != "" {
		a.tellf("  %s", r.Reason)
	}
}

func (a *app) gdprStatusCommand() *cobra.Command {
	return a.listing(&cobra.Command{
		Use: "status [REQUEST]", Aliases: []string{"list"}, Short: "Where requests stand, by deadline",
		Long: "Where requests stand, by deadline. REQUEST is a request's id, or the person's id as it was filed:\nthat finds a request also when their data is gone.",
		RunE: a.onDesk("", func(ctx context.Context, d *operator.Erasures, args []string) error {
			tab, err := a.listed("REQUEST", "STATE", "DEADLINE", "DUE", "BY", "NOTE")
			if err != nil {
				return err
			}
			all := make([]gdpr.Due, 1)
			if len(args) == 0 {
				all, err = d.List()
			} else if all[0], err = d.Get(args[0]); err != nil {
				return err
			}
			a.noteStopped(ctx, all)
			if len(all) > 0 || err == nil {
				putAll(tab.orSay("no requests"), "request", all, newRequestRow)
			}
			return err // the others are shown
		}),
	}, true)
}

// noteStopped gives a reason to requests that say running although nobody works on them: their process was killed.
// Where the jobs cannot be read, that is not known.
func (a *app) noteStopped(ctx context.Context, all []gdpr.Due) {
	if !slices.ContainsFunc(all, func(r gdpr.Due) bool { return r.State == gdpr.StateRunning }) {
		return
	}
	_ = a.withJobs(ctx, func(r *jobs.Runner) error {
		d, err := a.session.Erasures(r, operator.Away{})
		if err != nil {
			return err
		}
		runs, _ := d.Requests(ctx) // beside a damaged request the others
		for _, run := range runs {
			if i := slices.IndexFunc(all, func(r gdpr.Due) bool { return r.ID == run.ID }); i >= 0 && run.Stopped() {
				all[i].Reason = gdpr.BrokenOff + "; run it again"
			}
		}
		return nil
	})
}

func (a *app) gdprPlanCommand() *cobra.Command {
	text, whole := false, []string(nil)
	c := &cobra.Command{
		Use: "plan REQUEST", Short: "Find everything and show exactly what would be done",
		Long: "Searches every store and layer and writes the plan: forget, redact, scrub, hold or out_of_scope per item.\n" +
			"Nothing is changed. `gdpr erase` takes the plan's hash, so that what was shown is what is done.",
		RunE: a.onRequest(operator.Plan, func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			p, s, err := a.discover(ctx, d, r.ID, whole)
			if err != nil {
				return err
			}
			if r.State == gdpr.StateApproved && p.Hash != r.PlanHash {
				a.sayf("the approval was of another plan: it no longer counts")
			}
			return a.printPlan(ctx, d, p, s.Fleet, text)
		}),
	}
	c.Flags().StringArrayVar(&whole, "whole", nil, "a `STORE` that is about this person alone: all of it may go (repeatable; kept with the request)")
	c.Flags().BoolVar(&text, "text", false, "show each redaction, text, metadata and what else its record says, before and after")
	return outlives(c)
}

// discover makes a request's plan and shows the progress of the search.
func (a *app) discover(ctx context.Context, d *operator.Erasures, id string, whole []string) (gdpr.Plan, *operator.Session, error) {
	told, end := a.progress()
	defer end()
	told("opening the stores")
	s, err := a.stores(ctx)
	if err != nil {
		return gdpr.Plan{}, nil, err
	}
	for _, name := range whole {
		store, err := a.openStore(name)
		if err != nil {
			return gdpr.Plan{}, nil, err
		}
		if err := d.Whole(ctx, id, store); err != nil {
			return gdpr.Plan{}, nil, err
		}
	}
	p, err := d.Discover(ctx, id, func(store, what string) { told(store + ": " + what) })
	return p, s, err
}

func (a *app) printPlan(ctx context.Context, d *operator.Erasures, p gdpr.Plan, fleet *backends.Fleet, text bool) error {
	tab := a.table("REF", "LAYER", "ACTION", "REASON")
	incomplete, notes := false, []string{}
	if p.Note != "" {
		notes = append(notes, p.Note)
		a.sayf("%s", p.Note)
	}
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			r := newPlanRow(st)
			if text && a.flags.json && st.Action == gdpr.Redact {
				if it, err := before(ctx, fleet, st); err == nil {
					r.beforeRow = &beforeRow{it.Body, model.Values(it.Meta)}
				}
			}
			tab.put("item", r)
			if text && !a.flags.json && st.Action == gdpr.Redact {
				tab.flush()
				a.printRedaction(ctx, fleet, st)
			}
		}
		if s.Error != "" {
			incomplete = true
			a.failed(model.Ref{Store: s.Store}, errors.New(s.Error))
		}
		incomplete = a.incomplete(s.Store, s.Problems) != nil || incomplete
		for _, note := range s.Notes {
			notes = append(notes, s.Store+": "+note)
			a.sayf("%s: %s", s.Store, note)
		}
	}
	tab.flush()
	a.printBackups(d.Backups(p))
	items, held := p.Count()
	over, count := p.OverShare(d.Rules().MaxShare), ""
	names := mapped(over, func(s gdpr.StorePlan) string { return s.Store })
	a.result("summary", planSumRow{PlanHash: p.Hash, Items: items, Stores: len(p.Stores), Held: held, Request: p.Request,
		EstimateMS: p.Estimate.Milliseconds(), FreeBytes: d.FreeBytes(), OverShare: names, Complete: !incomplete, Notes: notes},
		"%s in %s, %d on hold, about %s", plural(items, "item"), plural(int64(len(p.Stores)), "store"), held, p.Estimate.Round(time.Second).String())
	for _, s := range over {
		a.tellf("%s.", s.ShareWords(d.Rules().MaxShare))
	}
	if len(over) > 0 {
		a.tellf("If they are right, `gdpr erase` wants the number of all items of this plan: --confirm-count %d", items)
		count = " --confirm-count " + strconv.FormatInt(items, 10)
	}
	a.tellf("plan %s", p.Hash)
	a.hintf("to carry it out: memdesk gdpr erase %s --plan-hash %s%s", p.Request, p.Hash, count)
	return partialIf(incomplete)
}

type planSumRow struct {
	PlanHash   string   `json:"plan_hash"`
	Items      int64    `json:"items"`
	Stores     int      `json:"stores"`
	Held       int64    `json:"held"`
	Request    string   `json:"request"`
	EstimateMS int64    `json:"estimate_ms"`
	FreeBytes  int64    `json:"free_bytes"`
	OverShare  []string `json:"over_share"` // stores that would lose so much that the number must be typed
	Complete   bool     `json:"complete"`   // everything could be looked at
	Notes      []string `json:"notes"`
}

type planRow struct {
	itemAt
	Layer  string      `json:"layer"`
	Reason string      `json:"reason"`
	Why    string      `json:"-" col:"REASON"` // with the ground of a hold
	Action gdpr.Action `json:"action"`
	Bytes  int64       `json:"bytes"`
	Ground *string     `json:"ground"` // of a hold
	NewID  *string     `json:"new_id"`
	Shared bool        `json:"shared"` // it concerns other persons too
	*redactedRow
	*beforeRow
}

// redactedRow is an item as a redaction leaves it.
type redactedRow struct {
	NewBody string            `json:"new_body"`
	NewMeta map[string]string `json:"new_meta"` // null: unchanged
	Beside  []gdpr.Beside     `json:"beside"`
}

// beforeRow is an item before its redaction.
type beforeRow struct {
	Body string            `json:"body"`
	Meta map[string]string `json:"meta"`
}

func newPlanRow(r gdpr.Step) planRow {
	reason := r.Reason
	if r.Ground != "" {
		reason += "; on hold: " + r.Ground
	}
	if n := int64(len(r.Beside)); n > 0 {
		reason += "; beside its fields " + plural(n, "value") + " of its line too"
	}
	out := planRow{itemAt: newItemAt(r.Store, r.ID), Layer: r.Layer, Reason: r.Reason, Why: reason, Action: r.Action,
		Bytes: r.Bytes, Ground: nilIfEmpty(r.Ground), NewID: nilIfEmpty(model.EncodeID(r.NewID)), Shared: r.Others}
	if r.Action == gdpr.Redact {
		out.redactedRow = &redactedRow{NewBody: r.NewBody, Beside: list(r.Beside)}
		if r.NewMeta != nil {
			out.NewMeta = model.Values(r.NewMeta)
		}
	}
	return out
}

// before reads an item of a plan. It is Conflict when the item has changed since.
func before(ctx context.Context, fleet *backends.Fleet, st gdpr.Step) (model.Item, error) {
	s, err := fleet.Store(st.Store)
	if err != nil {
		return model.Item{}, err
	}
	it, err := readItem(ctx, s, st.ID, "")
	if err == nil && st.Revision != "" && it.Revision != st.Revision {
		err = model.Errorf(model.Conflict, "plan", "it has changed since it was planned")
	}
	return it, err
}

// printRedaction prints a redaction as a diff.
func (a *app) printRedaction(ctx context.Context, fleet *backends.Fleet, st gdpr.Step) {
	it, err := before(ctx, fleet, st)
	if err != nil {
		a.sayf("%s cannot be compared: %s", refOf(st.Store, st.ID), string(model.KindOf(err)))
		a.body(st.NewBody)
		return
	}
	old, edited := st.Edited(it)
	a.body(udiff.Unified("as it is", "as it will be", old, edited))
}

// requestCommand declares a command that changes a request and prints it afterwards. It takes --yes whether it asks or not.
func (a *app) requestCommand(use, short, long string, act operator.Act, change func(context.Context, *operator.Erasures, string) error) *cobra.Command {
	return a.asks(&cobra.Command{Use: use, Short: short, Long: long, RunE: a.onRequest(act, func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
		return a.changed(d, r.ID, change(ctx, d, r.ID))
	})})
}

// changed prints a request after a change.
func (a *app) changed(d *operator.Erasures, id string, err error) error {
	if err != nil {
		return err
	}
	r, err := d.Get(id)
	if err == nil {
		a.printRequest(r)
	}
	return err
}

// requestItemsCommand is requestCommand for the items that --item names, at least one.
func (a *app) requestItemsCommand(use, short, long string, act operator.Act, change func(context.Context, *operator.Erasures, string, []model.Ref) error) *cobra.Command {
	var items []string
	c := a.requestCommand(use, short, long, act, func(ctx context.Context, d *operator.Erasures, id string) error {
		if len(items) == 0 {
			return usage("say which item: --item REF")
		}
		refs, err := parseRefs(items)
		if err != nil {
			return err
		}
		return change(ctx, d, id, refs)
	})
	c.Flags().StringArrayVar(&items, "item", nil, "the `REF` of the item; give the flag once for each of several")
	return c
}

func (a *app) gdprHoldCommand() *cobra.Command {
	var ground string
	c := a.requestItemsCommand("hold REQUEST --item REF --ground TEXT", "Keep items back from the erasure, with the ground that permits it", "", operator.Hold,
		func(ctx context.Context, d *operator.Erasures, id string, refs []model.Ref) error {
			if _, err := a.stores(ctx); err != nil {
				return err
			}
			redacted, err := d.Hold(ctx, id, holdsOn(refs, ground)...)
			if err != nil {
				return err
			}
			for _, ref := range redacted {
				a.sayf("%s was redacted before the hold, by the run of this request: the hold keeps it as it is now, without the identifiers", ref)
			}
			return nil
		})
	c.Flags().StringVar(&ground, "ground", "", "the exception that applies, a `TEXT` such as Art. 17(3)(e): of these words the receipt has the article alone")
	return c
}

func holdsOn(refs []model.Ref, ground string) []gdpr.Hold {
	return mapped(refs, func(r model.Ref) gdpr.Hold { return gdpr.Hold{Store: r.Store, ID: r.ID, Ground: ground} })
}

func (a *app) gdprUnholdCommand() *cobra.Command {
	return a.requestItemsCommand("unhold REQUEST --item REF", "Lift holds: the items go with the next plan, or the next sweep",
		"Lifts holds, which voids the plan. Of a complete request too: `gdpr sweep` erases what the hold kept.", operator.Unhold,
		func(ctx context.Context, d *operator.Erasures, id string, refs []model.Ref) error {
			_, _ = a.stores(ctx) // the store may have another name now, or be gone
			err := d.Unhold(ctx, id, holdsOn(refs, "")...)
			if r, gerr := d.Get(id); err == nil && gerr == nil && r.State == gdpr.StateComplete {
				a.sayf("to erase what it kept: memdesk gdpr sweep")
			}
			return err
		})
}

func (a *app) gdprChooseCommand() *cobra.Command {
	var action string
	c := a.requestItemsCommand("choose REQUEST --item REF --action forget|redact", "Decide otherwise than the policy for items", "", operator.Choose,
		func(ctx context.Context, d *operator.Erasures, id string, refs []model.Ref) error {
			return d.Choose(ctx, id, mapped(refs, func(r model.Ref) gdpr.Choice {
				return gdpr.Choice{Store: r.Store, ID: r.ID, Action: gdpr.Action(strings.ToLower(action))}
			})...)
		})
	c.Flags().StringVar(&action, "action", "", "`forget|redact`")
	return c
}

func (a *app) gdprExtendCommand() *cobra.Command {
	told := ""
	c := a.requestCommand("extend REQUEST [--told YYYY-MM-DD]", "Lengthen the deadline by two months, once (Art. 12(3))",
		"Lengthens the deadline by two months, once. The person has to be told of it, with the reasons, within one\nmonth of the request: after that it is refused.",
		operator.Extend, func(ctx context.Context, d *operator.Erasures, id string) error { return d.Extend(ctx, id, told) })
	c.Flags().StringVar(&told, "told", "", "the `DATE` on which the person was told (default today)")
	return c
}

func (a *app) gdprWithdrawCommand() *cobra.Command {
	c := a.requestCommand("withdraw REQUEST --reason TEXT", "Close a request that is not to be carried out any further",
		"Closes a request: the person took it back, or it was filed twice. Its identifiers, holds and plan go; the record\n"+
			"that there was one stays. What was erased before stays erased.", operator.Withdraw,
		func(ctx context.Context, d *operator.Erasures, id string) error {
			if err := a.confirm(ctx, "withdraw "+id+"? Its identifiers go, and it cannot be taken up again."); err != nil {
				return err
			}
			return d.Withdraw(ctx, id, a.flags.reason)
		})
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: who took it back, and why")
	return c
}
