package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"memdesk/gdpr"
	"memdesk/model"
	"memdesk/operator"
)

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
	c.Example = "  memdesk gdpr attest er-20260131-0a1b2c3d --ref notes:att/map.zst --ground \"a map, opened by hand\"\n" +
		"  memdesk gdpr attest er-20260131-0a1b2c3d --store ship --layer 'git history' --ground \"Art. 17(3)(b)\" --by \"the archivist\""
	f := c.Flags()
	f.StringArrayVar(&refs, "ref", nil, "the `REF` of an item (repeatable, of one store)")
	f.StringVar(&in.Store, "store", "", "the `STORE` of the layers")
	f.StringArrayVar(&in.Layers, "layer", nil, "a `LAYER` as `gdpr report` names it (repeatable)")
	f.StringVar(&in.Ground, "ground", "", "what was seen, and where it may stay the exception that applies, such as Art. 17(3)(b)")
	f.StringVar(&in.By, "by", "", "`WHO` looked at it (default: the operator)")
	return a.asks(c)
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
		next = "to look again: memdesk gdpr erase " + id + " --plan-hash " + r.PlanHash
	}
	a.sayf("%s", next)
	return nil
}

func (a *app) gdprPolicyCommand() *cobra.Command {
	accept := false
	c := &cobra.Command{
		Use: "policy [--accept --reason TEXT]", Short: "The policy of erasures, and who set it",
		Long: "The audit log has a record of each policy ([gdpr] require_approval, approvers, approval_valid, max_share) and of\n" +
			"who set it. One that demands approval stays in force until somebody records another one with --accept; receipts\n" +
			"state the policy, its hash and that record. Exit 3 where the configured policy is not the one in force.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var p gdpr.PolicyState
			d, err := a.desk()
			if err != nil {
				return err
			}
			if accept {
				p, err = d.SetPolicy(cmd.Context(), a.flags.reason)
			} else {
				p, err = d.PolicyNow(cmd.Context())
			}
			if err != nil {
				return err
			}
			a.result("policy", row{"require_approval": p.Approval, "approvers": list(p.Approvers), "approval_valid": p.ApprovalValid, "approval": cmp.Or(p.Method, gdpr.BySignature),
				"max_share": p.MaxShare, "hash": p.Hash, "record": p.Record, "by": nilIfEmpty(p.By), "in_force": p.InForce}, "%s", p.Policy.String())
			if !p.InForce {
				a.sayf("the configured policy is not the one in force: memdesk gdpr policy --accept --reason TEXT")
				return &exitError{code: exitPartial}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&accept, "accept", false, "record the configured policy as the one in force")
	c.Flags().StringVar(&a.flags.reason, "reason", "", "why it was changed")
	return c
}
