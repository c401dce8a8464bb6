package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/gdpr"
	"memdesk/gdpr/papers"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) gdprDueCommand() *cobra.Command {
	within := 7
	c := &cobra.Command{
		Use: "due [--within DAYS]", Short: "Requests whose deadline is near or over; exit 3 when there are any",
		RunE: a.onDesk("", func(_ context.Context, d *operator.Erasures, _ []string) error {
			if within < 0 {
				return usage("--within is a number of days from 0")
			}
			all, err := d.DueWithin(within)
			if len(all) > 0 || err == nil {
				putAll(a.table("REQUEST", "STATE", "DEADLINE", "DUE"), "due", all, newRequestRow)
			}
			if err != nil { // the others are shown
				return err
			}
			if len(all) > 0 {
				return &exitError{code: exitPartial}
			}
			a.hintf("nothing is due within %s", plural(int64(within), "day"))
			return nil
		}),
	}
	c.Flags().IntVar(&within, "within", within, "the number of `DAYS` from today")
	return c
}

type letterRow struct {
	Request string `json:"request"`
	Kind    string `json:"kind"`
	Lang    string `json:"lang"`
	Text    string `json:"text"`
}

func (a *app) gdprLetterCommand() *cobra.Command {
	kind, lang := "", "en"
	c := &cobra.Command{
		Use: "letter REQUEST --kind received|extension|refused|done --lang en|de", Short: "A letter to the person, as Markdown",
		Long: "Prints a letter in plain words to be addressed and signed by hand: it holds no name. A template of your own goes\n" +
			"before the built-in one: gdpr/letters/KIND.LANG.md in the state directory (`memdesk info` names it).",
		RunE: a.onRequest("", func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			text, err := d.Letter(ctx, r.ID, kind, lang)
			if err != nil {
				return err
			}
			a.emit("letter", letterRow{r.ID, kind, lang, text})
			a.tellBody(text)
			return nil
		}),
	}
	c.Flags().StringVar(&kind, "kind", "", "which letter, a `KIND`: "+strings.Join(papers.Kinds, ", "))
	c.Flags().StringVar(&lang, "lang", lang, "the language, a `LANG`: "+strings.Join(papers.Languages, ", "))
	return c
}

// registerRow is a request of the register.
type registerRow struct {
	Request   string  `json:"request"`
	Person    string  `json:"person"` // pseudonym
	Received  string  `json:"received"`
	Deadline  string  `json:"deadline"`
	Extended  bool    `json:"extended"`
	State     string  `json:"state"`
	Finished  *string `json:"finished"`
	Days      int     `json:"days"`
	Late      bool    `json:"late"`
	Ground    *string `json:"ground"`
	Forgotten *int64  `json:"forgotten"` // null where the receipt cannot be checked, as the next two
	Redacted  *int64  `json:"redacted"`
	Held      *int64  `json:"held"`
	Attested  int     `json:"attested"`
	Exports   int     `json:"exports"`
}

func (a *app) gdprRegisterCommand() *cobra.Command {
	year, asCSV := 0, false
	var c *cobra.Command
	c = &cobra.Command{
		Use: "register [--year YEAR] [--csv]", Short: "The register of a year's requests, pseudonymous",
		RunE: a.onDesk("", func(ctx context.Context, d *operator.Erasures, _ []string) error {
			if !c.Flags().Changed("year") {
				year = a.Clock.Now().UTC().Year()
			}
			if year < 1 {
				return usage("--year %d is no year", year)
			}
			r, unproven := d.Register(ctx, year)
			if unproven != nil && len(r.Entries) == 0 {
				return unproven
			}
			if a.flags.json {
				for _, e := range r.Entries {
					a.emit("entry", registerRow{Request: e.Request, Person: e.Person, Received: e.Received, Deadline: e.Deadline, Extended: e.Extended, State: e.State,
						Finished: nilIfEmpty(e.Finished), Days: e.Days, Late: e.Late, Ground: nilIfEmpty(e.Ground), Forgotten: onlyIf(!e.Unproven, e.Forgotten), Redacted: onlyIf(!e.Unproven, e.Redacted),
						Held: onlyIf(!e.Unproven, e.Held), Attested: e.Layers, Exports: e.Exports})
				}
				return unproven
			}
			if !asCSV {
				a.body(r.Markdown())
				return unproven
			}
			text, err := r.CSV()
			if err == nil {
				_, err = io.WriteString(a.out, text)
			}
			return cmp.Or(err, unproven)
		}),
	}
	c.Flags().IntVar(&year, "year", 0, "the `YEAR` in which the requests were received (default this one)")
	c.Flags().BoolVar(&asCSV, "csv", false, "as comma-separated values")
	return c
}

func (a *app) gdprRecipientCommand() *cobra.Command {
	name, told, answered := "", "", ""
	c := a.requestCommand("recipient REQUEST --name NAME (--told YYYY-MM-DD | --answered YYYY-MM-DD)", "Note that a recipient of the data was told of the erasure (Art. 19)",
		"Recipients are the [[recipient]] blocks of the configuration. Receipt and letter name those of the stores in which\nthe person was found, with the days on which they were told and have answered.",
		operator.Tell, func(ctx context.Context, d *operator.Erasures, id string) error {
			return d.Tell(ctx, id, name, told, answered)
		})
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the recipient, as configured")
	c.Flags().StringVar(&told, "told", "", "the `DATE` on which the recipient was told")
	c.Flags().StringVar(&answered, "answered", "", "the `DATE` of the answer")
	return c
}

func (a *app) gdprIdentityCommand() *cobra.Command {
	method, on := "", ""
	c := a.requestCommand("identity REQUEST --method METHOD [--on YYYY-MM-DD]", "Note how you made sure who asks",
		"The receipt names method, day and operator. gdpr pause and gdpr resume stop and start the clock.", operator.Identify,
		func(ctx context.Context, d *operator.Erasures, id string) error {
			return d.Identify(ctx, id, method, on)
		})
	c.Flags().StringVar(&method, "method", "", "how, a `METHOD`: "+strings.Join(gdpr.IdentityMethods, ", "))
	c.Flags().StringVar(&on, "on", "", "the `DATE` of the check (default today)")
	return c
}

func (a *app) gdprAttestCommand() *cobra.Command {
	var in gdpr.Looked
	var refs []string
	c := a.requestCommand("attest REQUEST (--ref REF | --store S --layer L) --ground TEXT [--by WHO]", "Say that a person looked at what the program cannot open",
		"Records that a person looked at a file or layer that the program cannot open or change: an archive without a\n"+
			"reader, a database without the rights to its files, the history of git, what is on hold. The receipt has it as\n"+
			"attested, with who and when and the article of the ground, never as clean and never with its words. It counts\n"+
			"for what was looked at: when the bytes change it is asked again. `gdpr erase` with the same plan looks again.",
		operator.Attest, func(ctx context.Context, d *operator.Erasures, id string) error {
			return a.attest(ctx, d, id, in, refs)
		})
	f := c.Flags()
	f.StringArrayVar(&refs, "ref", nil, "the `REF` of an item (repeatable, of one store)")
	f.StringVar(&in.Store, "store", "", "the `STORE` of the layers")
	f.StringArrayVar(&in.Layers, "layer", nil, "a `LAYER` as `gdpr report` names it (repeatable)")
	f.StringVar(&in.Ground, "ground", "", "what was seen, a `TEXT`, and where it may stay the exception that applies, such as Art. 17(3)(b)")
	f.StringVar(&in.By, "by", "", "`WHO` looked at it (default: the operator)")
	return c
}

func (a *app) attest(ctx context.Context, d *operator.Erasures, id string, in gdpr.Looked, refs []string) error {
	if given := in.Store != "" || len(in.Layers) > 0; given == (len(refs) > 0) || given && (in.Store == "" || len(in.Layers) == 0) {
		return usage("give either --ref, or --store and --layer")
	}
	for _, r := range refs {
		ref, err := model.ParseRef(r)
		if err != nil {
			return err
		}
		if in.Store != "" && in.Store != ref.Store {
			return usage("one attestation is of one store: %s and %s are two", in.Store, ref.Store)
		}
		in.Store, in.Items = ref.Store, append(in.Items, ref.ID)
	}
	if _, err := a.stores(ctx); err != nil {
		return err
	}
	for _, what := range slices.Concat(in.Layers, in.Items) {
		if err := a.confirm(ctx, "did you look at "+in.Store+": "+what+", where the program cannot?"); err != nil {
			return err
		}
	}
	if err := d.Attest(ctx, id, in); err != nil {
		return err
	}
	next := "to look again: memdesk gdpr plan " + id
	if r, err := d.Get(id); err == nil && r.PlanHash != "" && r.Unfinished() {
		next = "to look again: " + d.EraseCommand(&r.Request)
	}
	a.sayf("%s", next)
	return nil
}

type policyRow struct {
	RequireApproval bool     `json:"require_approval"`
	Approvers       []string `json:"approvers"`
	ApprovalValid   string   `json:"approval_valid"`
	Approval        string   `json:"approval"` // how it is proven
	MaxShare        float64  `json:"max_share"`
	Hash            string   `json:"hash"`
	Record          uint64   `json:"record"` // of the log
	By              *string  `json:"by"`
	InForce         bool     `json:"in_force"`
}

func (a *app) gdprPolicyCommand() *cobra.Command {
	accept := false
	c := &cobra.Command{
		Use: "policy [--accept --reason TEXT]", Short: "The policy of erasures, and who set it",
		Long: "The audit log has a record of each policy ([gdpr] require_approval, approval, approvers, approval_valid,\n" +
			"max_share) and of who set it. One that demands approval stays in force until somebody records another one with --accept; receipts\n" +
			"state the policy, its hash and that record. Exit 3 where the configured policy is not the one in force.",
		RunE: a.onDesk("", func(ctx context.Context, d *operator.Erasures, _ []string) error {
			var p gdpr.PolicyState
			var err error
			if accept {
				p, err = d.SetPolicy(ctx, a.flags.reason)
			} else {
				p, err = d.PolicyNow(ctx)
			}
			if err != nil {
				return err
			}
			a.result("policy", policyRow{RequireApproval: p.Approval, Approvers: list(p.Approvers), ApprovalValid: p.ApprovalValid, Approval: cmp.Or(p.Method, gdpr.BySignature),
				MaxShare: p.MaxShare, Hash: p.Hash, Record: p.Record, By: nilIfEmpty(p.By), InForce: p.InForce}, "%s", p.Policy.String())
			if !p.InForce {
				a.sayf("the configured policy is not the one in force: memdesk gdpr policy --accept --reason TEXT")
				return &exitError{code: exitPartial}
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&accept, "accept", false, "record the configured policy as the one in force")
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: why it was changed")
	return outlives(c)
}
