package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/conflict"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) resolveCommand() *cobra.Command {
	var ch conflict.Choice
	redundant := false
	c := &cobra.Command{
		Use: "resolve (REF --take base|copy|both|merged [FILE|-] | --redundant)", Short: "End a conflict; both texts can be put back",
		Long: "Writes the result over the base, bound to the revision that was seen, then removes the copy. Both\n" +
			"texts are kept under one undo entry first. When a side has changed meanwhile nothing is changed and the\n" +
			"exit code is 5. `--take both` keeps the copy under a name of its own. A copy that Resilio Sync made is\n" +
			"never deleted, because its vendor warns against it: it stays under a new name.\n" +
			"--redundant removes every copy that is byte for byte its base.",
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if redundant {
				if len(args) > 0 || ch.Take != "" {
					return usage("--redundant takes no REF and no --take")
				}
				return a.resolveRedundant(ctx)
			}
			if len(args) == 0 {
				return usage("give the REF of a copy, or --redundant")
			}
			switch ch.Take {
			case conflict.TakeBase, conflict.TakeCopy, conflict.TakeBoth:
				if len(args) == 2 {
					return usage("a FILE goes with --take merged only")
				}
			case conflict.TakeMerged:
				text, err := a.readInput(ctx, argument(args, 1))
				if err != nil {
					return err
				}
				ch.Merged = text
			default:
				return usage("--take takes base, copy, both or merged, not %q", ch.Take)
			}
			return a.resolveOne(ctx, args[0], ch)
		},
	}
	c.Flags().StringVar((*string)(&ch.Take), "take", "", "which side stays: `base|copy|both|merged`")
	c.Flags().StringVar((*string)(&ch.BaseRev), "base-rev", "", "only if the base is at this `REVISION`")
	c.Flags().StringVar((*string)(&ch.CopyRev), "copy-rev", "", "only if the copy is at this `REVISION`")
	c.Flags().BoolVar(&redundant, "redundant", false, "every copy that is byte for byte its base")
	return a.asksWhy(c)
}

func (a *app) resolveOne(ctx context.Context, text string, ch conflict.Choice) error {
	s, store, ref, err := a.at(ctx, text)
	if err != nil {
		return err
	}
	found, err := conflict.Find(ctx, store, ref.ID, a.session.ConflictOptions())
	if err != nil {
		return err
	}
	a.sayEach(found.Cautions, "caution: %s")
	if err := a.confirm(ctx, resolveQuestion(found, ch.Take)); err != nil {
		return err
	}
	done, err := s.Resolve(ctx, found, ch, a.flags.reason)
	if err == nil {
		a.sayResolved(found, done, ch.Take)
	}
	return err
}

// resolveQuestion words what a choice does.
func resolveQuestion(c conflict.Copy, take conflict.Take) string {
	copied, base := c.ID, c.Target
	switch {
	case !c.Resolvable():
		return "write the text over " + base + "?"
	case take == conflict.TakeBoth:
		return "keep both, and rename " + copied + "?"
	case c.RenameOnly() && take == conflict.TakeBase:
		return "keep " + base + " as it is, and rename " + copied + "?"
	case c.RenameOnly():
		return "write over " + base + ", and rename " + copied + "?"
	case take == conflict.TakeBase:
		return "keep " + base + " as it is, and remove " + copied + "?"
	case take == conflict.TakeCopy:
		return "write " + copied + " over " + base + ", and remove it?"
	}
	return "write the merged text over " + base + ", and remove " + copied + "?"
}

func (a *app) sayResolved(c conflict.Copy, done operator.Done, take conflict.Take) {
	a.sayEach(done.Warnings, "note: %s")
	what := "the copy was removed"
	if c.ID == done.Item {
		what = "the text without merge markers stands there now"
	}
	if done.Kept != "" {
		what = "the copy's text stands in " + done.Kept
	}
	a.result("resolved", row{"store": done.Store, "base": model.EncodeID(done.Item), "copy": model.EncodeID(c.ID), "take": take, "revision": done.Revision,
		"undo": nilIfEmpty(done.Undo), "kept": nilIfEmpty(model.EncodeID(done.Kept)), "notes": list(done.Warnings)}, "%s  %s", refOf(done.Store, done.Item), what)
	if done.Undo != "" && done.Obstacle == "" {
		a.hintf("to take it back: memdesk conflicts undo %s (until %s)", done.Undo, when(done.Expires))
	} else {
		a.sayUndo(done)
	}
}

// resolveRedundant lists the redundant copies, asks once and removes them.
func (a *app) resolveRedundant(ctx context.Context) error {
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	var t tally
	var all []conflict.Copy
	spared := 0
	for _, m := range s.Fleet.Members() {
		copies, left, err := s.Redundant(ctx, m)
		all, spared = append(all, copies...), spared+left
		t.note(a, model.Ref{Store: m.Name}, err)
	}
	if spared > 0 {
		a.sayf("%s of Resilio Sync is left: deleting it can delete the real file on other peers; rename it with --take both", plural(int64(spared), "copy"))
	}
	if len(all) == 0 {
		a.sayf("no copy is redundant")
		return t.result()
	}
	for _, c := range all {
		a.sayf("%s is byte for byte %s", refOf(c.Store, c.ID), c.BaseID)
	}
	if err := a.confirm(ctx, "remove "+plural(int64(len(all)), "redundant copy")+"? Each can be put back."); err != nil {
		return err
	}
	for _, c := range all {
		done, err := s.Resolve(ctx, c, conflict.Choice{Take: conflict.TakeBase}, a.flags.reason)
		if err == nil {
			a.sayResolved(c, done, conflict.TakeBase)
		}
		t.note(a, model.Ref{Store: c.Store, ID: c.ID}, err)
		if err != nil && len(all) == 1 {
			return err
		}
	}
	return t.result()
}
