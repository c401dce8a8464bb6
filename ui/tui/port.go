package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/text"
)

// port is the frame as what stands in it sees it.
type port struct{ a *App }

func (p port) Room() (width, height int) { return p.a.room() }

func (p port) Here() int { return p.a.Active }

func (p port) Taken() bool {
	a := p.a
	return a.Pages.Overlay != nil || a.Line.typing || a.pane().Typing() != nil || a.D.Edits.Editing != nil
}

func (p port) Refusal() string { return p.a.D.ReadOnly }

func (p port) Underneath(w, h int) (lines []string, row int) {
	a := p.a
	if a.Pages.Overlay != nil {
		return a.Pages.drawn(w, h), -1
	}
	lines, _ = a.pane().Render(w, h)
	if p, ok := a.pane().(pointable); ok {
		if list, ok := p.Listed(); ok {
			row = list.First + list.Sel - list.Top
		}
	}
	return a.D.St.FillTo(lines, w, h), row
}

func (p port) Hush()                 { p.a.said.text = safetext.Text{} }
func (p port) Saying() safetext.Text { return p.a.said.text }
func (p port) Note(t safetext.Text)  { p.a.note(t) }

func (p port) Press(bindings []act.Act, name string) tea.Cmd { return p.a.press(bindings, name) }
func (p port) Split(k tea.KeyPressMsg) tea.Cmd               { return p.a.split(k) }
func (p port) Refuse(b act.Act, why string) tea.Cmd          { return p.a.refuse(b, why) }

func (p port) Searching() *text.Pager                             { return p.a.searching() }
func (p port) SearchKey(t *text.Pager, k tea.KeyPressMsg) tea.Cmd { return p.a.searchKey(t, k) }
func (p port) SearchLineKeys(t *text.Pager) []act.Act             { return p.a.searchLineKeys(t) }

func (p port) Did(undo, undone []string) {
	for _, id := range undone {
		p.a.D.Undos.Take(id)
	}
	if len(undo) > 0 {
		p.a.D.Undos.Acts = append(p.a.D.Undos.Acts, undo)
	}
}

func (p port) Changed(ok bool) tea.Cmd {
	a := p.a
	var cmds []tea.Cmd
	if ok {
		cmds = append(cmds, a.Tiers.Changed())
	}
	if !ok || a.Side != nil || a.Active != PaneTiers {
		cmds = append(cmds, a.pane().Refresh()) // what is shown may be what has changed
	}
	if a.Side != nil && a.Active == PaneConflicts { // what lies under the outcomes
		cmds = append(cmds, a.Panes[PaneConflicts].Refresh())
	}
	return tea.Batch(cmds...)
}

func (p port) Page(title string, page *text.Page) tea.Cmd {
	ps := &p.a.Pages
	ps.Overlay = ps.newOverlay(title)
	return ps.Overlay.Pager.Show(page, 0, nil)
}

func (p port) Enter(pane int) tea.Cmd { return p.a.enter(pane) }
func (p port) Refresh() tea.Cmd       { return p.a.pane().Refresh() }

func (p port) Shows(address int) bool {
	if p.a.Side != nil {
		return p.a.Side.List.Address() == address
	}
	return p.a.Active == address
}

func (p port) Beside(title string, above bool, list func(address int) desk.Listing) tea.Cmd {
	a, under := p.a, (*Side)(nil)
	if above {
		under = a.Side
	}
	a.sides++
	a.Side = &Side{Title: title, List: list(loop.Over - a.sides), under: under}
	w, h := a.room()
	return tea.Batch(a.Side.List.Resize(w, h), a.Side.List.Enter())
}

func (p port) HasSide() bool { return p.a.Side != nil }
