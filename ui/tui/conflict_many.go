package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/conflict"
	"memdesk/conflict/names"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// noTake says why a side of a copy cannot be taken whole; empty when it can.
func noTake(c conflict.Copy, t conflict.Take) string {
	switch {
	case c.Class == names.InFile:
		return "the markers stand inside this item: e edits it"
	case c.Orphan && t == conflict.TakeBase:
		return "it has no base: c gives the copy the base's name, B keeps it under another"
	}
	return ""
}

// takeMany are the words for taking one side of many copies.
var takeMany = map[conflict.Take]struct{ question, what, verb string }{
	conflict.TakeBase: {"Keep the base of %s?", "This removes the copies.", "Keep base"},
	conflict.TakeCopy: {"Put the copy of %s in the base's place?", "This replaces each base, then removes the copies.", "Take copy"},
	conflict.TakeBoth: {"Keep both sides of %s?", "Each copy gets a name that speaks of no conflict, in the same folder.", "Keep both"},
}

// takeMarked asks once whether one side of every marked conflict should stay.
func (rs *resolutions) takeMarked(p *records[conflict.Copy], t conflict.Take) tea.Cmd {
	d, esc := rs.d, rs.d.esc
	if why := p.marks.uncounted(); why != "" {
		d.say(paint.ToneWarn, esc.Const(why))
		return nil
	}
	var all []conflict.Copy
	left := 0
	for _, id := range p.marks.order {
		if c := p.marks.kept[id].raw; rs.noResolveOf(c) == "" && noTake(c, t) == "" {
			all = append(all, c)
		} else {
			left++
		}
	}
	if len(all) == 0 {
		d.say(paint.ToneWarn, esc.Const("none of the marked conflicts can be resolved this way"))
		return nil
	}
	hidden := p.marks.outside()
	return d.modal.propose(func(context.Context) (*dialog, safetext.Text) {
		return rs.manyDialog(all, t, left, hidden, p.marks.clear), safetext.Text{}
	})
}

func (rs *resolutions) manyDialog(all []conflict.Copy, t conflict.Take, left, hidden int, begun func()) *dialog {
	d, esc, words := rs.d, rs.d.esc, takeMany[t]
	count := esc.Const(prose.Plural(int64(len(all)), "conflict"))
	lines := []text.Line{{Value: esc.Sprintf(words.question, count), Kind: text.Title}, {Value: esc.Sprintf("%s Both texts of each are kept and can be put back.", esc.Const(words.what))}}
	warn := func(n int, format string) {
		if n > 0 {
			lines = append(lines, text.Line{Value: esc.Sprintf(format, prose.Group(int64(n))), Kind: text.Warn})
		}
	}
	warn(left, "!! %s more of the marked ones cannot be resolved this way, and stay.")
	warn(hidden, "!! %s of the marked ones are not in the filter.")
	var list strings.Builder
	cautions, renamed := 0, 0
	for _, c := range all {
		list.WriteString(model.Ref{Store: c.Store, ID: c.ID}.String() + "\n")
		cautions += min(len(c.Cautions), 1)
		if c.RenameOnly() && t != conflict.TakeBoth {
			renamed++
		}
	}
	warn(renamed, "!! Renamed and not deleted, as the vendor of their tool advises: %s.")
	warn(cautions, "!! The vendors of the tools of %s warn of something; each conflict says what.")
	return &dialog{title: esc.Const("Resolve"), lines: lines, body: text.NewPage(nil, list.String()), name: rs.typedAny(all),
		choices: []choice{{verb: words.verb, typed: true, begin: func() tea.Cmd { begun(); return nil }, act: func(_ context.Context, f filled) acted {
			return acted{instead: d.work.watching(rs.resolveEach(all, t, f.reason))}
		}}}}
}

// resolveEach takes one side of many copies; one that has changed since it was shown stays.
func (rs *resolutions) resolveEach(all []conflict.Copy, t conflict.Take, reason string) *bulk {
	d := rs.d
	b := &bulk{kind: "console-resolve", title: "resolve " + prose.Plural(int64(len(all)), "conflict"), noun: "conflict", total: len(all)}
	b.run = func(ctx context.Context, j Job, b *bulk) error {
		key := func(i int) string { return model.Ref{Store: all[i].Store, ID: all[i].ID}.String() }
		return b.each(ctx, j, len(all), key, func(ctx context.Context, i int) outcome {
			c := all[i]
			o := outcome{store: c.Store, name: c.ID, word: "left"}
			done, err := d.Conflicts.Resolve(ctx, c, conflict.Choice{Take: t}, reason)
			if err != nil {
				o.why = prose.Reason(d.esc, err)
				return o
			}
			o.ok, o.word = true, "resolved"
			d.stuck.took(d.esc, done)
			switch {
			case done.Obstacle != "":
				o.why = d.esc.Sprintf("it cannot be undone: %s", d.esc.LineMax(done.Obstacle, prose.MaxReason))
			case done.Undo != "":
				b.mu.Lock()
				b.undo = append(b.undo, done.Undo)
				b.mu.Unlock()
			}
			return o
		})
	}
	return b
}
