package change

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/task"
	"memdesk/undo"
)

// Target is an item of long work.
type Target struct {
	Ref    model.Ref
	Name   string // as it is shown
	Title  string // empty: the name says it
	Seen   model.Revision
	Stamp  string
	Bytes  int64
	Hidden bool // the current filter does not show it
}

// forgetEach removes items that have not changed since they were marked; after may be nil.
func forgetEach(d *desk.Desk, noun string, items []Target, why string, after func(context.Context, []model.Ref) safetext.Text) *task.Bulk {
	b := &task.Bulk{Kind: "console-forget", Title: "forget " + prose.Plural(len(items), noun), Noun: noun, Total: len(items)}
	b.Run = func(ctx context.Context, j operator.Running, b *task.Bulk) error {
		var gone []model.Ref
		err := b.Each(ctx, j, func(i int) string { return items[i].Ref.String() }, func(ctx context.Context, i int) task.Outcome {
			o := forgetOne(d, ctx, b, items[i], why)
			if o.Ok {
				gone = append(gone, items[i].Ref)
			}
			return o
		})
		if after != nil && len(gone) > 0 && ctx.Err() == nil {
			b.Tell(after(ctx, gone))
		}
		return err
	}
	return b
}

func forgetOne(d *desk.Desk, ctx context.Context, b *task.Bulk, t Target, why string) task.Outcome {
	o := task.Outcome{Store: t.Ref.Store, Name: t.Name, Word: "left"}
	seen := t.Seen
	if t.Stamp != "" || seen == "" && b.Noun == "item" {
		_, it, err := d.Readable(ctx, t.Ref)
		switch {
		case errors.Is(err, model.NotFound):
			o.Ok, o.Word = true, "gone already"
			return o
		case err != nil:
			o.Why = prose.Reason(d.Esc, err)
			return o
		case t.Stamp != "" && it.Stamp != "" && it.Stamp != t.Stamp:
			o.Why = d.Esc.Const("it has changed since it was marked")
			return o
		case seen == "":
			seen = it.Revision
		}
	}
	done, err := d.Acts.Forget(ctx, t.Ref.Store, model.ForgetRequest{ID: t.Ref.ID, IfMatch: seen}, why)
	switch {
	case errors.Is(err, model.Conflict) && changed(d, ctx, t.Ref, seen):
		o.Why = d.Esc.Const("it has changed since it was marked")
		return o
	case err != nil:
		o.Word, o.Why = task.Failed(err), prose.Reason(d.Esc, err)
		return o
	case done.Removed == 0:
		o.Ok, o.Word = true, "gone already"
		return o
	}
	o.Ok, o.Word = true, map[string]string{"item": "forgotten", "entry": "deleted"}[b.Noun]
	o.Why = b.Took(d, done)
	if done.Relations > 0 {
		with := d.Esc.Sprintf("%s went with it", prose.Plural(done.Relations, done.Fell))
		if o.Why.String() != "" {
			with = d.Esc.Sprintf("%s; %s", with, o.Why)
		}
		o.Why = with
	}
	return o
}

// manyFrom is the number of items from which an act asks for the name even outside production.
const manyFrom = 100

// widestTitle is the columns of a title in a question about many.
const widestTitle = 32

// Question is about marked items.
type Question struct {
	Items      []Target
	Verb, What string
	Filter     string // in force
	Left       int    // marked rows that the act leaves out
	Said       []text.Line
	Begun      func() // called when the act begins; may be nil
	// After runs in a command and adds words about the removed items; nil adds nothing.
	After func(ctx context.Context, gone []model.Ref) safetext.Text
}

// ForgetMany asks whether to forget marked items; those that the filter hides are named and can be left out.
func ForgetMany(work *task.Underway, q Question) tea.Cmd {
	return work.D.Modal.Prepare(func(ctx context.Context) dialog.Proposal { return manyDialog(work, ctx, q) })
}

func manyDialog(work *task.Underway, ctx context.Context, q Question) dialog.Proposal {
	d, esc := work.D, work.D.Esc
	var bytes int64
	var here []Target
	var stores []string
	for _, t := range q.Items {
		bytes += t.Bytes
		if !t.Hidden {
			here = append(here, t)
		}
		if !slices.Contains(stores, t.Ref.Store) {
			stores = append(stores, t.Ref.Store)
		}
	}
	n := int64(len(q.Items))
	out := &dialog.Dialog{Title: esc.Const(q.Verb)}
	for _, name := range stores {
		if _, err := d.Fleet.Store(name); err != nil {
			return dialog.Proposal{No: prose.Reason(esc, err)}
		}
	}
	if out.Name = d.TypedStore(stores...); out.Name.IsEmpty() && len(q.Items) >= manyFrom {
		out.Name = esc.Const(strconv.Itoa(len(q.Items)))
	}
	environments := d.Environments(stores...)
	var from safetext.Text
	if len(stores) > 1 || len(environments) == 0 { // else the line of the environment names the store
		from = esc.Sprintf(" from %s", storesWords(esc, stores))
	}
	out.Lines = []text.Line{
		{Value: esc.Sprintf("%s %s?", q.Verb, prose.Plural(n, q.What)), Kind: text.Title},
		{Value: esc.Sprintf("This removes %s (%s)%s.", prose.Plural(n, q.What), prose.Size(bytes), from)},
	}
	if hidden := n - int64(len(here)); hidden > 0 {
		out.Lines = append(out.Lines, text.Line{Value: esc.Sprintf("%s marked, %s of them not in this filter (%s): they are not on the screen.", prose.Group(n), prose.Group(hidden), q.Filter), Kind: text.Alert})
	}
	if q.Left > 0 {
		out.Lines = append(out.Lines, text.Line{Value: esc.Sprintf("%s left out and marked still: nothing of them can be deleted here.", prose.Plural(q.Left, "marked row")), Kind: text.Alert})
	}
	out.Lines = append(out.Lines, q.Said...)
	if q.What != "item" { // of items, what falls with them is asked in one question
		out.Lines = append(out.Lines, warningsOf(d, ctx, q.Items)...)
	}
	for _, t := range q.Items[:min(len(q.Items), 5)] {
		line := esc.Sprintf("- %s", prose.NameFirst(esc, t.Name))
		if t.Title != "" && t.Title != t.Name { // as the list has it
			line = esc.Sprintf("- %s  %s", esc.Trunc(esc.LineMax(desk.FirstWords(t.Title), prose.MaxTitle), widestTitle), prose.NameFirst(esc, t.Name))
		}
		out.Lines = append(out.Lines, text.Line{Value: line, Cut: true})
	}
	if n > 5 {
		out.Lines = append(out.Lines, text.Line{Value: esc.Sprintf("- and %s more", prose.Group(n-5))})
	}
	if q.What == "item" {
		falls, err := fallsWith(d, ctx, q.Items)
		if err != nil {
			return dialog.Proposal{No: esc.Sprintf("not forgotten, what would go with them is not known: %s", prose.Reason(esc, err))}
		}
		out.Lines = append(out.Lines, falls...)
	}
	out.Lines = append(out.Lines, environments...)
	out.Lines = append(out.Lines, text.Line{Value: esc.Sprintf("Each %s is kept for undo as far as it can be put back, and has an outcome of its own. What has changed since it was marked stays.", q.What), Kind: text.Note})
	add := func(verb string, items []Target) {
		out.Choices = append(out.Choices, dialog.Choice{Verb: verb, Typed: true,
			Act: func(_ context.Context, f dialog.Filled) dialog.Acted {
				return dialog.Acted{Instead: work.Watching(forgetEach(d, q.What, items, f.Reason, q.After))}
			},
			Begin: func() tea.Cmd {
				if q.Begun != nil {
					q.Begun()
				}
				return nil
			}})
	}
	switch k := len(here); {
	case k == len(q.Items):
		add(q.Verb, q.Items)
	case k == 0:
		add(q.Verb+" all "+prose.Group(n), q.Items)
	default:
		add(q.Verb+" the "+prose.Group(k)+" in the filter", here)
		add(q.Verb+" all "+prose.Group(n), q.Items)
	}
	return dialog.Proposal{Dialog: out}
}

// warningsOf are those of single items, each with how many have it. Of many, the first are looked at.
func warningsOf(d *desk.Desk, ctx context.Context, items []Target) (out []text.Line) {
	esc, of := d.Esc, prose.Group(len(items))
	if len(items) > manyFrom {
		items, of = items[:manyFrom], "the first "+strconv.Itoa(manyFrom)
	}
	times := map[string]int{}
	var order []string
	for _, t := range items {
		all, err := d.Acts.Preview(ctx, t.Ref.Store, t.Ref.ID)
		if err != nil {
			all = []string{"not looked at: " + err.Error()}
		}
		for _, w := range all {
			if times[w]++; times[w] == 1 {
				order = append(order, w)
			}
		}
	}
	for _, w := range order {
		out = append(out, text.Line{Value: esc.Sprintf("%s of %s: %s", prose.Group(times[w]), of, esc.LineMax(w, prose.MaxReason)), Kind: text.Alert})
	}
	return out
}

// storesWords names the stores of an act.
func storesWords(esc safetext.Escaper, stores []string) safetext.Text {
	if len(stores) == 1 {
		return esc.Sprintf("the store %s", stores[0])
	}
	if n := len(stores); n > 5 {
		return esc.Sprintf("%s", prose.Plural(n, "store"))
	}
	last := len(stores) - 1
	return esc.Sprintf("the stores %s and %s", strings.Join(stores[:last], ", "), stores[last])
}

// undoMany asks whether to undo an act on many items.
func (us *Undos) undoMany(ids []string) tea.Cmd {
	d := us.D
	return us.propose(ids, func(rows []undo.Entry) dialog.Proposal {
		esc := d.Esc
		want := map[string]bool{}
		for _, id := range ids {
			want[id] = true
		}
		var entries []undo.Entry
		var stores []string
		var bytes int64
		for _, u := range rows {
			if want[u.ID] {
				entries, stores, bytes = append(entries, u), append(stores, u.Store), bytes+u.Bytes
			}
		}
		items, gone := itemsOf(entries...), int64(len(ids)-len(entries))
		if len(items) == 0 {
			return dialog.Proposal{No: esc.Sprintf("not undone: the %s of the last act were used already or have expired", prose.Plural(gone, "entry"))}
		}
		lines := []text.Line{
			{Value: esc.Sprintf("Undo the last act on %s?", prose.Plural(len(items), "item")), Kind: text.Title},
			{Value: esc.Const(effect(items, bytes))},
		}
		if gone > 0 {
			lines = append(lines, text.Line{Value: esc.Sprintf("%s of this act were used already or have expired: their items stay as they are.", prose.Plural(gone, "entry")), Kind: text.Alert})
		}
		lines = append(lines, d.Environments(stores...)...)
		lines = append(lines, text.Line{Value: esc.Const("What has changed since is not overwritten."), Kind: text.Note})
		return dialog.Proposal{Dialog: &dialog.Dialog{Title: esc.Const("Undo"), Lines: lines, Body: effects(esc, items), Choices: []dialog.Choice{{Verb: "Undo",
			Act: func(_ context.Context, f dialog.Filled) dialog.Acted {
				return dialog.Acted{Instead: us.Work.Watching(undoEach(d, entries, f.Reason))}
			}}}}}
	})
}

// undoEach undoes entries; one of several items counts once, as it is undone whole or not at all.
func undoEach(d *desk.Desk, entries []undo.Entry, why string) *task.Bulk {
	noun := "item"
	if len(itemsOf(entries...)) > len(entries) {
		noun = "change"
	}
	b := &task.Bulk{Kind: "console-undo", Title: "undo of " + prose.Plural(len(entries), noun), Noun: noun, Total: len(entries)}
	b.Run = func(ctx context.Context, j operator.Running, b *task.Bulk) error {
		return b.Each(ctx, j, func(i int) string { return entries[i].ID }, func(ctx context.Context, i int) task.Outcome {
			u := entries[i]
			o := task.Outcome{Store: u.Store, Name: u.Item, Word: "left"}
			done, err := d.Acts.Restore(ctx, u.ID, why)
			if err == nil || errors.Is(err, model.Conflict) { // another try would meet the same conflict
				b.Locked(func() { b.Undone = append(b.Undone, u.ID) })
			}
			if err != nil {
				o.Word, o.Why = task.Failed(err), prose.Reason(d.Esc, err)
				return o
			}
			o.Ok, o.Word = true, did(u)
			if len(u.Sides) > 1 {
				o.Why = d.Esc.Sprintf("%s in all", prose.Plural(len(u.Sides), "item"))
			}
			for _, w := range done.Warnings {
				o.Why = d.Esc.LineMax(w, prose.MaxReason)
			}
			return o
		})
	}
	return b
}
