package tui

import (
	"image"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// overlay is a text over the pane: help, notices. Only one is open at a time.
type overlay struct {
	Title safetext.Text
	Pager *text.Pager
	words string    // words that filter the page's lines
	box   bool      // drawn as a box where the text has room
	help  bool      // of the keys: ? closes it
	under *overlay  // the page whose keys a help explains; nil: it is of the pane
	acts  []act.Act // of its text
}

// pages are the overlays: help, notices, messages.
type pages struct {
	a       *App
	Overlay *overlay // the open one; nil: none
}

func (ps *pages) size(o *overlay) (w, h int) {
	w, h = ps.a.Room()
	if o.box {
		w = min(w-2*dialog.BoxMargin, dialog.WidestBox) - dialog.BoxPad
	}
	return max(w-2, 8), max(h, 1)
}

// drawn is the open page: a box over the pane, or all of the pane's room.
func (ps *pages) drawn(w, h int) []string {
	o, st := ps.Overlay, ps.a.D.St
	rows := len(o.Pager.Rows)
	if !o.box || o.words != "" || rows == 0 || rows+2 > h {
		return o.Pager.Framed(w, h)
	}
	under, _ := ps.a.pane().Render(w, h)
	under = st.FillTo(under, w, h)
	inner := o.Pager.Width + 2
	dialog.PutBox(st, under, o.Pager.Framed(inner, rows), (w-inner-dialog.BoxPad)/2, (h-rows-2)/2, inner, image.Rectangle{})
	return under
}

func (ps *pages) openOverlay(title string, head []text.Line) tea.Cmd {
	return ps.a.Page(title, text.NewPage(head, ""))
}

// find keeps the lines that have all of the words, under their headings.
func (o *overlay) find(words string) tea.Cmd {
	o.words = words
	terms := strings.Fields(strings.ToLower(words))
	var out []text.Line
	heading := -1
	for i, h := range o.Pager.Text.Head {
		line := strings.ToLower(h.Name.String() + " " + h.Value.String())
		missing := slices.ContainsFunc(terms, func(w string) bool { return !strings.Contains(line, w) })
		switch {
		case h.Kind == text.Title:
			heading = i
		case missing || h.Kind == text.Blank && len(terms) > 0:
		default:
			if heading >= 0 {
				out = append(out, o.Pager.Text.Head[heading])
				heading = -1
			}
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		out = []text.Line{{Value: o.Pager.St.Esc.Const("Nothing here has these words."), Kind: text.Note}}
	}
	return o.Pager.Show(text.NewPage(out, ""), 0, text.SearchWords(words))
}

func (ps *pages) overlayKey(k tea.KeyPressMsg) tea.Cmd {
	if k.Mod.Contains(tea.ModAlt) {
		return ps.a.Split(k)
	}
	return ps.a.Press(ps.a.Keys(), k.String())
}

func (ps *pages) newOverlay(title string) *overlay {
	o := &overlay{Title: safetext.Const(title), Pager: text.New(ps.a.D.St, ps.a.D.Asker(loop.Over))}
	o.Pager.Width, o.Pager.Height = ps.size(o)
	return o
}

func (ps *pages) overlayBindings() []act.Act {
	closed := func() tea.Cmd { ps.Overlay = ps.Overlay.under; return nil }
	help := act.Act{Keys: []string{"?"}, Name: "help", Doc: "the keys of this page", Do: ps.openHelp}
	if ps.Overlay.help {
		help = act.Act{Keys: []string{"?"}, Doc: "close this page", Do: closed}
	}
	acts := slices.Clone(ps.Overlay.acts)
	for i := range acts {
		do := acts[i].Do
		acts[i].Do = func() tea.Cmd {
			side := ps.a.Side
			cmd := do()
			if ps.a.Side != side { // it has opened a list, which the page must not cover
				ps.Overlay = nil
			}
			return cmd
		}
	}
	return slices.Concat(acts, []act.Act{
		{Keys: []string{"esc", "q", "enter"}, Show: "esc", Name: "close", Doc: "close this page", Do: closed}, help,
		{Keys: []string{":"}, Name: "command", Doc: commandWords, Do: ps.a.Line.openCommand},
		{Keys: []string{"down", "j"}, Show: "Up Down", Name: "scroll", Doc: "one line down", Do: func() tea.Cmd { return ps.Overlay.Pager.Move(1) }},
		act.Undo.With(ps.a.D.Undos.Refusal, func() tea.Cmd { ps.Overlay = nil; return ps.a.D.Undos.Last() }), // the page may be of the act that it undoes
	}, act.Movement(ps.Overlay.Pager, "line"), ps.a.paneBindings())
}

func (ps *pages) overlayCrumbs() string {
	crumbs := []safetext.Text{ps.Overlay.Title}
	if ps.Overlay.words != "" {
		crumbs = append(crumbs, ps.a.D.Esc.Sprintf("/%s", ps.Overlay.words))
	}
	return ps.a.crumbLine(crumbs, ps.Overlay.Pager.Position(), ps.Overlay.Pager.Busy && ps.a.slow.said)
}

// notices is the opening box with facts to know first.
func (ps *pages) notices() *overlay {
	o := ps.newOverlay("Notices")
	o.box = !ps.a.D.Plain
	o.Pager.Width, o.Pager.Height = ps.size(o)
	o.Pager.Text = text.NewPage(ps.noticeLines(), "")
	return o
}

func (ps *pages) noticeLines() []text.Line {
	esc := ps.a.D.Esc
	var lines []text.Line
	if !ps.a.D.Spoken {
		lines = []text.Line{
			{Value: esc.Const("Before you go on"), Kind: text.Title},
			text.Advice(esc, "`esc` closes it, `:notices` shows it again."),
			{Kind: text.Blank},
		}
	}
	all := slices.Concat(ps.a.O.Notices, ps.a.O.Due)
	lines = append(lines, text.Lines(esc, text.Warn, all)...)
	if len(all) == 0 {
		lines = append(lines, text.Line{Value: esc.Const("There are no notices.")})
	}
	return lines
}

// openHelp lists the keys that work here and everywhere, from the bindings.
func (ps *pages) openHelp() tea.Cmd {
	page, name := ps.Overlay, ps.a.paneName()
	if page != nil {
		name = page.Title.String()
	}
	cmd := ps.openOverlay("Help: "+name, ps.helpLines())
	ps.Overlay.help, ps.Overlay.under = true, page
	return cmd
}

// Help is the key table of the current place. The keys of the pane do nothing on a page that covers it.
func (ps *pages) Help() []act.Section {
	if ps.Overlay != nil {
		return []act.Section{{Title: ps.Overlay.Title.String() + ", here", Acts: ps.a.Keys()}}
	}
	return []act.Section{
		{Title: ps.a.paneName() + ", here", Acts: customKeys(ps.a.O.Keys).of(append(ps.a.searchKeys(), ps.a.pane().Bindings()...))},
		{Title: "everywhere", Acts: customKeys(ps.a.O.Keys).of(ps.a.global())},
	}
}

func (ps *pages) helpLines() []text.Line {
	esc := ps.a.D.Esc
	lines := ps.readOnlyLines()
	for _, s := range ps.Help() {
		lines = append(lines, text.Line{Value: esc.Const(s.Title), Kind: text.Title})
		for _, b := range s.Acts {
			words := esc.Const(b.Doc)
			kind := text.Key
			if why := b.Reason(); why != "" {
				words = esc.Sprintf("%s (not now: %s)", words, why)
				kind = text.Note
			}
			lines = append(lines, text.Line{Name: esc.Const(b.Label()), Value: words, Kind: kind})
		}
		lines = append(lines, text.Line{Kind: text.Blank})
	}
	lines = append(lines, text.Line{Value: esc.Const("commands, after :"), Kind: text.Title})
	for _, v := range ps.a.Line.Verbs() {
		lines = append(lines, text.Line{Name: esc.Const(":" + v.Usage()), Value: esc.Const(v.Doc), Kind: text.Key})
	}
	g := ps.a.D.St.Glyphs
	gauge, _ := ps.a.D.St.Gauge(40)
	return append(lines, text.Line{Kind: text.Blank},
		text.Line{Value: esc.Const("signs"), Kind: text.Title},
		text.Line{Name: esc.Const(strings.Join([]string{g.State[paint.ToneGood], g.State[paint.ToneWarn], g.State[paint.ToneBad], g.State[paint.ToneInfo]}, " ")), Value: esc.Const("before a state: well, to be looked at, bad, without urgency")},
		desk.Field("^[ \\x9b", esc.Const("text that stands for itself only here: a control character or a byte of a store that is shown and not sent to the terminal")),
		text.Line{Name: esc.Concat(g.Up, esc.Const(" "), g.Down), Value: esc.Const("after the place in a list: there are rows above, below. On the line beside a detail: it goes on there; K and J scroll it")},
		text.Line{Name: esc.Concat(g.Fold[false], esc.Const(" "), g.Fold[true]), Value: esc.Const("before a row: it is folded, unfolded")},
		desk.Field("*", esc.Const("before a row: it is marked")),
		desk.Field("?", esc.Const("in a column: nobody knows. Before a name: no key has said that it is this person")),
		desk.Field("+", esc.Const("after a number on a tab: not everything could be looked at, so there may be more")),
		text.Line{Name: gauge, Value: esc.Const("how much of its cap the only item of a tier uses")},
		desk.Field("at least", esc.Const("counting stopped there; there may be more")),
	)
}

// readOnlyLines are the full reasons, for the help.
func (ps *pages) readOnlyLines() []text.Line {
	a := ps.a
	esc := a.D.Esc
	why, _ := a.ReadOnly()
	if why.IsEmpty() {
		return nil
	}
	lines := []text.Line{{Value: esc.Const("what cannot be changed now"), Kind: text.Title}}
	if a.D.ReadOnly != "" {
		return append(lines, text.Line{Value: why, Kind: text.Warn}, text.Line{Kind: text.Blank})
	}
	for _, m := range a.members {
		if m.Err == nil && m.Store.ReadOnly {
			lines = append(lines, text.Line{Name: esc.Line(m.Name), Value: desk.OrElse(esc.LineMax(m.Store.ReadOnlyReason, prose.MaxReason), esc.Const("read-only"))})
		}
	}
	return append(lines, text.Line{Kind: text.Blank})
}
