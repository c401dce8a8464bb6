package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

const (
	frameLines  = 5  // bar, identity, border with breadcrumbs, status, keys
	fullBarFrom = 76 // columns of the bar with full names, without badges
)

// View draws the screen from what is in memory.
func (a *App) View() (v tea.View) {
	v.AltScreen = true
	v.WindowTitle = "memdesk"
	if !a.O.NoMouse && !a.look.paint.Bare {
		v.MouseMode = tea.MouseModeCellMotion
	}
	defer a.guardView(&v)
	if a.end.crash != "" {
		return v
	}
	if a.width == 0 || a.height == 0 {
		return v
	}
	if a.Curtain.down {
		v.Content = strings.Join(a.Curtain.lockFrame(), "\n")
		return v
	}
	if tooSmall(a) {
		v.Content = strings.Join(a.sizeNeeded(), "\n")
		return v
	}
	w, h := a.Room()
	lines := make([]string, 0, a.height)
	lines = append(lines, a.bar(), a.identity())
	var cursor *tea.Position
	if c := a.D.Edits.Page; c != nil {
		body, at := c.Render(a.D.St, w, h)
		lines = append(append(lines, a.crumbLine([]safetext.Text{safetext.Const("Edit"), c.Label()}, c.Position(), false)), body...)
		cursor = at
	} else if a.D.Modal.Dialog != nil {
		body, at := a.D.Modal.Boxed(w, h)
		lines = append(append(lines, a.crumbLine([]safetext.Text{a.D.Modal.Dialog.Title}, safetext.Text{}, a.D.Modal.Dialog.Busy)), body...) // a text has its position in the rule above it
		cursor = at
	} else if a.Line.typing && len(a.Line.rows) > 0 {
		crumbs := a.breadcrumbs
		if a.Pages.Overlay != nil {
			crumbs = a.Pages.overlayCrumbs
		}
		under, row, _ := a.Underneath(w, h)
		lines = append(append(lines, crumbs()), a.Line.over(under, row, w)...)
	} else if a.Pages.Overlay != nil {
		lines = append(lines, a.Pages.overlayCrumbs())
		lines = append(lines, a.Pages.drawn(w, h)...)
	} else {
		body, at := a.pane().Render(w, h)
		lines = append(lines, a.breadcrumbs())
		lines = append(lines, a.D.St.FillTo(body, w, h)...)
		cursor = at
	}
	status, col := a.status()
	lines = append(append(lines[:len(lines)-len(status)+1], status...), a.footer())
	if cursor != nil {
		v.Cursor = tea.NewCursor(cursor.X, cursor.Y+3)
	}
	if a.Line.typing || a.Searching() != nil {
		v.Cursor = tea.NewCursor(col, a.height-2)
	}
	if v.Cursor != nil {
		v.Cursor.Blink = false
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// sizeNeeded is the whole screen of a terminal that is too small.
func (a *App) sizeNeeded() []string {
	st := a.D.St
	text := st.Esc.Sprintf("memdesk needs %dx%d, this is %dx%d. Enlarge, or q leaves.", paint.MinWidth, minHeight, a.width, a.height)
	var lines []string
	for _, part := range st.Esc.Wrap(text, max(a.width, 1)) {
		lines = append(lines, st.Text(st.Warn, part, a.width))
	}
	if a.leave.warned {
		lines = append(lines, a.leavingLines()...)
	}
	return st.FillTo(lines, a.width, a.height)
}

type badged interface {
	Badge() (safetext.Text, paint.Tone)
}

type tab struct {
	label, badge safetext.Text
	tone         paint.Tone
}

// tabs are the entries of the bar in the longest form that fits; margin is the blanks before each.
func (a *App) tabs() (tabs []tab, margin int) {
	esc := a.D.Esc
	tabs = make([]tab, len(a.Panes))
	for form := range 4 {
		if margin = 0; form == 0 || form == 3 { // where a count stands beside a digit, panes keep more apart
			margin = 1
		}
		width := 1
		for i := range a.Panes {
			name, bind := " "+registry[i].name, " "
			switch {
			case form == 3 && i != a.Active:
				name, bind = "", ":"
			case form >= 2:
				name = " " + registry[i].short
			}
			t := tab{label: esc.Const(strconv.Itoa(i+1) + name)}
			if p, ok := a.Panes[i].(badged); ok {
				if t.badge, t.tone = p.Badge(); !t.badge.IsEmpty() {
					t.badge = esc.Sprintf("%s%s", bind, t.badge)
				}
			}
			tabs[i] = t
			badge := t.badge.Width()
			if i == PaneHealth { // names must not change with a store that goes and comes
				badge = max(badge, len(" !9"))
			}
			width += margin + t.label.Width() + badge + 1
		}
		if width <= a.width {
			break
		}
	}
	return tabs, margin
}

// bar shows all panes with their badges; brackets around the active one tell it without colour.
func (a *App) bar() string {
	st := a.D.St
	r := st.Row(a.width)
	tabs, margin := a.tabs()
	for i, t := range tabs {
		if i == a.Active {
			r.Put(st.Active, st.Esc.Sprintf("[%s%s]", t.label, t.badge)).Blank(1 - margin)
			continue
		}
		p, key := st.Plain, []paint.Stretch{{Start: 0, End: 1, Look: paint.LookCode}} // the digit is a key
		if a.Panes[i].Unavailable() != "" {
			p, key = st.Dim, nil
		}
		r.Blank(margin).Rich(p, t.label, nil, key).Put(st.Toned(t.tone), t.badge).Blank(1)
	}
	if env, production := a.Environment(); production && r.Left >= env.Width()+2 { // in production the rest of the first line is loud too
		return r.Put(st.Alarm, st.Esc.Pad(st.Esc.Sprintf(" %s", env), r.Left)).End()
	}
	return r.End()
}

// identity shows environment, operator and read-only state, and at the right the stores, with those that failed.
func (a *App) identity() string {
	st := a.D.St
	all, failed := a.storeCount()
	counts := all.Width() + failed.Width() + 1
	right := counts + 2
	r := st.Row(a.width - right)
	env, production := a.Environment()
	if env = st.Esc.Trunc(env, 24); production {
		r.Put(st.Alarm, st.Esc.Sprintf(" %s ", env)).Blank(1)
	} else {
		r.Put(st.Active, st.Esc.Sprintf(" %s ", env)).Blank(1)
	}
	why, short := a.ReadOnly()
	word, _, _ := strings.Cut(short.String(), ",")
	if why.IsEmpty() && len(a.members) > 0 {
		word = "writable"
	}
	room := r.Left - 3 - len(word) // the word for what a session may change is never cut
	name := st.Esc.Trunc(desk.OrElse(st.Esc.Line(a.O.Operator), st.Esc.Const("no name")), 24)
	note := ""
	if !a.O.Authenticated {
		notes := []string{" (unauthenticated)", " (unauth)", " " + st.Glyphs.State[paint.ToneWarn]}
		if a.width < fullBarFrom {
			notes = notes[1:]
		}
		note = notes[len(notes)-1]
		if i := slices.IndexFunc(notes, func(n string) bool { return name.Width()+len(n) <= room }); i >= 0 {
			note = notes[i]
		}
	}
	r.Put(st.Plain, st.Esc.Trunc(name, max(room-st.Esc.Const(note).Width(), 1))).Lit(st.Warn, note)
	if !why.IsEmpty() {
		r.Put(st.Dim, st.Glyphs.Dot)
		if st.Width(why) > r.Left {
			why = short
		}
		if st.Width(why) > r.Left {
			why = st.Esc.Const(word)
		}
		r.Put(st.Warn, why)
	} else if len(a.members) > 0 {
		r.Put(st.Dim, st.Glyphs.Dot).Lit(st.Dim, word)
	}
	end := st.Row(right).Blank(right - counts)
	return r.End() + end.Put(st.Plain, all).Put(st.Bad, failed).End()
}

// storeCount is the frame's summary of the stores, for half of a line at most.
func (a *App) storeCount() (all, failed safetext.Text) {
	esc := a.D.Esc
	down := a.down()
	up := len(a.members) - len(down)
	all = esc.Sprintf("%d/%s up", up, prose.Plural(len(a.members), "store"))
	if a.width < fullBarFrom {
		all = esc.Sprintf("%d/%d up", up, len(a.members))
	}
	if len(down) == 0 {
		return all, failed
	}
	if failed = esc.Sprintf("%d down", len(down)); a.width >= fullBarFrom {
		failed = esc.Sprintf("%s: %s", failed, esc.Join(down, " "))
	}
	all = esc.Sprintf("%s, ", all)
	return all, esc.Trunc(failed, a.width/2-all.Width()-3) // and the blanks around
}

// placed is a pane with a row that belongs to one store.
type placed interface {
	// StoreHere is that store; empty for a row without one.
	StoreHere() string
}

// Environment is that of the selected store, or of all without a selection; production is in capitals.
func (a *App) Environment() (words safetext.Text, production bool) {
	var names []string
	here := ""
	if p, ok := a.pane().(placed); ok {
		here = p.StoreHere()
	}
	for _, m := range a.members {
		if here != "" && m.Name != here {
			continue
		}
		if m.Environment != "" && !slices.Contains(names, m.Environment) {
			names = append(names, m.Environment)
		}
	}
	if len(names) == 0 {
		return a.D.Esc.Const("no environment"), false
	}
	parts := make([]safetext.Text, len(names))
	for i, n := range names {
		if desk.IsProduction(n) {
			n, production = strings.ToUpper(n), true
		}
		parts[i] = a.D.Esc.Line(n)
	}
	return a.D.Esc.Join(parts, "+"), production
}

// ReadOnly says that nothing, or which stores, can be changed; short points to the help, which says it whole.
func (a *App) ReadOnly() (why, short safetext.Text) {
	esc := a.D.Esc
	switch a.D.ReadOnly {
	case "":
	case ownReadOnly:
		return esc.Const("READ-ONLY: by :readonly"), esc.Const("READ-ONLY, ? says why")
	default:
		return esc.Sprintf("READ-ONLY: %s", esc.Line(a.D.ReadOnly)), esc.Const("READ-ONLY, ? says why")
	}
	var names []safetext.Text
	for _, m := range a.members {
		if m.Err == nil && m.Store.ReadOnly {
			names = append(names, esc.Line(m.Name))
		}
	}
	switch {
	case len(names) == 0:
		return safetext.Text{}, safetext.Text{}
	case len(names) == len(a.members):
		return esc.Const("READ-ONLY: every store"), esc.Const("READ-ONLY")
	}
	return esc.Sprintf("read-only: %s", esc.Join(names, " ")), esc.Sprintf("read-only, %s", prose.Plural(len(names), "store"))
}

// breadcrumbs is the border above the pane, with the title of the detail beside a list.
func (a *App) breadcrumbs() string {
	p := a.pane()
	at, busy := p.Position()
	t := paint.Title{Crumbs: append([]safetext.Text{safetext.Const(a.paneName())}, p.Crumbs()...), At: at, Busy: busy && a.slow.said, Width: a.width}
	if p, ok := p.(pointable); ok {
		list, ok := p.Listed()
		if ok && list.First == 1 && list.Width < a.width {
			t.List, t.Aside = list.Width+1, safetext.Const(list.Aside)
		}
		if ok && !at.IsEmpty() {
			t.At = a.D.Esc.Sprintf("%s%s", at, list.Beyond(a.D.St))
		}
	}
	return a.D.St.Border(t)
}

// paneName is the first breadcrumb.
func (a *App) paneName() string {
	if a.Side != nil {
		return a.Side.Title
	}
	return registry[a.Active].name
}

// crumbLine is the border above a page of the whole screen.
func (a *App) crumbLine(crumbs []safetext.Text, at safetext.Text, busy bool) string {
	return a.D.St.Border(paint.Title{Crumbs: crumbs, At: at, Busy: busy, Width: a.width})
}

// status is the line above the keys: the command line, a message, or the pane's own line. A long message has more lines.
func (a *App) status() (lines []string, cursor int) {
	st := a.D.St
	r := st.Row(a.width)
	if a.Line.typing {
		r.Blank(1)
		col := a.Line.in.Render(r, st.Esc.Const(":"), st.Esc.Const(""))
		a.Line.meaning(r)
		return []string{r.End()}, col + 1
	}
	if p := a.text(); p != nil && (p.Search.In.Focus || p.Search.Needle != nil && a.said.text.IsEmpty()) {
		line, cursor := a.searchLine(p)
		return []string{line}, cursor
	}
	if a.said.text.IsEmpty() && a.Pages.Overlay == nil && a.D.Modal.Dialog == nil {
		if trouble := a.pane().Trouble(); !trouble.IsEmpty() {
			return []string{r.Blank(1).Put(st.Bad, st.Badge(paint.ToneBad, trouble)).End()}, 0
		}
		return []string{r.Blank(1).Put(st.Dim, a.D.Work.Words()).End()}, 0
	}
	return a.message(), 0
}

// longMessage is how many lines of the screen an answer to a key may take.
const longMessage = 3

// message is what was said. An answer that is too long for the status line stands over the pane's last lines too, until
// the next key; the end of what has no room there is in :messages.
func (a *App) message() (out []string) {
	st := a.D.St
	p, room := st.Toned(a.said.tone), 1
	if !a.said.news && a.Pages.Overlay == nil && a.D.Modal.Dialog == nil && a.D.Edits.Page == nil {
		room = longMessage
	}
	lines := st.Esc.Wrap(a.said.text, a.width-2)
	for i, line := range lines {
		if i == room-1 && len(lines) > room {
			whole := st.Esc.Const(" :messages")
			r := st.Row(a.width-whole.Width()).Blank(1).Put(p, st.Esc.Sprintf("%s%s", line, paint.LeftOut(st.Esc)))
			return append(out, r.End()+st.Row(whole.Width()).Put(st.Key, whole).End())
		}
		out = append(out, st.Row(a.width).Blank(1).Put(p, line).End())
	}
	return out
}

// uncover scrolls the list so that a message covers no selected row, and back when it has gone.
func (a *App) uncover() {
	p, ok := a.pane().(pointable)
	if !ok || a.width == 0 || tooSmall(a) {
		return
	}
	list, ok := p.Listed()
	if !ok {
		return
	}
	status, _ := a.status()
	covered := len(status) - 1
	_, height := a.Room()
	free := height - covered - list.First // lines of the list without a message over them
	switch full := max(list.N-list.Height, 0); {
	case list.Sel-list.Top >= free:
		list.Scroll(list.Sel - list.Top - free + 1)
	case covered == 0 && list.Top > full: // behind its end the list leaves lines empty
		list.Scroll(full - list.Top)
	}
}

// footer shows the keys that work here. Where they do not all fit, the key of the help is the last.
func (a *App) footer() string {
	st := a.D.St
	wide := func(b act.Act) int { return st.Esc.Const(b.Label()).Width() + 1 + st.Esc.Const(b.Name).Width() }
	all := a.Keys()
	hints := slices.DeleteFunc(slices.Clone(all), func(b act.Act) bool {
		first, _ := act.Find(all, b.Keys[0])
		return b.Name == "" || first.Doc != b.Doc || b.Reason() != ""
	})
	room := a.width + 1
	for _, b := range hints {
		room -= wide(b) + 2
	}
	kept := []string{"enter", "?", "q"} // enter, the help and the way out are shown in any width
	if slices.ContainsFunc(hints, func(b act.Act) bool { return b.Keys[0] == "esc" }) {
		kept[2] = "esc"
	}
	for i := len(hints) - 1; i >= 0 && room < 0; i-- {
		if !slices.Contains(kept, hints[i].Keys[0]) {
			room += wide(hints[i]) + 2
			hints = slices.Delete(hints, i, i+1)
		}
	}
	r := st.Row(a.width).Blank(1)
	for i, b := range hints {
		if i > 0 {
			r.Blank(2)
		}
		r.Put(st.Key, st.Esc.Const(b.Label())).Blank(1).Put(st.Hint, st.Esc.Const(b.Name))
	}
	return r.End()
}

// Keys are the bindings of the current place, in order of precedence.
func (a *App) Keys() []act.Act {
	switch {
	case a.D.Edits.Page != nil:
		return a.D.Edits.Page.Bindings()
	case a.D.Modal.Dialog != nil:
		return a.D.Modal.Bindings()
	case a.Line.typing:
		return a.Line.commandBindings()
	case a.Searching() != nil:
		return a.SearchLineKeys(a.Searching())
	case a.Pages.Overlay != nil:
		return customKeys(a.O.Keys).of(append(a.searchKeys(), a.Pages.overlayBindings()...))
	case a.pane().Typing() != nil:
		return a.pane().Bindings()
	}
	return customKeys(a.O.Keys).of(slices.Concat(a.searchKeys(), a.pane().Bindings(), a.global()))
}
