package conflicts

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	threeway "memdesk/conflict/merge"
	"memdesk/conflict/names"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// resolutions are the acts that end a conflict.
type resolutions struct {
	d    *pane.Bench
	list *record.List[conflict.Copy]
	done map[string]bool // keys of the rows resolved by this session: an undo takes the cursor there again
}

func key(store, id string) string { return store + "\x00" + id }

// resolved notes what was resolved, and goes on with after, which may be nil.
func (rs *resolutions) resolved(c conflict.Copy, after func() tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		rs.done[key(c.Store, c.ID)] = true
		if after == nil {
			return nil
		}
		return after()
	}
}

// undone takes the cursor to a conflict whose resolution was undone, as soon as the list has it.
func (rs *resolutions) undone(store, item string) {
	if at := key(store, item); rs.done[at] {
		rs.list.Pick = at
		delete(rs.done, at)
	}
}

// take asks whether to keep one side of a conflict.
func (rs *resolutions) take(c conflict.Copy, t conflict.Take) tea.Cmd {
	d, next := rs.d, rs.revived([]conflict.Copy{c}, t)
	return rs.d.Modal.Prepare(func(context.Context) dialog.Proposal {
		s, err := d.Fleet.Store(c.Store)
		if err != nil {
			return dialog.Proposal{No: prose.Reason(d.Esc, err)}
		}
		return dialog.Proposal{Dialog: rs.takeDialog(s, c, t, next)}
	})
}

func (rs *resolutions) takeDialog(s model.Store, c conflict.Copy, t conflict.Take, next []text.Line) *dialog.Dialog {
	esc := rs.d.Esc
	base, own := esc.LineMax(path.Base(c.Target), prose.MaxTitle), esc.LineMax(path.Base(c.ID), prose.MaxTitle)
	title, what := esc.Sprintf("Keep %s and remove its copy?", base), esc.Sprintf("This removes the copy %s (%s bytes).", own, prose.Group(c.CopySize))
	switch {
	case t == conflict.TakeCopy && c.Orphan:
		title, what = esc.Sprintf("Give the copy the name %s?", base), esc.Sprintf("Nothing stands there now. The copy %s goes.", own)
	case t == conflict.TakeCopy:
		title = esc.Sprintf("Keep the copy of %s?", base)
		what = esc.Sprintf("This replaces the base (%s bytes) with the copy (%s bytes), then removes the copy.", prose.Group(c.BaseSize), prose.Group(c.CopySize))
	case t == conflict.TakeBoth:
		title = esc.Sprintf("Keep both, and rename %s?", own)
		what = esc.Const("The copy gets a name that speaks of no conflict, in the same folder.")
	}
	lines := []text.Line{{Value: title, Kind: text.Title}, {Value: what}}
	if c.Redundant {
		lines = append(lines, text.Line{Value: esc.Const("Both are the same, byte for byte."), Kind: text.Note})
	}
	lines = append(append(lines, rs.told(c, t, next)...), text.Advice(esc, "Both texts are kept: `z` puts them back."))
	return &dialog.Dialog{
		Title: esc.Const("Resolve"), Lines: lines, Name: rs.d.TypedName(s, c.Target), NoReason: c.Redundant,
		Choices: []dialog.Choice{{Verb: takes[t].verb, Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
			return rs.doResolve(ctx, c, conflict.Choice{Take: t}, f.Reason)
		}}},
	}
}

// told is what to know before a conflict is resolved: the environment, the vendor's cautions, and the next conflict that it makes.
func (rs *resolutions) told(c conflict.Copy, t conflict.Take, next []text.Line) []text.Line {
	out := rs.d.Environments(c.Store)
	if c.RenameOnly() && t != conflict.TakeBoth {
		out = append(out, text.Line{Value: rs.d.Esc.Const("The copy is renamed and not deleted:"), Kind: text.Note})
	}
	return slices.Concat(out, text.Lines(rs.d.Esc, text.Alert, c.Cautions), next)
}

// revived warns of redundant copies of a base that changes: each holds the text that was displaced, and is no longer
// redundant. It reads the rows of the list, so only Update calls it, and no command.
func (rs *resolutions) revived(all []conflict.Copy, t conflict.Take) []text.Line {
	if rs.list == nil || t != conflict.TakeCopy && t != conflict.TakeMerged {
		return nil
	}
	bases := map[model.Ref]bool{}
	for _, c := range all {
		if !c.Redundant && c.BaseID != "" {
			bases[model.Ref{Store: c.Store, ID: c.BaseID}] = true
		}
	}
	var next []conflict.Copy
	for _, row := range rs.list.Window.Rows {
		if c := row.Raw; c.Redundant && !c.RenameOnly() && bases[model.Ref{Store: c.Store, ID: c.BaseID}] {
			next = append(next, c)
		}
	}
	switch esc := rs.d.Esc; len(next) {
	case 0:
		return nil
	case 1:
		return []text.Line{text.Advice(esc, "%s is byte for byte the base as it is now: it becomes a conflict. `D` first removes it.", esc.LineMax(path.Base(next[0].ID), prose.MaxTitle)).As(text.Alert)}
	default:
		return []text.Line{text.Advice(esc, "%s are byte for byte a base as it is now: they become conflicts. `D` first removes them.", prose.Plural(len(next), "redundant copy")).As(text.Alert)}
	}
}

// doResolve runs in a command.
func (rs *resolutions) doResolve(ctx context.Context, c conflict.Copy, ch conflict.Choice, why string) dialog.Acted {
	esc := rs.d.Esc
	done, err := rs.d.Conflicts.Resolve(ctx, c, ch, why)
	switch {
	case errors.Is(err, model.Conflict):
		return dialog.Acted{Text: esc.Sprintf("not resolved: %s", prose.Reason(esc, err)), Title: "Conflict", Page: rs.changedSides(ctx, c)}
	case err != nil:
		return dialog.Acted{Text: esc.Sprintf("not resolved: %s", prose.Reason(esc, err))}
	}
	word := "merged"
	if took, whole := takes[ch.Take]; whole {
		word = took.done
	}
	out := edit.Took(rs.d.Desk, done, word, path.Base(c.Target), "Resolved")
	out.Beside = rs.resolved(c, rs.after(c, done))
	return out
}

// changedSides shows both sides as they are now, under the reason why nothing was done.
func (rs *resolutions) changedSides(ctx context.Context, c conflict.Copy) *text.Page {
	t := rs.conflictDetail(room{})(ctx, c)
	t.Head = append([]text.Line{
		text.Advice(rs.d.Esc, "A side has changed since it was shown. Nothing was changed by you. This is its state now; `esc` closes this page.").As(text.Alert),
		{Kind: text.Blank},
	}, t.Head...)
	return t
}

// mergeConflict goes through the differences one by one.
func (rs *resolutions) mergeConflict(c conflict.Copy) tea.Cmd {
	d, next := rs.d, rs.revived([]conflict.Copy{c}, conflict.TakeMerged)
	return rs.d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		cmp, err := d.Conflicts.Compare(ctx, c)
		if err != nil {
			return dialog.Proposal{No: prose.Reason(d.Esc, err)}
		}
		if cmp.BaseRev != c.BaseRev || cmp.CopyRev != c.CopyRev {
			return dialog.Proposal{No: d.Esc.Const("a side has changed since it was shown: ctrl+r looks again")}
		}
		m, err := mergingOf(cmp)
		if err != nil {
			return dialog.Proposal{No: d.Esc.Sprintf("%s: e edits the text", prose.Reason(d.Esc, err))}
		}
		m.next = next
		return dialog.Proposal{Dialog: rs.hunkDialog(m)}
	})
}

// merging is a merge under way: what was chosen for each hunk.
type merging struct {
	conflict.Comparison
	chosen map[int]threeway.Side
	sides  map[int][2]string // the names beside markers inside one item
	next   []text.Line       // the next conflict that it makes
}

// mergingOf begins a merge; it fails where the markers inside an item enclose no two sides.
func mergingOf(cmp conflict.Comparison) (m merging, err error) {
	m = merging{Comparison: cmp, chosen: map[int]threeway.Side{}}
	if cmp.Class == names.InFile { // both sides stand in one item
		m.Hunks, m.sides, err = conflict.Inside(cmp.ID, cmp.CopyText)
	}
	return m, err
}

// compare appends the difference of a hunk's sides.
func (m merging) compare(esc safetext.Escaper, c *diff.Comparison, hunk int) {
	c.Above.Old, c.Above.New = 0, 0
	for _, before := range m.Hunks[:hunk] {
		c.Above.Old, c.Above.New = c.Above.Old+len(before.Left), c.Above.New+len(before.Right)
	}
	left, right := m.named(hunk)
	c.Compare(esc, left, right, strings.Join(m.Hunks[hunk].Left, ""), strings.Join(m.Hunks[hunk].Right, ""))
}

// named are the names of a hunk's sides.
func (m merging) named(hunk int) (left, right string) {
	if s, inside := m.sides[hunk]; inside {
		return s[0], s[1]
	}
	return "base", "copy"
}

// buttons choose a side of a hunk.
func (m merging) buttons(hunk int) (first, second string) {
	if _, inside := m.sides[hunk]; inside {
		return "First", "Second"
	}
	return "Base", "Copy"
}

// hunkDialog asks about the first open difference, after the last one whether to write the result.
func (rs *resolutions) hunkDialog(cmp merging) *dialog.Dialog {
	chosen := cmp.chosen
	esc := rs.d.Esc
	at, open, all := -1, 0, 0
	for i, h := range cmp.Hunks {
		if !h.Open() {
			continue
		}
		all++
		if chosen[i] == threeway.Undecided {
			if open++; at < 0 {
				at = i
			}
		}
	}
	if at < 0 {
		result, _ := threeway.Text(cmp.Hunks, chosen)
		return rs.resultDialog(cmp, result)
	}
	h := cmp.Hunks[at]
	var diff diff.Comparison
	cmp.compare(esc, &diff, at)
	first, second := cmp.buttons(at)
	dlg := &dialog.Dialog{
		Title: esc.Const("Merge"), NoReason: true, Body: diff.Text(nil),
		Lines: []text.Line{
			{Value: esc.Sprintf("Difference %s of %s in %s", prose.Group(all-open+1), prose.Group(all), esc.LineMax(path.Base(cmp.Target), prose.MaxTitle)), Kind: text.Title},
			{Value: esc.Const("Which side stays here? Nothing is written before the end."), Kind: text.Note},
		},
	}
	pick := func(key, verb string, side threeway.Side) {
		dlg.Choices = append(dlg.Choices, dialog.Choice{Verb: verb, Key: key, Run: func() tea.Cmd {
			chosen[at] = side
			return rs.d.Modal.Show(rs.hunkDialog(cmp))
		}})
	}
	pick("b", first, threeway.TakeLeft)
	pick("c", second, threeway.TakeRight)
	pick("B", "Both", threeway.TakeBoth)
	if h.Ancestor != nil {
		pick("a", "Ancestor", threeway.TakeAncestor)
	}
	if edit.NoEditor(rs.d.Desk) == "" {
		dlg.Choices = append(dlg.Choices, dialog.Choice{Verb: "Edit", Key: "e", Run: func() tea.Cmd {
			text := threeway.Marked(cmp.Hunks, chosen, cmp.named)
			return rs.editConflict(cmp.Copy, &text)
		}})
	}
	return dlg
}

func (rs *resolutions) resultDialog(cmp merging, result string) *dialog.Dialog {
	esc := rs.d.Esc
	base, after := "base", "The copy goes; `z` puts both back."
	if cmp.Class == names.InFile {
		base, after = "text", "`z` puts it back."
	} else if cmp.RenameOnly() {
		after = "`z` puts both back."
	}
	var diff diff.Comparison
	diff.Compare(esc, "the "+base+" as it is", "the result", cmp.BaseText, result)
	s, _ := rs.d.Fleet.Store(cmp.Store)
	change := "The " + base + " stays as it is."
	if result != cmp.BaseText {
		change = diff.Counts() + "."
		if diff.Large {
			change = "The " + base + " changes, and is " + change
		}
	}
	t, next := conflict.TakeMerged, cmp.next
	if result == cmp.BaseText {
		t, next = conflict.TakeBase, nil // by its effect
	}
	dlg := &dialog.Dialog{
		Title: esc.Const("Merge"), Body: diff.Text(nil), Name: rs.d.TypedName(s, cmp.Target),
		Lines: append([]text.Line{
			{Value: esc.Sprintf("Write the result to %s?", esc.LineMax(path.Base(cmp.Target), prose.MaxTitle)), Kind: text.Title},
			text.Advice(esc, "%s "+after, change),
		}, rs.told(cmp.Copy, t, next)...),
		Choices: []dialog.Choice{{Verb: "Write", Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
			return rs.doResolve(ctx, cmp.Copy, conflict.Choice{Take: conflict.TakeMerged, Merged: result}, f.Reason)
		}}},
	}
	if edit.NoEditor(rs.d.Desk) == "" {
		dlg.Choices = append(dlg.Choices, dialog.Choice{Verb: "Edit", Key: "e", Run: func() tea.Cmd { return rs.editConflict(cmp.Copy, &result) }})
	}
	return dlg
}

// editConflict opens the editor on a result, or on both sides between marks.
func (rs *resolutions) editConflict(c conflict.Copy, given *string) tea.Cmd {
	d := rs.d
	return rs.d.Edits.Begin(func(ctx context.Context) (*edit.Edit, error) {
		s, err := d.Fleet.Store(c.Store)
		if err != nil {
			return nil, err
		}
		cmp, err := d.Conflicts.Compare(ctx, c)
		if err != nil {
			return nil, err
		}
		if cmp.CopyRev != c.CopyRev || cmp.BaseRev != c.BaseRev {
			return nil, model.Errorf(model.Conflict, "", "a side has changed since it was shown: ctrl+r looks again")
		}
		e := &edit.Edit{What: edit.ResolveItem, Store: s, Label: c.Target, Kind: model.Opaque, Second: c, Base: cmp.BaseText, After: func(done operator.Done) func() tea.Cmd { return rs.after(c, done) },
			Req: model.RetainRequest{ID: c.Target, Mode: model.Replace, IfMatch: c.BaseRev}}
		switch {
		case given != nil:
			e.Original = *given
		case c.Class == names.InFile:
			e.Original = cmp.CopyText
		default:
			e.Original = threeway.Marked(cmp.Hunks, nil, threeway.Named("base", "copy"))
		}
		return e, nil
	})
}

// dropRedundant counts the redundant copies of all stores and asks once.
func (rs *resolutions) dropRedundant() tea.Cmd {
	d := rs.d
	return d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		all, spared, err := d.Conflicts.Redundant(ctx)
		esc := d.Esc
		if err != nil && len(all) == 0 {
			return dialog.Proposal{No: esc.Sprintf("not counted: %s", prose.Reason(esc, err))}
		}
		all = rs.changeable(all)
		if len(all) == 0 {
			return dialog.Proposal{No: esc.Const("no copy is redundant that could be removed")}
		}
		refs, stores := rs.listed(all)
		dlg := &dialog.Dialog{Title: esc.Const("Redundant"), NoReason: true, Body: refs, Name: d.TypedStore(stores...),
			Lines: []text.Line{
				{Value: esc.Sprintf("Remove %s?", prose.Plural(len(all), "redundant copy")), Kind: text.Title},
				text.Advice(esc, "Each is byte for byte its base, which stays. Each is kept: `z` puts them back."),
			}}
		dlg.Lines = append(dlg.Lines, d.Environments(stores...)...)
		if spared > 0 {
			dlg.Lines = append(dlg.Lines, text.Line{Value: esc.Sprintf("%s more of Resilio Sync stay: deleting one can delete the real file on other peers.", prose.Group(spared)), Kind: text.Alert})
		}
		if err != nil {
			dlg.Lines = append(dlg.Lines, text.Line{Value: esc.Sprintf("not every store was looked at: %s", prose.Reason(esc, err)), Kind: text.Alert})
		}
		dlg.Choices = []dialog.Choice{{Verb: "Remove", Typed: true, Act: func(context.Context, dialog.Filled) dialog.Acted {
			return dialog.Acted{Instead: d.Work.Watching(rs.resolveEach(all, conflict.TakeBase, "redundant copy"))}
		}}}
		return dialog.Proposal{Dialog: dlg}
	})
}

// listed names every copy in one line, with its store and its tool.
func (rs *resolutions) listed(all []conflict.Copy) (refs *text.Page, stores []string) {
	var list strings.Builder
	for _, c := range all {
		name := rs.d.Esc.TruncMiddle(rs.d.Esc.Line(path.Base(c.ID)), 48)
		list.WriteString(name.String() + "  " + c.Store + ", " + c.Tool + "\n")
		stores = append(stores, c.Store)
	}
	return text.NewPage(nil, list.String()), stores
}

// changeable leaves out the copies of stores that are read-only.
func (rs *resolutions) changeable(all []conflict.Copy) []conflict.Copy {
	var out []conflict.Copy
	for _, c := range all {
		if rs.d.Locked(c.Store) == "" {
			out = append(out, c)
		}
	}
	return out
}
