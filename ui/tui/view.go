package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/paint"
)

// view is a list as it was left, under a name. Views live as long as the session: a
// filter may name a person, and an erasure could not reach it in a file.
type view struct {
	name, query string
	pane        int
	sorted      sorting
	place       scopeOf // of a list of items
	wide        bool
}

// viewed is a pane that a view can keep and bring back.
type viewed interface {
	keep(v *view)
	bring(v view) tea.Cmd
}

func (p *records[T]) keep(v *view) { v.query, v.sorted = p.query, p.sorted }

func (p *records[T]) bring(v view) tea.Cmd {
	p.full, p.sorted = false, v.sorted
	return p.apply(v.query)
}

func (p *tiers) keep(v *view) {
	v.query = p.overview.query
	if p.level != levelOverview {
		v.place, v.query = p.items.at, p.items.query
	}
}

func (p *tiers) bring(v view) tea.Cmd {
	if v.place.store == "" {
		p.level = levelOverview
		return p.overview.apply(v.query)
	}
	return tea.Batch(p.openList(v.place), p.items.narrow(v.query))
}

// saveView keeps what the pane shows under a name; the same name keeps it anew.
func (l *commandLine) saveView(name string) tea.Cmd {
	a, esc := l.a, l.d.st.Esc
	p, ok := a.pane().(viewed)
	switch {
	case name == "" || strings.Contains(name, " "):
		a.say(paint.ToneWarn, esc.Const("say one word to keep this view under: :save mine"))
		return nil
	case !ok || a.side != nil:
		a.say(paint.ToneWarn, esc.Const("this list cannot be kept as a view"))
		return nil
	}
	v := view{name: name, pane: a.active, wide: l.d.wide}
	p.keep(&v)
	l.views = append(slices.DeleteFunc(l.views, func(o view) bool { return o.name == name }), v)
	a.say(paint.ToneInfo, esc.Sprintf("kept as %s for this session: :view %s brings it back", name, name))
	return nil
}

// openView brings a kept view back.
func (l *commandLine) openView(name string) tea.Cmd {
	a, esc := l.a, l.d.st.Esc
	i := slices.IndexFunc(l.views, func(v view) bool { return v.name == name })
	if i < 0 {
		a.say(paint.ToneWarn, esc.Sprintf("there is no view %q; :save keeps one", name))
		return nil
	}
	v := l.views[i]
	var cmds []tea.Cmd
	if v.wide != l.d.wide {
		cmds = append(cmds, a.widen())
	}
	cmds = append(cmds, a.enter(v.pane))
	if p, ok := a.pane().(viewed); ok {
		cmds = append(cmds, p.bring(v))
	}
	return tea.Batch(cmds...)
}

func (l *commandLine) viewNames() []string {
	var out []string
	for _, v := range l.views {
		out = append(out, v.name)
	}
	return out
}
