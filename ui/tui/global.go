package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/keys"
)

// paneBindings are the numbers of the panes; they close what lies over a pane.
func (a *App) paneBindings() []keys.Binding {
	var out []keys.Binding
	for i := range a.panes {
		out = append(out, keys.Binding{
			Keys: []string{string(rune('1' + i))}, Description: "the " + registry[i].name + " pane",
			Disabled: a.panes[i].unavailable,
			Handler: func() tea.Cmd {
				a.pages.overlay = nil
				return a.enter(i)
			},
		})
	}
	return out
}

// commandWords describe the key of the command line, wherever it stands.
const commandWords = "a command, with completion and history; the help lists them"

// global are the keys that work everywhere.
func (a *App) global() []keys.Binding {
	return append(a.paneBindings(),
		keys.Binding{Keys: []string{"esc"}, Hint: "back", Description: "one level back, keeping the place", Disabled: a.outermost, Handler: a.back},
		keys.Binding{Keys: []string{"tab"}, Description: "the next pane that is available", Handler: func() tea.Cmd { return a.cycle(1) }},
		keys.Binding{Keys: []string{"shift+tab"}, Description: "the pane before", Handler: func() tea.Cmd { return a.cycle(-1) }},
		keys.Binding{Keys: []string{"z"}, Description: "undo the last act of this session; :undo lists earlier ones", Disabled: a.d.undos.noUndo, Handler: a.d.undos.undoLast},
		keys.Binding{Keys: []string{"ctrl+r", "f5"}, Hint: "refresh", Description: "ask the stores again for what is shown", Handler: func() tea.Cmd { return a.pane().refresh() }},
		keys.Binding{Keys: []string{":"}, Hint: "command", Description: commandWords, Handler: a.line.openCommand},
		keys.Binding{Keys: []string{"?"}, Hint: "help", Description: "the keys that work here", Handler: a.pages.openHelp},
		keys.Binding{Keys: []string{"ctrl+z"}, Description: "suspend memdesk; fg in the shell comes back", Disabled: a.noSuspend, Handler: func() tea.Cmd { return tea.Suspend }},
		keys.Binding{Keys: []string{"q"}, Hint: "leave", Description: "leave memdesk; asks first while work of this session is under way", Handler: a.d.work.leave},
		keys.Binding{Keys: []string{"ctrl+c"}, Description: "leave memdesk, from anywhere; pressed twice without a question", Handler: a.d.work.interrupt},
	)
}

func (a *App) outermost() string {
	if a.side == nil && a.pane().outermost() {
		return "nothing to go back to (q to quit)"
	}
	return ""
}

// noSuspend says why there is no shell to go back to.
func (a *App) noSuspend() string {
	if !a.d.shell {
		return "there is no shell behind this session"
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
		n = (n + by + len(a.panes)) % len(a.panes)
		if n == a.active || a.panes[n].unavailable() == "" {
			return a.enter(n)
		}
	}
}
