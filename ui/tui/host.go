package tui

import (
	"image"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// The methods of desk.Frame and dialog.Host that have no key; the others are with their keys.

func (a *App) Here() int { return a.Active }

func (a *App) Taken() bool {
	return a.Pages.Overlay != nil || a.Line.typing || a.pane().Typing() != nil || a.D.Edits.Editing != nil
}

func (a *App) Refusal() string { return a.D.ReadOnly }

func (a *App) Underneath(w, h int) (lines []string, row, about image.Rectangle) {
	about.Max.X = w
	if a.Pages.Overlay != nil {
		lines = a.Pages.drawn(w, h)
	} else {
		lines, _ = a.pane().Render(w, h)
		lines = a.D.St.FillTo(lines, w, h)
		if p, ok := a.pane().(pointable); ok {
			if list, ok := p.Listed(); ok {
				y := list.First + list.Sel - list.Top
				row = image.Rect(0, y, list.Width, y+1).Intersect(image.Rect(0, 0, w, h))
				about.Min = image.Pt(0, list.First+list.Height+1) // below the line under the list
				if list.Width < w {
					about.Min = image.Pt(list.Width+2, 0)
				}
			}
		}
	}
	cut := ansi.WcWidth
	if a.D.St.Clusters {
		cut = ansi.GraphemeWidth
	}
	if row.Dx() < w && !row.Empty() { // the box is about the row, not about the line of the detail beside it
		line := &lines[row.Min.Y]
		*line = cut.Truncate(*line, row.Max.X, "") + a.D.St.Shaded(cut.TruncateLeft(*line, row.Max.X, ""))
	}
	blank := func(line string) bool {
		return strings.TrimSpace(ansi.Strip(cut.TruncateLeft(line, about.Min.X, ""))) == ""
	}
	for about.Max.Y = h; about.Max.Y > about.Min.Y && blank(lines[about.Max.Y-1]); about.Max.Y-- {
	}
	return lines, row, about
}

func (a *App) Hush()                 { a.said.text = safetext.Text{} }
func (a *App) Saying() safetext.Text { return a.said.text }

func (a *App) News(t paint.Tone, text safetext.Text) {
	if free := a.said.text.IsEmpty() || a.said.news; !free && !a.D.Spoken {
		a.said.add(t, text)
		return
	}
	a.D.Say(t, text)
	a.said.news = true
}

func (a *App) Did(undo, undone []string) {
	a.D.Undos.Take(undone...)
	if len(undo) > 0 {
		a.D.Undos.Acts = append(a.D.Undos.Acts, undo)
	}
}

func (a *App) Changed(ok bool) tea.Cmd {
	var cmds []tea.Cmd
	if ok {
		cmds = append(cmds, a.Tiers.Changed())
	}
	if !ok || a.Side != nil || a.Active != PaneTiers {
		cmds = append(cmds, a.pane().Refresh()) // the act may have changed what is shown
	}
	if a.Side != nil && a.Active == PaneConflicts { // the pane under the outcomes
		cmds = append(cmds, a.Panes[PaneConflicts].Refresh())
	}
	return tea.Batch(cmds...)
}

func (a *App) Page(title string, page *text.Page) tea.Cmd {
	ps := &a.Pages
	ps.Overlay = ps.newOverlay(title)
	ps.Overlay.acts = page.Acts
	return ps.Overlay.Pager.Show(page, 0, nil)
}

// Front is the list on the screen, to read out.
func (a *App) Front() desk.Readout { return a.pane().(desk.Readout) }

func (a *App) Refresh() tea.Cmd { return a.pane().Refresh() }

func (a *App) Shows(address int) bool { return address == shown(a) }

// shown is the address of the list or pane on the screen.
func shown(a *App) int {
	if a.Side != nil {
		return a.Side.List.Address()
	}
	return a.Active
}

func (a *App) Beside(title string, above bool, list func(address int) desk.Listing) tea.Cmd {
	var under *Side
	if above {
		under = a.Side
	}
	a.sides++
	return a.enterSide(&Side{Title: title, List: list(loop.Over - a.sides), under: under})
}

func (a *App) RefreshSide() tea.Cmd {
	if a.Side == nil {
		return nil
	}
	return a.Refresh()
}
