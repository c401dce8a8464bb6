package tui

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// target is an item that long work is for.
type target struct {
	ref   model.Ref
	name  string // as it is shown
	seen  model.Revision
	stamp string
	bytes int64
	undo  string // the entry that is to be put back
	// hidden: the filter that is in force does not show it.
	hidden bool
}

// forgetEach removes items that are as they were when they were marked; after may be nil.
func (d *desk) forgetEach(noun string, items []target, why string, after func(context.Context, []model.Ref) safetext.Text) *bulk {
	b := &bulk{kind: "console-forget", title: "forget " + prose.Plural(int64(len(items)), noun), noun: noun, total: len(items)}
	b.run = func(ctx context.Context, j Job, b *bulk) error {
		var gone []model.Ref
		err := b.each(ctx, j, len(items), func(i int) string { return items[i].ref.String() }, func(ctx context.Context, i int) outcome {
			o := d.forgetOne(ctx, b, items[i], why)
			if o.ok {
				gone = append(gone, items[i].ref)
			}
			return o
		})
		if after != nil && len(gone) > 0 && ctx.Err() == nil {
			b.tell(after(ctx, gone))
		}
		return err
	}
	return b
}

func (d *desk) forgetOne(ctx context.Context, b *bulk, t target, why string) outcome {
	o := outcome{store: t.ref.Store, name: t.name, word: "left"}
	seen := t.seen
	if t.stamp != "" || seen == "" && b.noun == "item" {
		_, it, err := d.readable(ctx, t.ref)
		switch {
		case errors.Is(err, model.NotFound):
			o.ok, o.word = true, "gone already"
			return o
		case err != nil:
			o.why = prose.Reason(d.esc, err)
			return o
		case t.stamp != "" && it.Stamp != "" && it.Stamp != t.stamp:
			o.why = d.esc.Const("it has changed since it was marked")
			return o
		case seen == "":
			seen = it.Revision
		}
	}
	done, err := d.Acts.Forget(ctx, t.ref.Store, model.ForgetRequest{ID: t.ref.ID, IfMatch: seen}, why)
	switch {
	case errors.Is(err, model.Conflict):
		o.why = d.esc.Const("it has changed since it was marked")
		return o
	case err != nil:
		o.why = prose.Reason(d.esc, err)
		if !model.Unchanged(err) {
			o.word = "not known"
		}
		return o
	case done.Removed == 0:
		o.ok, o.word = true, "gone already"
		return o
	}
	o.ok, o.word = true, "forgotten"
	d.stuck.took(d.esc, done)
	switch {
	case done.Obstacle != "":
		o.why = d.esc.Sprintf("kept as %s, but it cannot be undone: %s", done.Undo, d.esc.LineMax(done.Obstacle, prose.MaxReason))
	case done.Undo != "":
		b.mu.Lock()
		b.undo = append(b.undo, done.Undo)
		b.mu.Unlock()
	default:
		o.why = d.esc.Const("nothing was kept for undo")
	}
	if done.Relations > 0 {
		with := d.esc.Sprintf("%s went with it", prose.Plural(done.Relations, done.Fell))
		if o.why.String() != "" {
			with = d.esc.Sprintf("%s; %s", with, o.why)
		}
		o.why = with
	}
	return o
}

// manyFrom is the number of items from which an act asks for the name even where
// the environment is not production.
const manyFrom = 100

// bulkQuestion is about marked items.
type bulkQuestion struct {
	items      []target
	verb, what string
	filter     string // that is in force
	left       int    // marked rows that the act is not for
	begun      func() // the act begins; may be nil
	// after tells, in a command, what else is to be said of the items that went; nil: nothing.
	after func(ctx context.Context, gone []model.Ref) safetext.Text
}

// forgetMany asks whether marked items should go. Those that the filter in force does
// not show are named apart, and can be left out.
func (rm *removals) forgetMany(q bulkQuestion) tea.Cmd {
	return rm.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) { return rm.dialog(ctx, q) })
}

func (rm *removals) dialog(ctx context.Context, q bulkQuestion) (*dialog, safetext.Text) {
	d, esc := rm.d, rm.d.esc
	var bytes int64
	var here []target
	var stores []string
	for _, t := range q.items {
		bytes += t.bytes
		if !t.hidden {
			here = append(here, t)
		}
		if !slices.Contains(stores, t.ref.Store) {
			stores = append(stores, t.ref.Store)
		}
	}
	n := int64(len(q.items))
	out := &dialog{title: esc.Const(q.verb)}
	environment, one := "", ""
	for _, name := range stores {
		s, err := d.fleet.Store(name)
		if err != nil {
			return nil, prose.Reason(esc, err)
		}
		if environment == "" || !isProduction(environment) && isProduction(s.Environment) {
			environment = s.Environment
		}
		if typed := d.typedName(s, s.Name); out.name == "" {
			out.name = typed
		}
	}
	if out.name == "" && len(q.items) >= manyFrom {
		out.name = strconv.Itoa(len(q.items))
	}
	if len(stores) == 1 {
		one = stores[0]
	}
	out.lines = []text.Line{
		{Value: esc.Sprintf("%s %s?", q.verb, prose.Plural(n, q.what)), Kind: text.Title},
		{Value: esc.Sprintf("This removes %s (%s bytes) from %s.", prose.Plural(n, q.what), prose.Group(bytes), storesWords(esc, stores))},
	}
	if hidden := n - int64(len(here)); hidden > 0 {
		out.lines = append(out.lines, text.Line{Value: esc.Sprintf("!! %s marked, %s of them not in this filter (%s): they are not on the screen.", prose.Group(n), prose.Group(hidden), q.filter), Kind: text.Warn})
	}
	if q.left > 0 {
		out.lines = append(out.lines, text.Line{Value: esc.Sprintf("!! %s left out and marked still: nothing of them can be deleted here.", prose.Plural(int64(q.left), "marked row")), Kind: text.Warn})
	}
	for _, t := range q.items[:min(len(q.items), 5)] {
		out.lines = append(out.lines, text.Line{Value: esc.Sprintf("- %s", esc.LineMax(t.name, prose.MaxTitle))})
	}
	if n > 5 {
		out.lines = append(out.lines, text.Line{Value: esc.Sprintf("- and %s more", prose.Group(n-5))})
	}
	if q.what == "item" {
		falls, err := d.fallsWith(ctx, q.items)
		if err != nil {
			return nil, esc.Sprintf("not forgotten, what would go with them is not known: %s", prose.Reason(esc, err))
		}
		out.lines = append(out.lines, falls...)
	}
	if environment != "" {
		out.lines = append(out.lines, environmentLine(esc, environment, one))
	}
	out.lines = append(out.lines, text.Line{Value: esc.Sprintf("Each %s is kept for undo as far as it can be put back, and has an outcome of its own. What has changed since it was marked stays.", q.what), Kind: text.Note})
	add := func(verb string, items []target) {
		out.choices = append(out.choices, choice{verb: verb, typed: true,
			act: func(_ context.Context, f filled) acted {
				return acted{instead: rm.work.watching(d.forgetEach(q.what, items, f.reason, q.after))}
			},
			begin: func() tea.Cmd {
				if q.begun != nil {
					q.begun()
				}
				return nil
			}})
	}
	switch k := len(here); {
	case k == len(q.items):
		add(q.verb, q.items)
	case k == 0:
		add(q.verb+" all "+prose.Group(n), q.items)
	default:
		add(q.verb+" the "+prose.Group(int64(k))+" in the filter", here)
		add(q.verb+" all "+prose.Group(n), q.items)
	}
	return out, safetext.Text{}
}

// storesWords names the stores that an act is for.
func storesWords(esc safetext.Escaper, stores []string) safetext.Text {
	if len(stores) == 1 {
		return esc.Sprintf("the store %s", stores[0])
	}
	if n := len(stores); n > 5 {
		return esc.Sprintf("%s", prose.Plural(int64(n), "store"))
	}
	last := len(stores) - 1
	return esc.Sprintf("the stores %s and %s", strings.Join(stores[:last], ", "), stores[last])
}

// undoMany asks whether an act on many items should be taken back.
func (us *undos) undoMany(ids []string) tea.Cmd {
	d := us.d
	return us.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
		esc := d.esc
		rows, _, err := d.Acts.Undos(ctx)
		if err != nil {
			return nil, esc.Sprintf("not undone: %s", prose.Reason(esc, err))
		}
		want := map[string]bool{}
		for _, id := range ids {
			want[id] = true
		}
		var items []target
		for _, u := range rows {
			if want[u.ID] {
				items = append(items, target{ref: model.Ref{Store: u.Store, ID: u.Item}, name: u.Item, bytes: u.Bytes, undo: u.ID})
			}
		}
		n := int64(len(items))
		lines := []text.Line{
			{Value: esc.Sprintf("Undo the last act on %s?", prose.Plural(n, "item")), Kind: text.Title},
			{Value: esc.Sprintf("Restores %s as they were before.", prose.Plural(n, "item"))},
		}
		if n > 0 {
			lines = append(lines, d.environmentOf(items[0].ref.Store)...)
		}
		lines = append(lines,
			text.Line{Value: esc.Const("What has changed since is not overwritten."), Kind: text.Note})
		return &dialog{title: esc.Const("Undo"), lines: lines, choices: []choice{{verb: "Undo",
			act: func(_ context.Context, f filled) acted {
				return acted{instead: us.work.watching(d.undoEach(items, f.reason))}
			}}}}, safetext.Text{}
	})
}

func (d *desk) undoEach(items []target, why string) *bulk {
	b := &bulk{kind: "console-undo", title: "undo of " + prose.Plural(int64(len(items)), "item"), noun: "item", total: len(items)}
	b.run = func(ctx context.Context, j Job, b *bulk) error {
		return b.each(ctx, j, len(items), func(i int) string { return items[i].undo }, func(ctx context.Context, i int) outcome {
			o := outcome{store: items[i].ref.Store, name: items[i].name, word: "left"}
			done, err := d.Acts.Restore(ctx, items[i].undo, why)
			if err != nil {
				o.why = prose.Reason(d.esc, err)
				return o
			}
			b.mu.Lock()
			b.undone = append(b.undone, items[i].undo)
			b.mu.Unlock()
			o.ok, o.word = true, "put back"
			for _, w := range done.Warnings {
				o.why = d.esc.Sprintf("not put back: %s", d.esc.LineMax(w, prose.MaxReason))
			}
			return o
		})
	}
	return b
}
