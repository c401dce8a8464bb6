package record

import (
	"path"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/list"
)

// recordNames are the texts to find a row by: its cells, and its subject.
func (p *List[T]) recordNames(r Row[T]) []string {
	var out []string
	for _, c := range r.Cells {
		out = append(out, c.String())
	}
	if p.Kind.Field != nil {
		name := p.Kind.Field(r.Raw)
		out = append(out, name, path.Base(name))
	}
	return out
}

// jumped follows the letters among the rows that are loaded.
func (p *List[T]) jumped() tea.Cmd {
	rows := p.Window.Rows
	return list.JumpHere(&p.D.Loop, &p.jump, len(rows), p.Window.Sel, func(i int) []string { return p.recordNames(rows[i]) }, p.Move)
}

func (p *List[T]) jumpBindings() []act.Act {
	here := func(text string) bool {
		row, ok := p.Window.Current()
		return ok && list.Begins(text, p.recordNames(row))
	}
	return list.JumpKeys(&p.jump, here, func(text string) tea.Cmd {
		return p.Window.Follow(&list.Trail[Row[T]]{Word: p.D.Esc.Sprintf("%q", text), Near: func(r Row[T]) (int, bool) { return 0, list.Begins(text, p.recordNames(r)) }})
	}, func() tea.Cmd { return p.Move(p.jump.From - p.Window.Sel) })
}
