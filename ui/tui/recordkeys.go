package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
)

func (p *records) bindings() []Binding {
	if p.typing() != nil {
		return p.common()
	}
	if p.marks.walk != nil {
		return append(p.marks.bindings(p.none, p.move), p.common()...)
	}
	out := p.list.stopLooking(p.d, p.follow)
	if p.kind.keys != nil {
		out = append(out, p.kind.keys(p)...)
	}
	if p.kind.marking && !p.full {
		out = append(out, p.marks.bindings(p.none, p.move)...)
	}
	common := p.common()
	if _, taken := find(out, "enter"); taken && !p.full {
		common[0].Keys, common[0].Show, common[0].Hint = []string{"right", "l"}, "right", ""
	}
	out = append(out, common...)
	for _, b := range p.handing() {
		if _, taken := find(out, b.Keys[0]); !taken {
			out = append(out, b)
		}
	}
	return out
}

func (p *records) beneath() []Binding {
	if !p.full {
		return nil
	}
	p.full = false
	defer func() { p.full = true }()
	return p.bindings()
}

func (p *records) none() string {
	if _, ok := p.list.current(); !ok {
		return p.list.nothing()
	}
	return ""
}

// handing are the keys that take rows out of the console.
func (p *records) handing() []Binding {
	var out []Binding
	if p.kind.field != nil {
		out = append(out, Binding{Keys: []string{"y"}, Hint: "copy", Description: "copy what this row is about to the clipboard", Disabled: p.none, Handler: func() tea.Cmd {
			r, _ := p.list.current()
			return p.d.copyText(p.d.esc.Const("the field"), p.kind.field(r.raw))
		}})
	}
	if p.kind.datum != nil {
		out = append(out,
			Binding{Keys: []string{"Y"}, Description: "copy the row as one line of JSON", Disabled: p.none, Handler: func() tea.Cmd {
				r, _ := p.list.current()
				return p.d.copyRow(p.kind.datum(r.raw).object())
			}},
			Binding{Keys: []string{"x"}, Hint: "export", Description: "export the filtered table to a file: CSV, JSON lines", Disabled: unless(p.none, p.d.noExport), Handler: func() tea.Cmd {
				fetch, datumOf := p.list.fetch, p.kind.datum
				return p.d.app.exportTable(p.kind.name, func(ctx context.Context, write func(datum) error) error {
					return eachRow(ctx, fetch, func(r record) error { return write(datumOf(r.raw)) })
				})
			}})
	}
	return out
}

// common are the keys that every list of records has.
func (p *records) common() []Binding {
	none := p.none
	switch {
	case p.full:
		return append([]Binding{
			{Keys: []string{"n"}, Hint: "next", Description: "the next " + p.kind.noun, Handler: func() tea.Cmd { return p.move(1) }},
			{Keys: []string{"p"}, Hint: "previous", Description: "the " + p.kind.noun + " before", Handler: func() tea.Cmd { return p.move(-1) }},
			{Keys: []string{"left", "h"}, Show: "left", Description: "back to the list", Handler: p.back},
		}, movement(p.detail, "line")...)
	case p.jump.in.focus:
		return p.jumpBindings()
	case p.typing() != nil:
		return []Binding{
			{Keys: []string{"enter"}, Hint: "filter", Description: "show what matches; ! in front shows what does not", Handler: func() tea.Cmd { return p.apply(strings.TrimSpace(p.filter.text())) }},
			{Keys: []string{"esc"}, Hint: "cancel", Description: "back to the list as it was", Handler: func() tea.Cmd {
				p.filter.focus = false
				return nil
			}},
		}
	}
	return append(append([]Binding{
		{Keys: []string{"enter", "right", "l"}, Show: "enter", Hint: "read", Description: "this " + p.kind.noun + " on the whole screen", Disabled: none, Handler: func() tea.Cmd {
			p.full = true
			return p.layout()
		}},
		{Keys: []string{"/"}, Hint: "filter", Description: "filter the list; ! in front inverts", Handler: func() tea.Cmd {
			p.filter.set(p.query)
			p.filter.focus = true
			return nil
		}},
		{Keys: []string{"f"}, Description: "jump to a row by the first letters of a cell", Disabled: none, Handler: func() tea.Cmd {
			p.jump.open(p.list.sel)
			return nil
		}},
	}, aside(p.detail, "detail")...), movement(p, p.kind.noun)...)
}
