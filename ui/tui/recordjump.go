package tui

import (
	"path"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

// recordNames are what a row is looked for by: its cells, and what it is about.
func (p *records[T]) recordNames(r record[T]) []string {
	var out []string
	for _, c := range r.cells {
		out = append(out, c.String())
	}
	if p.kind.field != nil {
		name := p.kind.field(r.raw)
		out = append(out, name, path.Base(name))
	}
	return out
}

// jumped follows the letters among the rows that are loaded.
func (p *records[T]) jumped() tea.Cmd {
	rows := p.list.rows
	return jumpHere(&p.d.loop, &p.jump, len(rows), p.list.sel, func(i int) []string { return p.recordNames(rows[i]) }, p.Move)
}

func (p *records[T]) jumpBindings() []act.Act {
	here := func(text string) bool {
		row, ok := p.list.current()
		return ok && begins(text, p.recordNames(row))
	}
	return jumpKeys(&p.jump, here, func(text string) tea.Cmd {
		return p.list.follow(&trail[record[T]]{word: p.d.esc.Sprintf("%q", text), kin: func(r record[T]) (int, bool) { return 0, begins(text, p.recordNames(r)) }})
	}, func() tea.Cmd { return p.Move(p.jump.from - p.list.sel) })
}
