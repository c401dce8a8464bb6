package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/keys"
)

func (p *records[T]) bindings() []keys.Binding {
	if p.typing() != nil {
		return p.common()
	}
	if p.marks.walk != nil {
		return append(p.marks.bindings(p.none, p.Move), p.common()...)
	}
	out := p.list.stopLooking(p.d, p.follow)
	if p.kind.keys != nil {
		out = append(out, p.kind.keys(p)...)
	}
	if p.kind.marking && !p.full {
		out = append(out, p.marks.bindings(p.none, p.Move)...)
	}
	common := p.common()
	if _, taken := keys.Find(out, "enter"); taken && !p.full {
		common[0].Keys, common[0].Show, common[0].Hint = []string{"right", "l"}, "right", ""
	}
	out = append(out, common...)
	for _, b := range p.handing() {
		if _, taken := keys.Find(out, b.Keys[0]); !taken {
			out = append(out, b)
		}
	}
	return out
}

func (p *records[T]) beneath() []keys.Binding {
	if !p.full {
		return nil
	}
	p.full = false
	defer func() { p.full = true }()
	return p.bindings()
}

func (p *records[T]) none() string {
	if _, ok := p.list.current(); !ok {
		return p.list.nothing()
	}
	return ""
}

// handing are the keys that take rows out of the console.
func (p *records[T]) handing() []keys.Binding {
	var out []keys.Binding
	if p.kind.field != nil {
		out = append(out, keys.Binding{Keys: []string{"y"}, Hint: "copy", Description: "copy what this row is about to the clipboard", Disabled: p.none, Handler: func() tea.Cmd {
			r, _ := p.list.current()
			return p.d.copyText(p.d.esc.Const("the field"), p.kind.field(r.raw))
		}})
	}
	if p.kind.datum != nil {
		out = append(out,
			keys.Binding{Keys: []string{"Y"}, Description: "copy the row as one line of JSON", Disabled: p.none, Handler: func() tea.Cmd {
				r, _ := p.list.current()
				return p.d.copyRow(p.kind.datum(r.raw).object())
			}},
			keys.Binding{Keys: []string{"x"}, Hint: "export", Description: "export the filtered table to a file: CSV, JSON lines", Disabled: keys.Unless(p.none, p.d.noExport), Handler: func() tea.Cmd {
				fetch, datumOf := p.list.fetch, p.kind.datum
				return p.d.exports.exportTable(p.kind.name, func(ctx context.Context, write func(datum) error) error {
					return eachRow(ctx, fetch, func(r record[T]) error { return write(datumOf(r.raw)) })
				})
			}})
	}
	return out
}

// common are the keys that every list of records has.
func (p *records[T]) common() []keys.Binding {
	none := p.none
	switch {
	case p.full:
		return append([]keys.Binding{
			{Keys: []string{"n"}, Hint: "next", Description: "the next " + p.kind.noun, Handler: func() tea.Cmd { return p.Move(1) }},
			{Keys: []string{"p"}, Hint: "previous", Description: "the " + p.kind.noun + " before", Handler: func() tea.Cmd { return p.Move(-1) }},
			{Keys: []string{"left", "h"}, Show: "left", Description: "back to the list", Handler: p.back},
		}, keys.Movement(p.detail, "line")...)
	case p.jump.in.Focus:
		return p.jumpBindings()
	case p.typing() != nil:
		return p.live.bindings("list", &p.filter, &p.query, p.apply)
	}
	return append(append([]keys.Binding{
		{Keys: []string{"enter", "right", "l"}, Show: "enter", Hint: "read", Description: "this " + p.kind.noun + " on the whole screen", Disabled: none, Handler: func() tea.Cmd {
			p.full = true
			return p.layout()
		}},
		{Keys: []string{"/"}, Hint: "filter", Description: "filter the list while typing; ! in front inverts", Handler: func() tea.Cmd {
			p.live.begin(p.query)
			p.filter.Set(p.query)
			p.filter.Focus = true
			return nil
		}},
		{Keys: []string{"f"}, Description: "jump to a row by the first letters of a cell", Disabled: none, Handler: func() tea.Cmd {
			p.jump.open(p.list.sel)
			return nil
		}},
	}, keys.Aside(p.detail, "detail")...), keys.Movement(p, p.kind.noun)...)
}
