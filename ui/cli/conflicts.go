package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"memdesk/conflict"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) conflictsCommand() *cobra.Command {
	markers := "auto"
	list := &cobra.Command{
		Use: "list", Short: "What is in conflict, with what it is a copy of and how sure that is",
		Long: "Lists copies by their names, with the texts as evidence where a name alone says little, then merge\n" +
			"markers inside items. Looking for markers opens every item: in a store of more than " + strconv.Itoa(conflict.MarkersUpTo) + " items\n" +
			"only --markers all does it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listConflicts(cmd.Context(), markers) },
	}
	list.Flags().StringVar(&markers, "markers", "auto", "open items in search of merge markers: `auto|all|none`")
	return group("conflicts", "Second copies that sync tools, merges and refused writes left",
		a.listing(list, true), &cobra.Command{Use: "show REF", Short: "One conflict: what it is, why that is thought, and both sides compared", RunE: a.onItem(a.showConflict)},
		a.resolveCommand(), a.undoResolveCommand())
}

func (a *app) listConflicts(ctx context.Context, markers string) error {
	look, ok := map[string]conflict.Look{"auto": conflict.LookAuto, "all": conflict.LookAll, "none": conflict.LookNone}[markers]
	if !ok {
		return usage("--markers takes auto, all or none, not %q", markers)
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	opt := a.session.ConflictOptions()
	opt.Markers = look
	var t tally
	tab := a.table("COPY", "BASE", "TOOL", "CONFIDENCE", "STATE", "REASON")
	short := false
	t.each(a, s.Fleet.Members(), false, func(store model.Store) (err error) {
		opt.Note = func(s string) { a.sayf("%s: %s", store.Name, s); short = true }
		if opt.Removed, err = s.Undo.Removed(store); err != nil {
			a.sayf("%s: whether a copy has come back is not known: %v", store.Name, err)
		}
		return a.conflictsOf(ctx, store, opt, tab)
	})
	tab.flush()
	a.sayInterrupted(s)
	if err := t.result(); err != nil {
		return err
	}
	if short && opt.Markers == conflict.LookAll {
		return &exitError{code: exitPartial}
	}
	return nil
}

// sayInterrupted tells of resolutions that were stopped halfway: their texts stand
// in the undo store.
func (a *app) sayInterrupted(s *operator.Session) {
	entries, err := s.Interrupted()
	if err != nil {
		a.sayf("whether a resolve was interrupted is not known: %v", err)
	}
	for _, e := range entries {
		a.sayf("a change of %s was interrupted: both texts are kept, memdesk conflicts undo %s puts them back", model.Ref{Store: e.Store, ID: e.Item}.String(), e.ID)
	}
}

func (a *app) conflictsOf(ctx context.Context, s model.Store, opt conflict.Options, tab *table) error {
	for c, err := range conflict.List(ctx, s, opt) {
		if err != nil {
			return err
		}
		if !c.Returned.IsZero() {
			a.sayf("%s has come back: it was resolved %s; resolve it again once every device has synced", model.Ref{Store: c.Store, ID: c.ID}.String(), when(c.Returned))
		}
		tab.put(conflictRow{c})
	}
	return nil
}

// conflictRow is one copy.
type conflictRow struct{ conflict.Copy }

func (conflictRow) kind() string { return "conflict" }

func (c conflictRow) cells() []any {
	base := "-"
	if c.BaseID != "" {
		base = model.Ref{Store: c.Store, ID: c.BaseID}.String()
	}
	return []any{model.Ref{Store: c.Store, ID: c.ID}.String(), base, c.Tool, string(c.Confidence), operator.ConflictState(c.Copy), c.Reason}
}

func (c conflictRow) fields() row {
	chain := []any{}
	for _, s := range c.Chain {
		chain = append(chain, row{"name": s.Name, "marker": s.Marker, "tool": s.Tool, "row": s.Row})
	}
	r := row{"store": c.Store, "copy": model.EncodeID(c.ID), "base": nilIfEmpty(model.EncodeID(c.BaseID)), "target": nilIfEmpty(model.EncodeID(c.Target)), "tool": c.Tool, "tool_alternatives": list(c.Also), "row": c.Row, "class": c.Class,
		"confidence": c.Confidence, "reason": c.Reason, "redundant": c.Redundant, "orphan": c.Orphan, "base_state": c.Base, "chain": chain,
		"caution": list(c.Cautions), "twins": ids(c.Twins), "who": nilIfEmpty(c.Who), "at": stamp(c.At), "shared": nil, "blocks": c.Blocks, "binary": c.Binary,
		"copy_revision": c.CopyRev, "base_revision": c.BaseRev, "copy_bytes": c.CopySize, "base_bytes": c.BaseSize, "problem": nilIfEmpty(c.Problem), "returned": stamp(c.Returned)}
	if c.Shared >= 0 {
		r["shared"] = c.Shared
	}
	if c.Base == conflict.BaseUnknown { // not compared is not "differs"
		r["redundant"] = nil
	}
	return r
}

func list(all []string) []string {
	if all == nil {
		return []string{}
	}
	return all
}

func ids(all []string) []string {
	out := make([]string, len(all))
	for i, id := range all {
		out[i] = model.EncodeID(id)
	}
	return out
}
