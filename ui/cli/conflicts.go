package cli

import (
	"context"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"memdesk/conflict"
	"memdesk/model"
)

func (a *app) conflictsCommand() *cobra.Command {
	c := &cobra.Command{Use: "conflicts", Short: "Second copies that sync tools, merges and refused writes left", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	markers := "auto"
	list := &cobra.Command{
		Use: "list", Short: "What is in conflict, with what it is a copy of and how sure that is", Args: cobra.NoArgs,
		Long: "Lists copies by their names, with the texts as evidence where a name alone says little, then merge\n" +
			"markers inside items. Looking for markers opens every item: in a store of more than " + strconv.Itoa(conflict.MarkersUpTo) + " items\n" +
			"only --markers all does it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listConflicts(cmd.Context(), markers) },
	}
	list.Flags().StringVar(&markers, "markers", "auto", "open items in search of merge markers: `auto|all|none`")
	c.AddCommand(list, a.showConflictCommand(), a.resolveCommand(), a.undoResolveCommand())
	return c
}

// conflictOptions are the settings that every search for conflicts needs.
func (a *app) conflictOptions() conflict.Options {
	opt := conflict.Options{}
	if a.session != nil {
		opt.Hosts = append(opt.Hosts, a.session.cfg.Conflict.Hosts...)
	}
	if h, err := os.Hostname(); err == nil { // one host less is known, nothing else
		opt.Hosts = append(opt.Hosts, h)
	}
	return opt
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
	opt := a.conflictOptions()
	opt.Markers = look
	var t tally
	tab := a.table("COPY", "BASE", "TOOL", "CONFIDENCE", "STATE", "REASON")
	short := false
	for _, m := range s.fleet.Members() {
		err := m.Err
		if err == nil {
			opt.Note = func(s string) { a.sayf("%s: %s", m.Name, s); short = true }
			if opt.Removed, err = s.undo.Removed(m.Store); err != nil {
				a.sayf("%s: whether a copy has come back is not known: %v", m.Name, err)
			}
			err = a.conflictsOf(ctx, m.Store, opt, tab)
		}
		t.add(err)
		if err != nil {
			a.failed(model.Ref{Store: m.Name}, err)
		}
	}
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
func (a *app) sayInterrupted(s *session) {
	entries, _, err := s.undo.List()
	if err != nil {
		a.sayf("whether a resolve was interrupted is not known: %v", err)
		return
	}
	for _, e := range entries {
		if len(e.Sides) > 0 && e.After == "" {
			a.sayf("a change of %s was interrupted: both texts are kept, memdesk conflicts undo %s puts them back", model.Ref{Store: e.Store, ID: e.Item}.String(), e.ID)
		}
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
		if a.flags.json {
			if err := a.emit("conflict", conflictRow(c)); err != nil {
				return err
			}
			continue
		}
		base := "-"
		if c.BaseID != "" {
			base = model.Ref{Store: c.Store, ID: c.BaseID}.String()
		}
		tab.add(model.Ref{Store: c.Store, ID: c.ID}.String(), base, c.Tool, string(c.Confidence), conflictState(c), c.Reason)
		if len(tab.rows) >= model.DefaultPage {
			tab.flush()
		}
	}
	return nil
}

// conflictState is a copy's standing in a word.
func conflictState(c conflict.Copy) string {
	switch {
	case c.Problem != "":
		return "unknown"
	case c.Blocks > 0:
		return "markers inside"
	case c.Orphan:
		return "orphan"
	case c.Redundant:
		return "redundant"
	}
	return "differs"
}

func conflictRow(c conflict.Copy) row {
	chain := []any{}
	for _, s := range c.Chain {
		chain = append(chain, row{"name": s.Name, "marker": s.Marker, "tool": s.Tool, "row": s.Row})
	}
	r := row{"store": c.Store, "copy": model.EncodeID(c.ID), "base": nil, "target": nil, "tool": c.Tool, "tool_alternatives": list(c.Also), "row": c.Row, "class": c.Class,
		"confidence": c.Confidence, "reason": c.Reason, "redundant": c.Redundant, "orphan": c.Orphan, "base_state": c.Base, "chain": chain,
		"caution": list(c.Cautions), "twins": ids(c.Twins), "who": nil, "at": stamp(c.At), "shared": nil, "blocks": c.Blocks, "binary": c.Binary,
		"copy_revision": c.CopyRev, "base_revision": c.BaseRev, "copy_bytes": c.CopySize, "base_bytes": c.BaseSize, "problem": nil, "returned": nil}
	if !c.Returned.IsZero() {
		r["returned"] = stamp(c.Returned)
	}
	if c.BaseID != "" {
		r["base"] = model.EncodeID(c.BaseID)
	}
	if c.Target != "" {
		r["target"] = model.EncodeID(c.Target)
	}
	if c.Who != "" {
		r["who"] = c.Who
	}
	if c.Shared >= 0 {
		r["shared"] = c.Shared
	}
	if c.Problem != "" {
		r["problem"] = c.Problem
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
