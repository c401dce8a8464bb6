package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// reads is a pane that can have one text on the whole screen.
type reads interface {
	// OnScreen is the pager of that text; nil while there is none.
	OnScreen() *text.Pager
}

// text is the text on the whole screen; nil for a list.
func (a *App) text() *text.Pager {
	switch {
	case a.D.Modal.Dialog != nil:
		return a.D.Modal.Dialog.Pager
	case a.Pages.Overlay != nil:
		return a.Pages.Overlay.Pager
	}
	if p, ok := a.pane().(reads); ok {
		return p.OnScreen()
	}
	return nil
}

func (a *App) Searching() *text.Pager {
	if p := a.text(); p != nil && p.Search.In.Focus {
		return p
	}
	return nil
}

// searchKeys search the text on the screen, before the keys of the place: n is the next match.
func (a *App) searchKeys() []act.Act {
	p := a.text()
	if p == nil {
		return nil
	}
	return text.TextKeys(p)
}

func (a *App) SearchLineKeys(p *text.Pager) []act.Act {
	nothing := func() string { return act.When(p.Search.Needle == nil, "type what to look for first") }
	return []act.Act{
		{Keys: []string{"enter"}, Name: "stay here", Doc: "stay at the match; n and N go to the others", Do: func() tea.Cmd {
			p.Search.In.Focus = false
			switch {
			case p.Search.Needle == nil:
			case p.Search.Found != nil && p.Search.Found.Total == 0:
				a.D.Tell("not found: %s", p.Search.Words)
			default:
				return nil
			}
			return p.EndSearch()
		}},
		{Keys: []string{"down"}, Show: "Down Up", Name: "other matches", Doc: "to the next match of what is typed", Why: nothing, Do: func() tea.Cmd { return p.Hop(false) }},
		{Keys: []string{"up"}, Show: "Up", Doc: "to the match before of what is typed", Why: nothing, Do: func() tea.Cmd { return p.Hop(true) }},
		{Keys: []string{"esc"}, Name: "back", Doc: "end the search, back to where it began", Do: func() tea.Cmd {
			at := p.Search.Origin
			cmd := p.EndSearch()
			if p.Text == nil {
				return cmd
			}
			return p.LayOut(at, 0, false)
		}},
	}
}

// SearchKey routes a keystroke while words are typed.
func (a *App) SearchKey(p *text.Pager, k tea.KeyPressMsg) tea.Cmd {
	return a.typed(&p.Search.In, k, p.Searched, func() []act.Act { return a.SearchLineKeys(p) })
}

// searchLine replaces the status during a search, with the match's number at its right; cursor is where one types.
func (a *App) searchLine(p *text.Pager) (line string, cursor int) {
	st := a.D.St
	tally := p.Search.Tally(st.Esc)
	if p.Search.In.Focus && !a.said.text.IsEmpty() {
		tally = a.said.text // why a key does not work, what was pasted
	}
	right := min(tally.Width()+2, a.width*3/4)
	r := st.Row(a.width - right).Blank(1)
	if p.Search.In.Focus {
		cursor = p.Search.In.Render(r, st.Esc.Const("/"), safetext.Text{}) + 1
	} else {
		r.Put(st.Key, st.Esc.Const("/")).Put(st.Plain, st.Esc.Line(p.Search.Words))
	}
	paint := st.Strong
	if p.Search.Found != nil && p.Search.Found.Total == 0 {
		paint = st.Warn
	}
	return r.End() + st.Row(right).Number(paint, tally, right-1).End(), cursor
}
