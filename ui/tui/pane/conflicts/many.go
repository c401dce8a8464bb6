package conflicts

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
	"memdesk/ui/tui/task"
)

// noTake says why a side of a copy cannot be taken whole; empty when it can.
func noTake(c conflict.Copy, t conflict.Take) string {
	switch {
	case c.Class == names.InFile:
		return "the markers stand inside this item: m goes through them, e edits it"
	case c.Orphan && t == conflict.TakeBase:
		return "it has no base: c gives the copy the base's name, B keeps it under another"
	}
	return ""
}

// takes are the words for taking one side of many copies, the button for one or many, and the result.
var takes = map[conflict.Take]struct{ question, what, verb, done string }{
	conflict.TakeBase: {"Keep the base of %s?", "This removes the copies.", "Keep base", "kept the base of"},
	conflict.TakeCopy: {"Keep the copy of %s?", "This replaces each base, then removes the copies.", "Keep copy", "kept the copy of"},
	conflict.TakeBoth: {"Keep both sides of %s?", "Each copy gets a name that speaks of no conflict, in the same folder.", "Keep both", "kept both sides of"},
}

// takeMarked asks once whether to keep one side of every marked conflict.
func (rs *resolutions) takeMarked(p *record.List[conflict.Copy], t conflict.Take) tea.Cmd {
	d := rs.d
	rows, hidden, why := p.Chosen()
	if why != "" {
		return d.Warn("%s", why)
	}
	var all []conflict.Copy
	left := 0
	for _, row := range rows {
		if c := row.Raw; rs.noResolve(c) == "" && noTake(c, t) == "" {
			all = append(all, c)
		} else {
			left++
		}
	}
	if len(all) == 0 {
		return d.Warn("none of the marked conflicts can be resolved this way")
	}
	next := rs.revived(all, t)
	return d.Modal.Prepare(func(context.Context) dialog.Proposal {
		return dialog.Proposal{Dialog: rs.manyDialog(all, t, left, hidden, next, p.Marks.Clear)}
	})
}

func (rs *resolutions) manyDialog(all []conflict.Copy, t conflict.Take, left, hidden int, next []text.Line, begun func()) *dialog.Dialog {
	d, esc, words := rs.d, rs.d.Esc, takes[t]
	count := esc.Const(prose.Plural(len(all), "conflict"))
	lines := []text.Line{{Value: esc.Sprintf(words.question, count), Kind: text.Title}, {Value: esc.Sprintf("%s Both texts of each are kept and can be put back.", esc.Const(words.what))}}
	warn := func(n int, format string) {
		if n > 0 {
			lines = append(lines, text.Line{Value: esc.Sprintf(format, prose.Group(n)), Kind: text.Alert})
		}
	}
	warn(left, "%s more of the marked ones cannot be resolved this way, and stay.")
	warn(hidden, "%s of the marked ones are not in the filter.")
	renamed := 0
	var cautions []string
	of := map[string][]string{} // the tools whose vendors warn of it
	for _, c := range all {
		for _, w := range c.Cautions {
			if of[w] == nil {
				cautions = append(cautions, w)
			}
			if !slices.Contains(of[w], c.Tool) {
				of[w] = append(of[w], c.Tool)
			}
		}
		if c.RenameOnly() && t != conflict.TakeBoth {
			renamed++
		}
	}
	warn(renamed, "Renamed and not deleted, as the vendor of their tool advises: %s.")
	for _, w := range cautions {
		lines = append(lines, text.Line{Value: esc.Sprintf("%s: %s", esc.LineMax(strings.Join(of[w], ", "), prose.MaxTitle), esc.LineMax(w, prose.MaxReason)), Kind: text.Alert})
	}
	lines = append(lines, next...)
	refs, stores := rs.listed(all)
	return &dialog.Dialog{Title: esc.Const("Resolve"), Lines: append(lines, d.Environments(stores...)...), Body: refs, Name: d.TypedStore(stores...),
		Choices: []dialog.Choice{{Verb: words.verb, Typed: true, Begin: func() tea.Cmd { begun(); return nil }, Act: func(_ context.Context, f dialog.Filled) dialog.Acted {
			return dialog.Acted{Instead: d.Work.Watching(rs.resolveEach(all, t, f.Reason))}
		}}}}
}

// resolveEach keeps one side of many copies; a copy that has changed since it was shown stays.
func (rs *resolutions) resolveEach(all []conflict.Copy, t conflict.Take, reason string) *task.Bulk {
	d := rs.d
	b := &task.Bulk{Kind: "console-resolve", Title: "resolve " + prose.Plural(len(all), "conflict"), Noun: "conflict", Total: len(all)}
	b.Run = func(ctx context.Context, j operator.Running, b *task.Bulk) error {
		key := func(i int) string { return model.Ref{Store: all[i].Store, ID: all[i].ID}.String() }
		return b.Each(ctx, j, key, func(ctx context.Context, i int) task.Outcome {
			c := all[i]
			o := task.Outcome{Store: c.Store, Name: c.ID, Word: "left"}
			done, err := d.Conflicts.Resolve(ctx, c, conflict.Choice{Take: t}, reason)
			if err != nil {
				o.Word, o.Why = task.Failed(err), prose.Reason(d.Esc, err)
				return o
			}
			o.Ok, o.Word = true, "resolved"
			o.Why = b.Took(d.Desk, done)
			return o
		})
	}
	return b
}
