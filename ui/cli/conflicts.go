package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/conflict"
	"memdesk/conflict/merge"
	"memdesk/conflict/names"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/undo"
)

func (a *app) conflictsCommand() *cobra.Command {
	markers := "auto"
	list := &cobra.Command{
		Use: "list", Short: "What is in conflict, with what it is a copy of and how sure that is",
		Long: "Lists copies by their names, with the texts as evidence where a name alone says little, then merge\n" +
			"markers inside items. Looking for markers opens every item: in a store of more than " + strconv.Itoa(conflict.MarkersUpTo) + " items\n" +
			"only --markers all does it.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			return a.listConflicts(ctx, s, markers)
		}),
	}
	list.Flags().StringVar(&markers, "markers", "auto", "open items in search of merge markers: `auto|all|none`")
	return group("conflicts", "Second copies that sync tools, merges and refused writes left",
		a.listing(list, true), &cobra.Command{Use: "show REF", Short: "One conflict: what it is, why that is thought, and both sides compared", RunE: a.onItem(a.showConflict)},
		a.resolveCommand(), a.restoreCommand("undo ID", "Put back both sides of a resolved conflict",
			"Puts back what a resolve replaced or removed, as `memdesk undo restore` does. If a side has changed since,\nnothing is overwritten and the exit code is 5."))
}

func (a *app) listConflicts(ctx context.Context, s *operator.Session, markers string) error {
	look, ok := map[string]conflict.Look{"auto": conflict.LookAuto, "all": conflict.LookAll, "none": conflict.LookNone}[markers]
	if !ok {
		return usage("--markers takes auto, all or none, not %q", markers)
	}
	tab, err := a.listed("COPY", "STATE", "TOOL", "CONFIDENCE", "BASE", "REASON")
	if err != nil {
		return err
	}
	tab.orSay("no conflicts")
	opt := s.ConflictOptions()
	opt.Markers = look
	t := tally{app: a}
	short, all := false, []conflict.Copy(nil)
	kept, _, err := s.Undo.List() // once for all stores: there may be many entries
	if err != nil {
		a.sayf("whether a copy has come back, or a resolve was interrupted, is not known: %v", err)
	}
	t.each(s.Fleet.Members(), func(store model.Store) error {
		opt.Note = func(what string, gap bool) {
			if gap {
				a.failed(model.Ref{Store: store.Name}, errors.New(what))
			} else {
				a.sayf("%s: %s", store.Name, what)
			}
			short = short || gap || look == conflict.LookAll
		}
		opt.Removed = undo.Removed(kept, store)
		for c, err := range conflict.List(ctx, store, opt) {
			if err != nil {
				return err
			}
			if !c.Returned.IsZero() {
				a.sayf("%s has come back: it was resolved %s; resolve it again once every device has synced", refOf(c.Store, c.ID), when(c.Returned))
			}
			if all = append(all, c); a.flags.json {
				tab.put("conflict", newConflictRow(c))
				all = nil
			}
		}
		return nil
	})
	tab.partly(t.bad+t.refused > 0 || short)
	slices.SortStableFunc(all, func(a, b conflict.Copy) int { return operator.ConflictRank(a) - operator.ConflictRank(b) })
	putAll(tab, "conflict", all, newConflictRow)
	for _, e := range operator.Interrupted(kept) {
		a.sayf("a change of %s was interrupted: both texts are kept, memdesk conflicts undo %s puts them back", refOf(e.Store, e.Item), e.ID)
	}
	if err := t.result(); err != nil {
		return err
	}
	return partialIf(short)
}

// conflictRow is one copy.
type conflictRow struct {
	Store        string             `json:"store"`
	Copy         string             `json:"copy"`
	CopyRef      string             `json:"-" col:"COPY"`
	Base         *string            `json:"base"` // null: an orphan
	BaseRef      *string            `json:"-" col:"BASE"`
	Target       *string            `json:"target"` // the base by the copy's name alone
	Tool         string             `json:"tool"`
	Alternatives []string           `json:"tool_alternatives"`
	Row          int                `json:"row"` // of the table in conflict-names.md
	Class        names.Class        `json:"class"`
	Confidence   names.Confidence   `json:"confidence"`
	State        string             `json:"-" col:"STATE"`
	Reason       string             `json:"reason"`
	Redundant    *bool              `json:"redundant"` // null: not compared
	Orphan       bool               `json:"orphan"`
	BaseState    conflict.BaseState `json:"base_state"`
	Chain        []markerRow        `json:"chain"`
	Caution      []string           `json:"caution"`
	Twins        []string           `json:"twins"`
	Who          *string            `json:"who"`
	At           stamp              `json:"at"`
	Shared       *int               `json:"shared"` // equal lines in per cent
	Blocks       int                `json:"blocks"`
	Binary       bool               `json:"binary"`
	CopyRevision model.Revision     `json:"copy_revision"`
	BaseRevision model.Revision     `json:"base_revision"`
	CopyBytes    int64              `json:"copy_bytes"`
	BaseBytes    int64              `json:"base_bytes"`
	Problem      *string            `json:"problem"`
	Returned     stamp              `json:"returned"`
}

type markerRow struct {
	Name   string `json:"name"`
	Marker string `json:"marker"`
	Tool   string `json:"tool"`
	Row    int    `json:"row"`
}

func newConflictRow(c conflict.Copy) conflictRow {
	chain := mapped(c.Chain, func(s conflict.Step) markerRow { return markerRow{s.Name, s.Marker, s.Tool, s.Row} })
	return conflictRow{Store: c.Store, Copy: model.EncodeID(c.ID), CopyRef: refOf(c.Store, c.ID), Base: nilIfEmpty(model.EncodeID(c.BaseID)), BaseRef: onlyIf(c.BaseID != "", refOf(c.Store, c.BaseID)),
		Target: nilIfEmpty(model.EncodeID(c.Target)), Tool: c.Tool, Alternatives: list(c.Also), Row: c.Row, Class: c.Class, Confidence: c.Confidence,
		State: operator.ConflictState(c), Reason: c.Reason, Redundant: onlyIf(c.Base != conflict.BaseUnknown, c.Redundant), Orphan: c.Orphan, BaseState: c.Base,
		Chain: chain, Caution: list(c.Cautions), Twins: ids(c.Twins), Who: nilIfEmpty(c.Who), At: stamp(c.At), Shared: onlyIf(c.Shared >= 0, c.Shared),
		Blocks: c.Blocks, Binary: c.Binary, CopyRevision: c.CopyRev, BaseRevision: c.BaseRev, CopyBytes: c.CopySize, BaseBytes: c.BaseSize,
		Problem: nilIfEmpty(c.Problem), Returned: stamp(c.Returned)}
}

func (a *app) showConflict(ctx context.Context, s *operator.Session, store model.Store, ref model.Ref) error {
	c, err := conflict.Find(ctx, store, ref.ID, s.ConflictOptions())
	if err != nil {
		return err
	}
	cmp, err := conflict.Compare(ctx, store, c)
	if err != nil {
		return err
	}
	if a.flags.json {
		a.emit("conflict", newComparisonRow(cmp))
		return nil
	}
	a.linef("%s", refOf(c.Store, c.ID))
	if c.BaseID != "" {
		a.linef("copy of     %s (%s)", c.BaseID, string(c.Base))
	} else {
		a.linef("copy of     nothing that is there; by its name of %s", c.Target)
	}
	tool := c.Tool
	if len(c.Also) > 0 {
		tool += ", or " + strings.Join(c.Also, ", ")
	}
	a.linef("tool        %s", tool)
	a.wrapf("confidence  %s: %s", string(c.Confidence), c.Reason)
	a.fieldf("made by     %s", c.Who)
	a.linef("base        %d bytes, %s, revision %s", cmp.BaseSize, when(cmp.BaseTime), string(cmp.BaseRev))
	a.linef("copy        %d bytes, %s, revision %s", cmp.CopySize, when(cmp.CopyTime), string(cmp.CopyRev))
	for _, t := range c.Twins {
		a.linef("the same bytes stand in %s", t)
	}
	for _, w := range c.Cautions {
		a.wrapf("caution     %s", w)
	}
	if cmp.Threefold() {
		a.wrapf("ancestor    %s", cmp.Origin)
	} else {
		a.wrapf("ancestor    not known: %s", cmp.Unknown)
	}
	for _, f := range cmp.Front {
		if !f.Same() {
			a.linef("field       %s: %s | %s", f.Name, sideOf(f.Base, f.InBase), sideOf(f.Copy, f.InCopy))
		}
	}
	a.linef("")
	switch {
	case cmp.Binary:
		a.linef("not text: resolve it with --take base, copy or both")
	case cmp.Redundant:
		a.linef("both are the same, byte for byte")
	case cmp.BaseID == "" || !cmp.Resolvable():
		a.body(cmp.CopyText)
	default:
		a.unified(cmp)
	}
	return nil
}

func sideOf(v string, there bool) string {
	if !there {
		return "(not there)"
	}
	return v
}

// contextLines is how many equal lines are printed around a difference.
const contextLines = 3

// unified prints a unified diff. With an ancestor each hunk names the side that changed.
func (a *app) unified(cmp conflict.Comparison) {
	a.linef("--- %s", cmp.BaseID)
	a.linef("+++ %s", cmp.ID)
	line := func(sign, l string) { a.linef("%s%s", sign, strings.TrimRight(l, "\n")) }
	for i, h := range cmp.Hunks {
		if h.Kind == merge.Same {
			for _, l := range contextOf(h.Left, i == 0, i == len(cmp.Hunks)-1) {
				line(" ", l)
			}
			continue
		}
		switch {
		case h.Unsure:
			a.linef("@@ %s, or these lines are new on the other side @@", changedBy[h.Kind])
		case cmp.Threefold():
			a.linef("@@ %s @@", changedBy[h.Kind])
		default:
			a.linef("@@")
		}
		for _, l := range h.Left {
			line("-", l)
		}
		for _, l := range h.Right {
			line("+", l)
		}
	}
}

// contextOf shortens many equal lines to those beside a difference: the first hunk has none before it, the
// last none after it.
func contextOf(equal []string, first, last bool) (shown []string) {
	if len(equal) <= 2*contextLines {
		return equal
	}
	if !first {
		shown = append(shown, equal[:contextLines]...)
	}
	shown = append(shown, "...")
	if !last {
		shown = append(shown, equal[len(equal)-contextLines:]...)
	}
	return shown
}

// changedBy says which side a hunk has changed.
var changedBy = map[merge.Kind]string{
	merge.Left: "changed in the base only", merge.Right: "changed in the copy only",
	merge.Agreed: "changed alike in both", merge.Conflict: "changed in both",
}

type comparisonRow struct {
	conflictRow
	Hunks           []hunkRow  `json:"hunks"`
	Fields          []frontRow `json:"fields"`
	Ancestor        *string    `json:"ancestor"` // what both came from
	AncestorUnknown *string    `json:"ancestor_unknown"`
	BaseTime        stamp      `json:"base_time"`
	CopyTime        stamp      `json:"copy_time"`
}

// hunkRow are lines in which the two differ.
type hunkRow struct {
	Changed  string   `json:"changed"`
	Open     bool     `json:"open"` // somebody must choose
	Ancestor []string `json:"ancestor"`
	Base     []string `json:"base"`
	Copy     []string `json:"copy"`
}

// frontRow is a field of the front matter; null: a side lacks it.
type frontRow struct {
	Name string  `json:"name"`
	Base *string `json:"base"`
	Copy *string `json:"copy"`
	Same bool    `json:"same"`
}

func newComparisonRow(cmp conflict.Comparison) comparisonRow {
	hunks := []hunkRow{}
	for _, h := range cmp.Hunks {
		if h.Kind != merge.Same {
			hunks = append(hunks, hunkRow{changedBy[h.Kind], h.Open(), list(h.Ancestor), list(h.Left), list(h.Right)})
		}
	}
	fields := mapped(cmp.Front, func(f conflict.FieldPair) frontRow {
		return frontRow{f.Name, onlyIf(f.InBase, f.Base), onlyIf(f.InCopy, f.Copy), f.Same()}
	})
	return comparisonRow{newConflictRow(cmp.Copy), hunks, fields, onlyIf(cmp.Threefold(), cmp.Origin), onlyIf(!cmp.Threefold(), cmp.Unknown),
		stamp(cmp.BaseTime), stamp(cmp.CopyTime)}
}

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

type resolvedRow struct {
	Store    string         `json:"store"`
	Base     string         `json:"base"`
	Copy     string         `json:"copy"`
	Take     conflict.Take  `json:"take"`
	Revision model.Revision `json:"revision"`
	Undo     *string        `json:"undo"`
	Kept     *string        `json:"kept"` // where the copy's text stands
	Notes    []string       `json:"notes"`
}

func (a *app) sayResolved(c conflict.Copy, done operator.Done, take conflict.Take) {
	a.sayEach(done.Warnings, "note: %s")
	what := map[conflict.Take]string{conflict.TakeBase: "as it was; ", conflict.TakeCopy: "has the copy's text; ", conflict.TakeMerged: "has the merged text; "}[take] +
		"the copy was removed"
	if c.ID == done.Item {
		what = "the text without merge markers stands there now"
	}
	if done.Kept != "" {
		what = "the copy's text stands in " + done.Kept
	}
	a.result("resolved", resolvedRow{Store: done.Store, Base: model.EncodeID(done.Item), Copy: model.EncodeID(c.ID), Take: take, Revision: done.Revision,
		Undo: nilIfEmpty(done.Undo), Kept: nilIfEmpty(model.EncodeID(done.Kept)), Notes: list(done.Warnings)}, "%s  %s", refOf(done.Store, done.Item), what)
	if done.Undo != "" && done.Obstacle == "" {
		a.hintf("to undo it: memdesk conflicts undo %s (until %s)", done.Undo, when(done.Expires))
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
	t := tally{app: a}
	var all []conflict.Copy
	spared := 0
	for _, m := range s.Fleet.Members() {
		copies, left, err := s.Redundant(ctx, m)
		all, spared = append(all, copies...), spared+left
		t.note(model.Ref{Store: m.Name}, err)
	}
	if spared > 0 {
		a.sayf("left: %s of Resilio Sync. Deleting one can delete the real file on other peers: rename it with --take both", plural(int64(spared), "copy"))
	}
	if len(all) == 0 {
		if t.bad == 0 { // else that is not known
			a.sayf("no copy is redundant")
		}
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
		if err != nil && len(all) == 1 { // the command's own error
			return err
		}
		t.note(model.Ref{Store: c.Store, ID: c.ID}, err)
	}
	return t.result()
}
