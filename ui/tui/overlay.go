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
	title safetext.Text
	pager *pager
	words string // the page was left with the lines that have them
}

func (o *overlay) render(st *styles, width, height int) []string {
	out := []string{st.rule(safetext.Text{}, width)}
	if o.words != "" {
		out[0] = st.rule(st.esc.Sprintf("/%s", o.words), width)
	}
	return append(out, o.pager.framed(st, width, height-1)...)
}

func (a *App) openOverlay(title string, head []headLine) tea.Cmd {
	a.overlay = a.newOverlay(title)
	return a.overlay.pager.show(newText(head, ""), 0, nil)
}

// find leaves the lines that have all of the words, under their headings.
func (o *overlay) find(words string) tea.Cmd {
	o.words = words
	terms := strings.Fields(strings.ToLower(words))
	var out []headLine
	heading := -1
	for i, h := range o.pager.text.head {
		text := strings.ToLower(h.name.String() + " " + h.value.String())
		missing := slices.ContainsFunc(terms, func(w string) bool { return !strings.Contains(text, w) })
		switch {
		case h.kind == headTitle:
			heading = i
		case missing || h.kind == headBlank && len(terms) > 0:
		default:
			if heading >= 0 {
				out = append(out, o.pager.text.head[heading])
				heading = -1
			}
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		out = []headLine{{value: o.pager.st.esc.Const("Nothing here has these words."), kind: headNote}}
	}
	return o.pager.show(newText(out, ""), 0, searchWords(words))
}

// overlayKey routes a keystroke of a page that lies over the pane.
func (a *App) overlayKey(k tea.KeyPressMsg) tea.Cmd {
	if k.Mod.Contains(tea.ModAlt) {
		return a.split(k)
	}
	return a.press(a.here(), k.String())
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
		{Keys: []string{":"}, Hint: "command", Description: commandWords, Handler: a.openCommand},
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
		{Title: a.paneName() + ", here", Bindings: append(a.searchKeys(), a.pane().bindings()...)},
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
	lines := a.readOnlyLines()
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
		headLine{name: esc.Concat(a.d.st.glyphs.up, esc.Const(" "), a.d.st.glyphs.down), value: esc.Const("on the line beside a detail: it goes on above, below; K and J scroll it")},
		headLine{name: esc.Const("at least"), value: esc.Const("counting stopped there; there may be more")},
	)
}
