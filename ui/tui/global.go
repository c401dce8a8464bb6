package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
)

// also says what a pane's number does beside opening it.
var also = map[int]string{PaneConflicts: "; from an item with a conflict, at that conflict"}

// paneBindings are the number keys of the panes; they close overlays.
func (a *App) paneBindings() []act.Act {
	var out []act.Act
	for i := range a.Panes {
		out = append(out, act.Act{
			Keys: []string{string(rune('1' + i))}, Doc: "the " + registry[i].name + " pane" + also[i],
			Why: a.Panes[i].Unavailable,
			Do: func() tea.Cmd {
				a.Pages.Overlay = nil
				var found tea.Cmd
				if p, ok := a.pane().(interface{ ItemHere() model.Ref }); ok && i == PaneConflicts && a.D.Part(p.ItemHere()) != "" {
					found = a.conflict(p.ItemHere()) // before the list is asked for again
				}
				return tea.Batch(found, a.Enter(i))
			},
		})
	}
	return out
}

// commandWords describe the command line's key.
const commandWords = "a command, with completion and history; the help lists them"

func (a *App) global() []act.Act {
	leaves := "q"
	if a.D.Spoken {
		leaves = "quit"
	}
	return append(append(a.paneBindings(),
		act.Back.With(func() string {
			return act.When(a.Side == nil && a.pane().Outermost(), "nothing to go back to ("+leaves+" leaves)")
		}, a.back),
		act.Act{Keys: []string{"tab"}, Doc: "the next pane that is available", Do: func() tea.Cmd { return a.cycle(1) }},
		act.Act{Keys: []string{"shift+tab"}, Doc: "the pane before", Do: func() tea.Cmd { return a.cycle(-1) }},
		act.Undo.With(a.D.Undos.Refusal, a.D.Undos.Last),
		act.Refresh.With(nil, func() tea.Cmd { return a.pane().Refresh() }),
		act.Act{Keys: []string{"ctrl+s"}, Doc: "freeze the lists, which change by themselves otherwise, or let them go on", Do: a.freeze},
		act.Act{Keys: []string{"ctrl+w"}, Doc: "the list alone, or with its detail again", Do: a.widen},
		act.Act{Keys: []string{":"}, Name: "command", Doc: commandWords, Do: a.Line.openCommand},
		act.Help.With(nil, a.Pages.openHelp),
		act.Act{Keys: []string{"ctrl+z"}, Doc: "suspend memdesk; fg in the shell comes back", Why: func() string { return act.When(!a.D.Shell, "there is no shell behind this session") }, Do: func() tea.Cmd { return tea.Suspend }},
		act.Act{Keys: []string{"q"}, Name: "leave", Doc: "leave memdesk; asks first while work of this session is under way", Do: a.leave.leave},
		act.Act{Keys: []string{"ctrl+c"}, Doc: "leave memdesk, from anywhere; pressed twice without a question", Do: a.leave.interrupt},
	), customKeys(a.O.Keys).hotkeys(&a.Line)...)
}

func (a *App) back() tea.Cmd {
	if o := a.from; o != nil && a.Side == nil && a.Tiers.Depth() == o.depth && !a.Tiers.Filtered() { // to where the place was opened
		cmd := tea.Batch(a.Tiers.Back(), a.Enter(o.pane))
		if o.side != nil {
			cmd = tea.Batch(cmd, a.enterSide(o.side))
		}
		return cmd
	}
	if a.Side != nil && a.Side.List.Outermost() {
		cmd := a.CloseSide()
		if a.Side == nil { // acts in the list may have changed the pane
			cmd = tea.Batch(cmd, a.pane().Refresh())
		}
		return cmd
	}
	return a.pane().Back()
}

func (a *App) cycle(by int) tea.Cmd {
	for n := a.Active; ; {
		n = (n + by + len(a.Panes)) % len(a.Panes)
		if n == a.Active || a.Panes[n].Unavailable() == "" {
			return a.Enter(n)
		}
	}
}

// widen gives the list the whole width, or takes that back.
func (a *App) widen() tea.Cmd {
	a.D.Wide = !a.D.Wide
	return a.resize(a.width, a.height)
}

// freeze stops the refresh of all lists, or resumes it.
func (a *App) freeze() tea.Cmd {
	f := &a.D.AutoRefresh.Frozen
	if *f = !*f; *f {
		return a.D.Tell("lists stand still until the same key is pressed again")
	}
	a.D.Tell("lists are live again")
	return a.pane().Refresh()
}
