package tui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

var paneNames = [paneCount]string{"Health", "Tiers", "Recall", "Quarantine", "Conflicts", "Erasure", "Audit"}

// shortNames stand in the bar below the width that the full names need.
var shortNames = [paneCount]string{"Health", "Tiers", "Recall", "Quar", "Conf", "Erase", "Audit"}

const (
	frameLines  = 5  // bar, identity, breadcrumbs, status, keys
	fullBarFrom = 76 // columns that the bar with full names takes
)

// View draws the screen from what is in memory.
func (a *App) View() (v tea.View) {
	v.AltScreen = true
	v.WindowTitle = "memdesk"
	defer a.guardView(&v)
	if a.crash != "" {
		return v
	}
	if a.width == 0 || a.height == 0 {
		return v
	}
	if a.locked {
		v.Content = strings.Join(a.lockFrame(), "\n")
		return v
	}
	if a.tooSmall() {
		v.Content = strings.Join(a.sizeNeeded(), "\n")
		return v
	}
	w, h := a.room()
	lines := make([]string, 0, a.height)
	lines = append(lines, a.bar(), a.identity())
	var cursor *tea.Position
	if a.dialog != nil {
		body, at := a.dialog.render(a.d.st, w, h)
		lines = append(append(lines, a.dialogCrumbs()), body...)
		cursor = at
	} else if a.overlay != nil {
		lines = append(lines, a.overlayCrumbs())
		lines = append(lines, a.overlay.render(a.d.st, w, h)...)
	} else {
		body, at := a.pane().render(w, h)
		lines = append(lines, a.breadcrumbs())
		lines = append(lines, a.d.st.fillTo(body, w, h)...)
		cursor = at
	}
	status, col := a.status()
	lines = append(lines, status, a.footer())
	if cursor != nil {
		v.Cursor = tea.NewCursor(cursor.X, cursor.Y+3)
	}
	if a.typing || a.searching() != nil {
		v.Cursor = tea.NewCursor(col, a.height-2)
	}
	if v.Cursor != nil {
		v.Cursor.Blink = false
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// sizeNeeded is all there is below the smallest size.
func (a *App) sizeNeeded() []string {
	st := a.d.st
	text := st.esc.Sprintf("memdesk needs %dx%d, this is %dx%d. Enlarge, or q leaves.", minWidth, minHeight, a.width, a.height)
	var lines []string
	for _, part := range st.esc.Wrap(text, max(a.width, 1)) {
		lines = append(lines, st.text(st.warn, part, a.width))
	}
	if a.leaving {
		lines = append(lines, a.leavingLines()...)
	}
	return st.fillTo(lines, a.width, a.height)
}

// bar shows all panes; the active one stands in brackets, so that it is plain
// without colour too.
func (a *App) bar() string {
	st := a.d.st
	names := paneNames
	if a.width < fullBarFrom {
		names = shortNames
	}
	r := st.row(a.width)
	for i, name := range names {
		label := strconv.Itoa(i+1) + " " + name
		gap := 1
		if a.width < fullBarFrom {
			gap = 0
		}
		switch {
		case i == a.active:
			r.lit(st.active, "["+label+"]").blank(1 - gap)
		case a.panes[i].unavailable() != "":
			r.blank(gap).lit(st.dim, label).blank(1)
		default:
			r.blank(gap).lit(st.plain, label).blank(1)
		}
	}
	if _, production := a.environment(); production && r.left > 0 { // the whole first line, as far as it is free
		return r.put(st.alarm, st.esc.Const(strings.Repeat(" ", r.left))).end()
	}
	return r.end()
}

// identity tells where the operator is and as whom: environment, operator,
// read-only state and, at the right, stores and those that failed.
func (a *App) identity() string {
	st := a.d.st
	stores := a.storeCount()
	right := min(stores.left, a.width/2)
	r := st.row(a.width - right)
	env, production := a.environment()
	if env = st.esc.Trunc(env, 24); production {
		r.put(st.alarm, st.esc.Sprintf(" %s ", env)).put(st.dim, safetext.Const(strings.TrimLeft(st.glyphs.dot.String(), " ")))
	} else {
		r.blank(1).put(st.strong, env).put(st.dim, st.glyphs.dot)
	}
	r.put(st.plain, st.esc.Trunc(orElse(st.esc.Line(a.o.Operator), st.esc.Const("no name")), 24))
	switch {
	case a.o.Authenticated:
	case a.width < fullBarFrom:
		r.lit(st.warn, " (unauth)")
	default:
		r.lit(st.warn, " (unauthenticated)")
	}
	if why, short := a.readOnly(); !why.IsEmpty() {
		r.put(st.dim, st.glyphs.dot)
		if st.width(why) > r.left {
			why = short
		}
		if word, _, some := strings.Cut(short.String(), ","); some && st.width(why) > r.left {
			why = st.esc.Const(word)
		}
		r.put(st.warn, why)
	}
	end := st.row(right).blank(right - stores.width)
	return r.end() + end.put(st.plain, stores.all).put(st.bad, stores.failed).end()
}

// tally is what the frame says about stores, measured.
type tally struct {
	all, failed safetext.Text
	width, left int
}

func (a *App) storeCount() tally {
	esc := a.d.st.esc
	var failed []safetext.Text
	for _, m := range a.members {
		if m.Err != nil {
			failed = append(failed, esc.Line(m.Name))
		}
	}
	t := tally{all: esc.Const(plural(int64(len(a.members)), "store"))}
	switch {
	case len(failed) > 0 && a.width >= wideFrom:
		t.failed = esc.Trunc(esc.Sprintf(", %d failed: %s", len(failed), esc.Join(failed, " ")), a.width/3)
	case len(failed) > 0:
		t.failed = esc.Sprintf(", %d failed", len(failed))
	}
	t.width = t.all.Width() + t.failed.Width() + 1
	t.left = t.width + 2
	return t
}

// isProduction tells the word that makes the frame loud and worst acts ask for a
// name.
func isProduction(environment string) bool { return strings.EqualFold(environment, "production") }

// environment joins the operator's words for the environments of all stores; the
// one that is production is loud, in letters too.
func (a *App) environment() (words safetext.Text, production bool) {
	var names []string
	for _, m := range a.members {
		if m.Environment != "" && !slices.Contains(names, m.Environment) {
			names = append(names, m.Environment)
		}
	}
	if len(names) == 0 {
		return a.d.st.esc.Const("no environment"), false
	}
	parts := make([]safetext.Text, len(names))
	for i, n := range names {
		if isProduction(n) {
			n, production = strings.ToUpper(n), true
		}
		parts[i] = a.d.st.esc.Line(n)
	}
	return a.d.st.esc.Join(parts, "+"), production
}

// readOnly says that nothing, or which stores, can be changed, and the same in a few
// words: where the reason has no room the help begins with it.
func (a *App) readOnly() (why, short safetext.Text) {
	esc := a.d.st.esc
	if a.d.readOnly != "" {
		return esc.Sprintf("READ-ONLY: %s", a.frameReadOnly()), esc.Const("READ-ONLY, ? says why")
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
	return esc.Sprintf("read-only: %s", esc.Join(names, " ")), esc.Sprintf("read-only, %s", plural(int64(len(names)), "store"))
}

// readOnlyLines are the whole reasons, for the help.
func (a *App) readOnlyLines() []headLine {
	esc := a.d.st.esc
	why, _ := a.readOnly()
	if why.IsEmpty() {
		return nil
	}
	lines := []headLine{{value: esc.Const("what cannot be changed now"), kind: headTitle}}
	if a.d.readOnly != "" {
		return append(lines, headLine{value: why, kind: headWarn}, headLine{kind: headBlank})
	}
	for _, m := range a.members {
		if m.Err == nil && m.Store.ReadOnly {
			lines = append(lines, headLine{name: esc.Line(m.Name), value: orElse(esc.LineMax(m.Store.ReadOnlyReason, maxReason), esc.Const("read-only"))})
		}
	}
	return append(lines, headLine{kind: headBlank})
}

func (a *App) breadcrumbs() string {
	p := a.pane()
	at, busy := p.position()
	return a.crumbLine(append([]safetext.Text{safetext.Const(a.paneName())}, p.crumbs()...), at, busy && a.slow.said)
}

// paneName is the first breadcrumb.
func (a *App) paneName() string {
	if a.side != nil {
		return a.side.title
	}
	return paneNames[a.active]
}

// crumbLine is the line of breadcrumbs with the position at its right. That something
// is being loaded stands beside the position where there is room and in its place
// where there is none: breadcrumbs never move for it.
func (a *App) crumbLine(crumbs []safetext.Text, at safetext.Text, busy bool) string {
	st := a.d.st
	loading := st.esc.Const("loading")
	right := min(max(at.Width(), loading.Width())+2, a.width/2)
	shown := st.elide(crumbs, a.width-right-2)
	if busy {
		both := st.esc.Sprintf("%s  %s", loading, at)
		if wide := both.Width() + 2; !at.IsEmpty() && 1+st.crumbsWidth(shown)+wide <= a.width {
			at, right = both, wide
		} else {
			at = loading
		}
	}
	head := st.row(a.width - right)
	head.blank(1)
	for i, c := range shown {
		if i > 0 {
			head.put(st.dim, st.glyphs.crumb)
		}
		if i == len(shown)-1 {
			head.put(st.title, c)
		} else {
			head.put(st.dim, c)
		}
	}
	return head.end() + st.row(right).number(st.plain, at, right-1).end()
}

func (s *styles) crumbsWidth(crumbs []safetext.Text) int {
	n := (len(crumbs) - 1) * s.glyphs.crumb.Width()
	for _, c := range crumbs {
		n += s.width(c)
	}
	return n
}

// elide leaves out breadcrumbs in the middle until the rest fits: the pane and
// the place where the operator is say most. A place that is too long by itself is
// cut in its middle, so that its name stays whole.
func (s *styles) elide(crumbs []safetext.Text, width int) []safetext.Text {
	last := len(crumbs) - 1
	if s.crumbsWidth(crumbs) <= width || last < 1 {
		return crumbs
	}
	short := crumbs
	for drop := 1; drop < last && s.crumbsWidth(short) > width; drop++ {
		short = append([]safetext.Text{crumbs[0], leftOut(s.esc)}, crumbs[1+drop:]...)
	}
	if over := s.crumbsWidth(short) - width; over > 0 {
		short = slices.Clone(short)
		end := &short[len(short)-1]
		room := max(s.width(*end)-over, 1)
		cut := s.esc.TruncMiddle(*end, room)
		for n := room - 1; n > 0 && s.width(cut) > room; n-- {
			cut = s.esc.TruncMiddle(*end, n)
		}
		*end = cut
	}
	return short
}

// status is the line above the keys: the command line, a message, or what the
// pane wants to say.
func (a *App) status() (line string, cursor int) {
	st := a.d.st
	r := st.row(a.width)
	if a.typing {
		r.blank(1)
		col := a.command.render(r, st.esc.Const(":"), st.esc.Const(""))
		return r.end(), col + 1
	}
	if p := a.text(); p != nil && (p.search.in.focus || p.search.needle != nil && a.message.IsEmpty()) {
		return a.searchLine(p)
	}
	if a.message.IsEmpty() && a.overlay == nil && a.dialog == nil {
		if trouble := a.pane().trouble(); !trouble.IsEmpty() {
			return r.blank(1).put(st.bad, trouble).end(), 0
		}
		return r.blank(1).put(st.dim, a.workWords()).end(), 0
	}
	p := paint{}
	switch a.tone {
	case toneWarn:
		p = st.warn
	case toneBad:
		p = st.bad
	}
	if a.message.Width() <= a.width-2 {
		return r.blank(1).put(p, a.message).end(), 0
	}
	whole := st.esc.Const(" :messages") // shows all of it
	r = st.row(a.width-whole.Width()).blank(1).put(p, a.message)
	return r.end() + st.row(whole.Width()).put(st.key, whole).end(), 0
}

// footer shows the keys that work here. Where they do not all fit, the way to the
// others is the last.
func (a *App) footer() string {
	if len(a.candidates) > 0 {
		return a.candidateLine()
	}
	st := a.d.st
	wide := func(b Binding) int { return st.esc.Const(b.label()).Width() + 1 + st.esc.Const(b.Hint).Width() }
	all := a.here()
	hints := slices.DeleteFunc(slices.Clone(all), func(b Binding) bool {
		first, _ := find(all, b.Keys[0])
		return b.Hint == "" || first.Description != b.Description || b.reason() != ""
	})
	kept, room := 0, a.width-1
	for kept < len(hints) && wide(hints[kept]) <= room {
		room -= wide(hints[kept]) + 2
		kept++
	}
	if help, ok := find(hints[kept:], "?"); ok {
		for ; kept > 0 && wide(help) > room; kept-- {
			room += wide(hints[kept-1]) + 2
		}
		hints = append(hints[:kept], help)
		kept++
	}
	r := st.row(a.width).blank(1)
	for i, b := range hints[:kept] {
		if i > 0 {
			r.blank(2)
		}
		r.put(st.key, st.esc.Const(b.label())).blank(1).put(st.hint, st.esc.Const(b.Hint))
	}
	return r.end()
}

// Keys are the bindings of the place where the operator is, in the order in
// which they are looked up.
func (a *App) Keys() []Binding { return a.here() }

// here are the bindings of the place where the operator is.
func (a *App) here() []Binding {
	switch {
	case a.dialog != nil:
		return a.dialogBindings()
	case a.typing:
		return a.commandBindings()
	case a.searching() != nil:
		return a.searchLineKeys(a.searching())
	case a.overlay != nil:
		return append(a.searchKeys(), a.overlayBindings()...)
	case a.pane().typing() != nil:
		return a.pane().bindings()
	}
	return append(append(a.searchKeys(), a.pane().bindings()...), a.global()...)
}
