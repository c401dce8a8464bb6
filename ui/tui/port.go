package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// port is the frame as what stands in it sees it.
type port struct{ a *App }

func (p port) room() (width, height int) { return p.a.room() }

func (p port) here() int { return p.a.active }

func (p port) taken() bool {
	a := p.a
	return a.pages.overlay != nil || a.line.typing || a.pane().typing() != nil || a.d.edits.editing != nil
}

func (p port) refusal() string { return p.a.d.readOnly }

func (p port) underneath(w, h int) (lines []string, row int) {
	a := p.a
	if a.pages.overlay != nil {
		return a.pages.drawn(w, h), -1
	}
	lines, _ = a.pane().render(w, h)
	if p, ok := a.pane().(pointable); ok {
		if list, ok := p.listed(); ok {
			row = list.first + list.sel - list.top
		}
	}
	return a.d.st.FillTo(lines, w, h), row
}

func (p port) hush()                 { p.a.said.text = safetext.Text{} }
func (p port) saying() safetext.Text { return p.a.said.text }
func (p port) note(t safetext.Text)  { p.a.note(t) }

func (p port) press(bindings []act.Act, name string) tea.Cmd { return p.a.press(bindings, name) }
func (p port) split(k tea.KeyPressMsg) tea.Cmd               { return p.a.split(k) }
func (p port) refuse(b act.Act, why string) tea.Cmd          { return p.a.refuse(b, why) }

func (p port) searching() *text.Pager                             { return p.a.searching() }
func (p port) searchKey(t *text.Pager, k tea.KeyPressMsg) tea.Cmd { return p.a.searchKey(t, k) }
func (p port) searchLineKeys(t *text.Pager) []act.Act             { return p.a.searchLineKeys(t) }

func (p port) did(undo, undone []string) {
	for _, id := range undone {
		p.a.d.undos.takeUndo(id)
	}
	if len(undo) > 0 {
		p.a.d.undos.acts = append(p.a.d.undos.acts, undo)
	}
}

func (p port) changed(ok bool) tea.Cmd {
	a := p.a
	var cmds []tea.Cmd
	if ok {
		cmds = append(cmds, a.tiers.changed())
	}
	if !ok || a.side != nil || a.active != paneTiers {
		cmds = append(cmds, a.pane().refresh()) // what is shown may be what has changed
	}
	if a.side != nil && a.active == paneConflicts { // what lies under the outcomes
		cmds = append(cmds, a.panes[paneConflicts].refresh())
	}
	return tea.Batch(cmds...)
}

func (p port) page(title string, page *text.Page) tea.Cmd {
	ps := &p.a.pages
	ps.overlay = ps.newOverlay(title)
	return ps.overlay.pager.Show(page, 0, nil)
}

func (p port) enter(pane int) tea.Cmd { return p.a.enter(pane) }
func (p port) refresh() tea.Cmd       { return p.a.pane().refresh() }

func (p port) shows(address int) bool {
	if p.a.side != nil {
		return p.a.side.list.address() == address
	}
	return p.a.active == address
}

func (p port) beside(title string, above bool, list func(address int) listing) tea.Cmd {
	a, under := p.a, (*side)(nil)
	if above {
		under = a.side
	}
	a.sides++
	a.side = &side{title: title, list: list(overlayPane - a.sides), under: under}
	w, h := a.room()
	return tea.Batch(a.side.list.resize(w, h), a.side.list.enter())
}

func (p port) hasSide() bool { return p.a.side != nil }
