package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

func (p *records[T]) bindings() []act.Act {
	if p.typing() != nil {
		return p.common()
	}
	if p.marks.walk != nil {
		return append(p.marks.bindings(p.none, p.Move), p.common()...)
	}
	out := p.list.stopLooking(&p.d.loop, p.follow)
	if p.kind.keys != nil {
		out = append(out, p.kind.keys(p)...)
	}
	if p.kind.marking && !p.full {
		out = append(out, p.marks.bindings(p.none, p.Move)...)
	}
	common := p.common()
	if _, taken := act.Find(out, "enter"); taken && !p.full {
		common[0].Keys, common[0].Show, common[0].Name = []string{"right", "l"}, "right", ""
	}
	out = append(out, common...)
	for _, b := range p.handing() {
		if _, taken := act.Find(out, b.Keys[0]); !taken {
			out = append(out, b)
		}
	}
	return out
}

func (p *records[T]) beneath() []act.Act {
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
func (p *records[T]) handing() []act.Act {
	var out []act.Act
	if p.kind.field != nil {
		out = append(out, act.Act{Keys: []string{"y"}, Name: "copy", Doc: "copy what this row is about to the clipboard", Why: p.none, Do: func() tea.Cmd {
			r, _ := p.list.current()
			return p.d.copyText(p.d.esc.Const("the field"), p.kind.field(r.raw))
		}})
	}
	if p.kind.datum != nil {
		out = append(out,
			act.Act{Keys: []string{"Y"}, Doc: "copy the row as one line of JSON", Why: p.none, Do: func() tea.Cmd {
				r, _ := p.list.current()
				return p.d.copyRow(p.kind.datum(r.raw).object())
			}},
			act.Act{Keys: []string{"x"}, Name: "export", Doc: "export the filtered table to a file: CSV, JSON lines", Why: act.Unless(p.none, p.d.noExport), Do: func() tea.Cmd {
				fetch, datumOf := p.list.fetch, p.kind.datum
				return p.d.exports.exportTable(p.kind.name, func(ctx context.Context, write func(datum) error) error {
					return eachRow(ctx, fetch, func(r record[T]) error { return write(datumOf(r.raw)) })
				})
			}})
	}
	return out
}

// common are the keys that every list of records has.
func (p *records[T]) common() []act.Act {
	none := p.none
	switch {
	case p.full:
		return append([]act.Act{
			{Keys: []string{"n"}, Name: "next", Doc: "the next " + p.kind.noun, Do: func() tea.Cmd { return p.Move(1) }},
			{Keys: []string{"p"}, Name: "previous", Doc: "the " + p.kind.noun + " before", Do: func() tea.Cmd { return p.Move(-1) }},
			{Keys: []string{"left", "h"}, Show: "left", Doc: "back to the list", Do: p.back},
		}, append(p.factKeys(), act.Movement(p.detail, "line")...)...)
	case p.jump.in.Focus:
		return p.jumpBindings()
	case p.typing() != nil:
		return p.live.bindings("list", &p.filter, &p.query, p.apply)
	}
	return append(append([]act.Act{
		{Keys: []string{"enter", "right", "l"}, Show: "enter", Name: "read", Doc: "this " + p.kind.noun + " on the whole screen", Why: none, Do: func() tea.Cmd {
			p.full = true
			return p.layout()
		}},
		{Keys: []string{"/"}, Name: "filter", Doc: "filter the list while typing; ! in front inverts", Do: func() tea.Cmd {
			p.live.begin(p.query)
			p.filter.Set(p.query)
			p.filter.Focus = true
			return nil
		}},
		{Keys: []string{"f"}, Doc: "jump to a row by the first letters of a cell", Why: none, Do: func() tea.Cmd {
			p.jump.open(p.list.sel)
			return nil
		}},
	}, append(append(p.factKeys(), p.sortKeys()...), act.Aside(p.detail, "detail")...)...), act.Movement(p, p.kind.noun)...)
}

// factKeys show all that is known of a row instead of what it is about.
func (p *records[T]) factKeys() []act.Act {
	if p.kind.facts == nil {
		return nil
	}
	return []act.Act{{Keys: []string{"i"}, Name: "facts", Doc: "all that is known of this " + p.kind.noun + ", or what it is about", Why: p.none, Do: func() tea.Cmd {
		p.known, p.asked = !p.known, ""
		return p.show()
	}}}
}
