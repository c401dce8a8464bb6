package tui

import tea "charm.land/bubbletea/v2"

// paneBindings are the numbers of the panes; they close what lies over a pane.
func (a *App) paneBindings() []Binding {
	var out []Binding
	for i := range a.panes {
		out = append(out, Binding{
			Keys: []string{string(rune('1' + i))}, Description: "the " + paneNames[i] + " pane",
			Disabled: a.panes[i].unavailable,
			Handler: func() tea.Cmd {
				a.overlay = nil
				return a.enter(i)
			},
		})
	}
	return out
}

// commandWords describe the key of the command line, wherever it stands.
const commandWords = "a command, with completion and history; the help lists them"

// global are the keys that work everywhere.
func (a *App) global() []Binding {
	return append(a.paneBindings(),
		Binding{Keys: []string{"esc"}, Hint: "back", Description: "one level back, keeping the place", Disabled: a.outermost, Handler: a.back},
		Binding{Keys: []string{"tab"}, Description: "the next pane that is available", Handler: func() tea.Cmd { return a.cycle(1) }},
		Binding{Keys: []string{"shift+tab"}, Description: "the pane before", Handler: func() tea.Cmd { return a.cycle(-1) }},
		Binding{Keys: []string{"z"}, Description: "undo the last act of this session; :undo lists earlier ones", Disabled: a.noUndo, Handler: a.undoLast},
		Binding{Keys: []string{"ctrl+r"}, Hint: "refresh", Description: "ask the stores again for what is shown", Handler: func() tea.Cmd { return a.pane().refresh() }},
		Binding{Keys: []string{":"}, Hint: "command", Description: commandWords, Handler: a.openCommand},
		Binding{Keys: []string{"?"}, Hint: "help", Description: "the keys that work here", Handler: a.openHelp},
		Binding{Keys: []string{"q"}, Hint: "leave", Description: "leave memdesk; asks first while work of this session is under way", Handler: a.leave},
		Binding{Keys: []string{"ctrl+c"}, Description: "leave memdesk, from anywhere; pressed twice without a question", Handler: a.interrupt},
	)
}

func (a *App) outermost() string {
	if a.side == nil && a.pane().outermost() {
		return "nothing to go back to (q to quit)"
	}
	return ""
}

func (a *App) back() tea.Cmd {
	if a.side != nil && a.side.list.outermost() {
		return a.closeSide()
	}
	return a.pane().back()
}

func (a *App) cycle(by int) tea.Cmd {
	for n := a.active; ; {
		n = (n + by + paneCount) % paneCount
		if n == a.active || a.panes[n].unavailable() == "" {
			return a.enter(n)
		}
	}
}
