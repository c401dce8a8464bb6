package tui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/text"
)

// viewed is a pane whose list can be kept as a view. The views of the session are in memory only, since a filter may name a
// person and no erasure reaches a file of memdesk's; what lasts, the operator writes into the configuration.
type viewed interface {
	Keep() backends.ViewConfig
	// Bring shows the view; where it cannot, it says why and changes nothing.
	Bring(backends.ViewConfig) (cmd tea.Cmd, ok bool)
	// CheckView names the key that the pane cannot take.
	CheckView(backends.ViewConfig) (key string, err error)
}

// paneNamed is the number of a pane by its name in a view.
func paneNamed(name string) int {
	return slices.IndexFunc(registry, func(r registered) bool { return strings.ToLower(r.name) == name })
}

// oneWord reports whether :view can be typed for a name.
func oneWord(name string) bool { return name != "" && !strings.ContainsFunc(name, unicode.IsSpace) }

// CheckViews finds a configured view that cannot be brought, and its key at fault; empty: the whole view.
func CheckViews(views map[string]backends.ViewConfig) (name, key string, err error) {
	if len(views) == 0 { // no work at the start of a console without views
		return "", "", nil
	}
	a := NewApp(context.Background(), Options{Sources: desk.Sources{Origins: struct{ desk.OriginSource }{}}}) // with all columns
	for _, name := range slices.Sorted(maps.Keys(views)) {
		v := views[name]
		var wrong error
		n := paneNamed(v.Pane)
		switch {
		case !oneWord(name):
			wrong = errors.New("the name of a view is one word")
		case n < 0:
			var names []string
			for _, r := range registry {
				names = append(names, strings.ToLower(r.name))
			}
			key, wrong = "pane", fmt.Errorf("there is no pane %q; there are %s", v.Pane, strings.Join(names, ", "))
		case n != PaneTiers && (v.Store+v.Tier+v.Scope != "" || v.Hidden):
			wrong = errors.New("store, tier, scope and hidden are for views of the tiers pane; others filter")
		default:
			key, wrong = a.Panes[n].(viewed).CheckView(v)
		}
		if wrong != nil {
			return name, key, fmt.Errorf("[ui.views] %s: %w", name, wrong)
		}
	}
	return "", "", nil
}

// saveView keeps the pane's list under a name; the same name replaces it. A page says how to keep it for good.
func (l *commandLine) saveView(name string) tea.Cmd {
	a := l.a
	switch {
	case !oneWord(name):
		return a.D.Warn("say one word to keep this view under: :save mine")
	case a.Side != nil:
		return a.D.Warn("this list cannot be kept as a view")
	}
	v := a.pane().(viewed).Keep()
	v.Pane, v.Wide = strings.ToLower(registry[a.Active].name), a.D.Wide
	lines, err := v.Lines(name)
	if err != nil {
		return a.D.Warn("not kept: %s", a.D.Esc.Err(err))
	}
	l.views[name] = v
	esc := a.D.Esc
	lasts := "To keep it for good, add these lines to config.toml, which `memdesk config path` finds"
	if !a.D.Spoken {
		lasts += "; `y` copies them"
	}
	head := []text.Line{
		{Value: esc.Sprintf("Kept as %s for this session: :view %s brings it back", name, name), Kind: text.Title},
		text.Advice(esc, lasts+"."),
		{Kind: text.Blank},
	}
	page := text.NewPage(append(head, text.Lines(esc, text.Field, strings.Split(strings.TrimSpace(lines), "\n"))...), "")
	page.Acts = []act.Act{{Keys: []string{"y"}, Name: "copy text", Doc: "copy these lines to the clipboard of the terminal", Do: func() tea.Cmd { return a.D.CopyText(esc.Const("the lines"), lines) }}}
	return a.Page("View", page)
}

func (l *commandLine) openView(name string) tea.Cmd {
	cmd, _ := l.bring(name)
	return cmd
}

// bring shows a view; where it cannot, cmd says why.
func (l *commandLine) bring(name string) (cmd tea.Cmd, ok bool) {
	a := l.a
	v, ok := l.views[name]
	n := paneNamed(v.Pane)
	switch {
	case name == "":
		return a.D.Warn("say which view: :view mine"), false
	case !ok:
		return a.D.Warn("there is no view %q; :save keeps one", name), false
	case a.Panes[n].Unavailable() != "":
		return a.D.Warn("%s", a.Panes[n].Unavailable()), false
	}
	bring, ok := a.Panes[n].(viewed).Bring(v) // first: a list that is entered for the first time asks only where nothing was asked yet
	if !ok {
		return bring, false
	}
	cmds := []tea.Cmd{bring}
	if v.Wide != a.D.Wide {
		cmds = append(cmds, a.widen())
	}
	return tea.Batch(append(cmds, a.Enter(n))...), true
}

func (l *commandLine) viewNames() []string { return slices.Sorted(maps.Keys(l.views)) }

// viewWords say what a view shows, as the line above its list does.
func (l *commandLine) viewWords(name string) string {
	v := l.views[name]
	words := v.Pane
	if v.Store != "" {
		words += " " + strings.Join(slices.DeleteFunc([]string{v.Store, v.Scope, v.Tier}, func(s string) bool { return s == "" }), " ")
	}
	if v.Filter != "" {
		words += ", /" + v.Filter
	}
	if v.Order != "" {
		words += ", by " + strings.TrimPrefix(v.Order, "by ")
	}
	if v.Hidden {
		words += ", with hidden"
	}
	if v.Wide {
		words += ", the list alone"
	}
	return words
}
