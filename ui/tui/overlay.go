package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

// overlayPane is the address of answers for the overlay.
const overlayPane = -1

// overlay is a text over the pane: help, notices. Only one is open at a time.
type overlay struct {
	title  safetext.Text
	pager  *pager
	lines  []headLine // all of them, when the page can be searched
	search input
	column int // of the cursor in the search
}

func (o *overlay) render(st *styles, width, height int) []string {
	out := []string{st.rule(safetext.Text{}, width)}
	switch query := o.search.text(); {
	case o.search.focus:
		r := st.row(width).blank(1)
		o.column = o.search.render(r, st.esc.Const("/"), safetext.Text{}) + 1
		out[0] = r.end()
	case query != "":
		out[0] = st.rule(st.esc.Sprintf("/%s", query), width)
	}
	for _, line := range o.pager.render(st, width-2, height-1) {
		out = append(out, " "+line+" ")
	}
	return out
}

func (a *App) openOverlay(title string, head []headLine) tea.Cmd {
	a.overlay = a.newOverlay(title)
	a.overlay.lines = head
	return a.overlay.pager.show(newText(head, ""), 0, nil)
}

// find leaves the lines that have all of the words, under their headings.
func (o *overlay) find(words string) tea.Cmd {
	o.search.set(words)
	return o.searched()
}

func (o *overlay) searched() tea.Cmd {
	terms := strings.Fields(strings.ToLower(o.search.text()))
	var out []headLine
	heading := -1
	for i, h := range o.lines {
		text := strings.ToLower(h.name.String() + " " + h.value.String())
		missing := slices.ContainsFunc(terms, func(w string) bool { return !strings.Contains(text, w) })
		switch {
		case h.kind == headTitle:
			heading = i
		case missing || h.kind == headBlank && len(terms) > 0:
		default:
			if heading >= 0 {
				out = append(out, o.lines[heading])
				heading = -1
			}
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		out = []headLine{{value: o.pager.st.esc.Const("Nothing here has these words."), kind: headNote}}
	}
	return o.pager.show(newText(out, ""), 0, searchWords(o.search.text()))
}

// overlayKey routes a keystroke of a page that lies over the pane.
func (a *App) overlayKey(k tea.KeyPressMsg) tea.Cmd {
	o := a.overlay
	if !o.search.focus {
		if k.Mod.Contains(tea.ModAlt) {
			return a.split(k)
		}
		return a.press(a.overlayBindings(), k.String())
	}
	if changed, used := o.search.key(k); used {
		if changed {
			return o.searched()
		}
		return nil
	}
	if k.Mod.Contains(tea.ModAlt) {
		return a.split(k)
	}
	return a.press(a.searchBindings(), k.String())
}

func (a *App) searchBindings() []Binding {
	o := a.overlay
	return []Binding{
		{Keys: []string{"enter"}, Hint: "to the lines", Description: "leave the search and scroll what it found", Handler: func() tea.Cmd {
			o.search.focus = false
			return nil
		}},
		{Keys: []string{"esc"}, Hint: "cancel", Description: "show all lines again", Handler: func() tea.Cmd {
			o.search.focus = false
			return o.find("")
		}},
		{Keys: []string{"down"}, Show: "Down", Description: "one line down", Handler: func() tea.Cmd { return o.pager.move(1) }},
		{Keys: []string{"up"}, Show: "Up", Description: "one line up", Handler: func() tea.Cmd { return o.pager.move(-1) }},
	}
}

func (a *App) noSearch() string {
	if a.overlay.lines == nil {
		return "this page cannot be searched"
	}
	return ""
}

func (a *App) newOverlay(title string) *overlay {
	w, h := a.room()
	p := newPager(a.d.st, a.d.asker(overlayPane))
	p.width, p.height = max(w-2, 8), max(h-1, 1)
	return &overlay{title: safetext.Const(title), pager: p}
}

func (a *App) closeOverlay() tea.Cmd {
	a.overlay = nil
	return nil
}

func (a *App) overlayBindings() []Binding {
	return slices.Concat([]Binding{
		{Keys: []string{"esc", "q", "?", "enter"}, Show: "esc", Hint: "close", Description: "close this page", Handler: a.closeOverlay},
		{Keys: []string{"/"}, Hint: "search", Description: "search this page", Disabled: a.noSearch, Handler: func() tea.Cmd {
			a.overlay.search.focus = true
			return nil
		}},
		{Keys: []string{"down", "j"}, Show: "Up Down", Hint: "scroll", Description: "one line down", Handler: func() tea.Cmd { return a.overlay.pager.move(1) }},
	}, movement(a.overlay.pager, "line"), a.paneBindings())
}

func (a *App) overlayCrumbs() string {
	return a.crumbLine([]safetext.Text{a.overlay.title}, a.overlay.pager.position(), a.overlay.pager.busy && a.slow.said)
}

// notices is the page that the console starts with when something needs to be
// known first.
func (a *App) notices() *overlay {
	o := a.newOverlay("Notices")
	o.pager.text = newText(a.noticeLines(), "")
	return o
}

func (a *App) noticeLines() []headLine {
	esc := a.d.st.esc
	lines := []headLine{
		{value: esc.Const("What you should know before you go on. esc closes this page; :notices shows it again."), kind: headNote},
		{kind: headBlank},
	}
	for _, n := range a.o.Notices {
		lines = append(lines, headLine{value: esc.LineMax(n, maxReason), kind: headWarn})
	}
	if len(a.o.Notices) == 0 {
		lines = append(lines, headLine{value: esc.Const("There are no notices.")})
	}
	return lines
}

// openHelp lists the keys that work here and everywhere, from the bindings.
func (a *App) openHelp() tea.Cmd {
	return a.openOverlay("Help: "+a.paneName(), a.helpLines())
}

// Help gives the key table of the place where the operator is.
func (a *App) Help() []Section {
	return []Section{
		{Title: a.paneName() + ", here", Bindings: a.pane().bindings()},
		{Title: "everywhere", Bindings: a.global()},
	}
}

// commandLines are the `:` commands for the help.
func (a *App) commandLines() []headLine {
	esc := a.d.st.esc
	lines := []headLine{{value: esc.Const("commands, after :"), kind: headTitle}}
	for _, v := range a.verbs() {
		lines = append(lines, headLine{name: esc.Const(strings.TrimSpace(":" + v.name + " " + v.argument)), value: esc.Const(v.about), kind: headField})
	}
	return append(lines, headLine{kind: headBlank})
}

func (a *App) helpLines() []headLine {
	esc := a.d.st.esc
	var lines []headLine
	for _, s := range a.Help() {
		lines = append(lines, headLine{value: esc.Const(s.Title), kind: headTitle})
		for _, b := range s.Bindings {
			text := esc.Const(b.Description)
			kind := headField
			if why := b.reason(); why != "" {
				text = esc.Sprintf("%s (not now: %s)", text, why)
				kind = headNote
			}
			lines = append(lines, headLine{name: esc.Const(b.label()), value: text, kind: kind})
		}
		lines = append(lines, headLine{kind: headBlank})
	}
	return append(append(lines, a.commandLines()...),
		headLine{value: esc.Const("signs"), kind: headTitle},
		headLine{name: esc.Const("^[ \\x9b"), value: esc.Const("text that stands for itself only here: a control character or a byte of a store that is shown and not sent to the terminal")},
		headLine{name: esc.Const("at least"), value: esc.Const("counting stopped there; there may be more")},
	)
}
