package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// view is a saved list. It lives for the session: a filter may name a person, and no erasure reaches a file.
type view struct {
	name  string
	pane  int
	wide  bool
	bring func() tea.Cmd // shows the saved list
}

// viewed is a pane that can be saved: Keep returns a function that restores its current list.
type viewed interface{ Keep() (bring func() tea.Cmd) }

// saveView saves the pane's list under a name; the same name replaces it.
func (l *commandLine) saveView(name string) tea.Cmd {
	a := l.a
	p, ok := a.pane().(viewed)
	switch {
	case name == "" || strings.Contains(name, " "):
		return a.D.Warn("say one word to keep this view under: :save mine")
	case !ok || a.Side != nil:
		return a.D.Warn("this list cannot be kept as a view")
	}
	v := view{name: name, pane: a.Active, wide: l.a.D.Wide, bring: p.Keep()}
	l.views = append(slices.DeleteFunc(l.views, func(o view) bool { return o.name == name }), v)
	return a.D.Tell("kept as %s for this session: :view %s brings it back", name, name)
}

func (l *commandLine) openView(name string) tea.Cmd {
	a := l.a
	i := slices.IndexFunc(l.views, func(v view) bool { return v.name == name })
	switch {
	case name == "":
		return a.D.Warn("say which view: :view mine")
	case i < 0:
		return a.D.Warn("there is no view %q; :save keeps one", name)
	}
	v := l.views[i]
	var cmds []tea.Cmd
	if v.wide != l.a.D.Wide {
		cmds = append(cmds, a.widen())
	}
	bring := v.bring() // first: a list that is entered for the first time asks only where nothing was asked yet
	return tea.Batch(append(cmds, bring, a.Enter(v.pane))...)
}

func (l *commandLine) viewNames() []string {
	var out []string
	for _, v := range l.views {
		out = append(out, v.name)
	}
	return out
}
