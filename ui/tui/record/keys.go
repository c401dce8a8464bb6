package record

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
)

func (p *List[T]) Bindings() []act.Act {
	if p.Typing() != nil {
		return p.common()
	}
	out := p.Window.StopLooking(&p.D.Loop, p.follow)
	if p.Kind.Keys != nil {
		out = append(out, p.Kind.Keys(p)...)
	}
	if p.Kind.Marking && !p.Full {
		out = append(out, p.Marks.Bindings(p.None, p.Move)...)
	}
	for _, b := range slices.Concat(p.common(), p.handing()) { // the keys of the kind go first
		b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool {
			_, taken := act.Find(out, key)
			return taken
		})
		if len(b.Keys) == 0 {
			continue
		}
		if b.Show == "enter" && b.Keys[0] != "enter" {
			b.Show, b.Name = b.Keys[0], ""
		}
		out = append(out, b)
	}
	return out
}

func (p *List[T]) Beneath() []act.Act {
	if !p.Full {
		return nil
	}
	p.Full = false
	defer func() { p.Full = true }()
	return p.Bindings()
}

func (p *List[T]) None() string {
	_, ok := p.Window.Current()
	return act.When(!ok, p.Window.Nothing())
}

// OnMarks reports whether an act is for the marked rows: a page is about its own row.
func (p *List[T]) OnMarks() bool { return p.Marks.N() > 0 && !p.Full }

// Chosen are the rows that an act is for: the marked ones, else that at the cursor; hidden is how many of them the filter
// hides, and why says that this is not known yet.
func (p *List[T]) Chosen() (rows []Row[T], hidden int, why string) {
	if p.OnMarks() {
		return p.Marks.Rows(), p.Marks.Outside(), p.Marks.Uncounted()
	}
	if row, ok := p.Window.Current(); ok {
		rows = append(rows, row)
	}
	return rows, 0, ""
}

// handing are the keys that take rows out of the console.
func (p *List[T]) handing() []act.Act {
	var out []act.Act
	if p.Kind.Field != nil {
		out = append(out, act.Act{Keys: []string{"y"}, Name: "copy ref", Doc: "copy what this row is about to the clipboard", Why: p.None, Do: func() tea.Cmd {
			field := p.Kind.Field(p.Here())
			return p.D.CopyText(p.D.Esc.LineMax(field, prose.MaxTitle), field)
		}})
	}
	if p.Kind.Datum != nil {
		noFile := func() string {
			return act.When(p.D.Remote, "over this connection no file of the server is written: Y copies the row")
		}
		if p.Kind.Field != nil {
			noFile = p.D.NoExport
		}
		out = append(out,
			act.Act{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Why: p.None, Do: func() tea.Cmd { return p.D.CopyRow(p.Kind.Datum(p.Here()).Object()) }},
			act.Act{Keys: []string{"x"}, Name: "export", Verb: act.Export.Verb, Doc: "export the filtered table to a file: CSV, JSON lines", Why: act.Unless(p.None, noFile), Do: func() tea.Cmd {
				fetch, datumOf := p.Window.Fetch, p.Kind.Datum
				return p.D.Exports.ExportTable(p.Kind.Name, func(ctx context.Context, write func(desk.Datum) error) ([]safetext.Text, error) {
					return list.EachRow(ctx, p.D.Esc, fetch, func(r Row[T]) error { return write(datumOf(r.Raw)) })
				})
			}})
	}
	return out
}

func (p *List[T]) common() []act.Act {
	none := p.None
	switch {
	case p.Full:
		return slices.Concat([]act.Act{
			{Keys: []string{"n"}, Name: "next", Doc: "the next " + p.Kind.Noun, Why: p.Window.Alone, Do: func() tea.Cmd { return p.Move(1) }},
			{Keys: []string{"p", "N"}, Name: "previous", Doc: "the " + p.Kind.Noun + " before", Why: p.Window.Alone, Do: func() tea.Cmd { return p.Move(-1) }},
			{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the list", Do: p.Back},
		}, p.factKeys(), act.Movement(p.Detail, "line"))
	case p.Typing() != nil:
		return p.FilterKeys("list", p.Apply)
	}
	return slices.Concat([]act.Act{
		act.Open.Called("this "+p.Kind.Noun+" on the whole screen").With(none, func() tea.Cmd {
			r, _ := p.Window.Current()
			return p.OpenPage(r)
		}),
		act.Filter.Called("filter the list while typing; ! in front inverts").Taking(p.Apply).With(nil, p.StartFilter),
	}, p.factKeys(), p.sortKeys(), act.Aside(p.Detail, "detail"), act.Movement(p, p.Kind.Noun))
}

// factKeys show all fields of a row instead of its detail.
func (p *List[T]) factKeys() []act.Act {
	if p.Kind.Facts == nil {
		return nil
	}
	return []act.Act{{Keys: []string{"i"}, Name: "facts", Doc: "switch between the text and all that is known of this " + p.Kind.Noun, Why: p.None, Do: func() tea.Cmd {
		p.facts = !p.facts
		p.Outdate()
		return p.Show()
	}}}
}
