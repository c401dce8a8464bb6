package tui

import (
	"slices"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

// search is what is looked for in the text of a pager. It is looked through in a
// command; the screen moves only when the match is not on it.
type search struct {
	in     input
	words  string   // in force, as they were typed
	needle *needle  // nil: nothing is looked for
	found  *finding // nil: the text was not looked through yet
	here   spot     // the match that was gone to
	rank   int      // of here among all, from 1; 0: there is none
	round  int      // it was gone to from the other end of the text: 1 from the start, -1 from the end

	origin place // where the operator was when the line was opened
	wish   *wish // what the layout under way is to find
	last   *atomic.Int64
}

// wish is a match that is to be gone to.
type wish struct {
	number int64
	from   spot
	back   bool // the last one before from, instead of the first at it or after it
	still  bool // the screen stays: only the numbers are wanted
}

// sight is how a wish was answered.
type sight struct {
	found *finding
	here  spot
	rank  int
	round int
	still bool
	first bool // the text was not looked through yet: there is no number
}

// moves reports whether the screen goes to the match.
func (s *sight) moves() bool { return !s.still && (s.rank > 0 || s.first) }

// soon is how much of a body is looked at before the rest of it is, in bytes.
const soon = 1 << 20

// nearby finds a match that is near, in a text that is to be looked through; nil when
// there is none.
func (w wish) nearby(t *text, n *needle, f *finding) *sight {
	if f != nil || w.back || w.still || len(t.body) < soon {
		return nil
	}
	for i := w.from.head; i < len(t.head); i++ {
		for part, value := range []safetext.Text{partName: t.head[i].name, partValue: t.head[i].value} {
			for _, s := range n.spans(value) {
				return &sight{here: spot{i, part, s.Start, s.End}, first: true}
			}
		}
	}
	var out *sight
	from := 0
	if w.from.head >= len(t.head) {
		from = w.from.start
	}
	n.each(t.body, from, min(from+soon, len(t.body)), func(start, end int) bool {
		out = &sight{here: spot{head: len(t.head), start: start, end: end}, first: true}
		return false
	})
	return out
}

// answer looks through the text as far as that was not done yet. It runs in a
// command; nil when another wish has come since.
func (w wish) answer(t *text, n *needle, f *finding, last *atomic.Int64) *sight {
	if f == nil || f.text != t || f.needle != n {
		if f = n.in(t, func() bool { return last.Load() != w.number }); f == nil {
			return nil
		}
	}
	out := &sight{found: f, still: w.still}
	if f.total == 0 {
		return out
	}
	k := f.ahead(w.from)
	if w.back {
		k--
	}
	switch {
	case k < 0:
		k, out.round = f.total-1, -1
	case k >= f.total:
		k, out.round = 0, 1
	}
	out.here, out.rank = f.nth(k), k+1
	return out
}

// want asks for a match, with the rows around it.
func (p *pager) want(from spot, back, still bool) tea.Cmd {
	return p.wantAt(p.topPlace(), from, back, still)
}

func (p *pager) wantAt(at place, from spot, back, still bool) tea.Cmd {
	s := &p.search
	if p.text == nil {
		return nil // it is looked for when it is there
	}
	if s.last == nil {
		s.last = new(atomic.Int64)
	}
	s.wish = &wish{number: s.last.Add(1), from: from, back: back, still: still}
	return p.layOut(at, 0, false)
}

// saw takes over what was found, and says where the screen goes: rows is what will be
// on it, top the row of the match.
func (p *pager) saw(m laidOut) (top int) {
	s := &p.search
	switch {
	case !m.sight.first:
		s.wish, s.found, s.here, s.rank, s.round = nil, m.sight.found, m.sight.here, m.sight.rank, m.sight.round
	case s.found != nil:
		return p.topNow(m) // the whole answer was faster
	default:
		s.here = m.sight.here
	}
	if !m.sight.moves() {
		return m.top
	}
	if was := p.topNow(m); p.shown == m.text && p.wide == m.width && was >= 0 && m.top >= was && m.top < was+p.height {
		return was // it is on the screen already
	}
	return m.top - p.height/3
}

// topNow is where the first row of the screen stands among other rows; -1 when it is
// not there.
func (p *pager) topNow(m laidOut) int {
	return slices.IndexFunc(m.rows, func(r wrapped) bool { return r.at == p.topPlace() })
}

// startSearch opens the line where the words are typed.
func (p *pager) startSearch() tea.Cmd {
	p.search.origin = p.topPlace()
	p.search.in.set(p.search.words)
	p.search.in.focus = true
	return nil
}

// searched follows what is typed: the first match from where the operator was.
func (p *pager) searched() tea.Cmd {
	s := &p.search
	s.words, s.needle, s.found, s.rank = s.in.text(), newNeedle(s.in.text()), nil, 0
	switch {
	case p.text == nil:
		return nil // it is looked for when it is there
	case s.needle == nil:
		s.wish = nil
		return p.layOut(s.origin, 0, false)
	}
	return p.want(p.spotAt(s.origin), false, false)
}

// spotAt is the first place of a row.
func (p *pager) spotAt(at place) spot {
	if at.off >= 0 {
		return spot{head: len(p.text.head), start: at.off}
	}
	if i := slices.IndexFunc(p.rows, func(r wrapped) bool { return r.at == at }); i >= 0 && p.shown == p.text {
		return spot{head: p.rows[i].head}
	}
	return spot{}
}

// hop goes to the next match, or to the one before. Where the operator has scrolled
// away from the last one, it goes on from what is on the screen.
func (p *pager) hop(back bool) tea.Cmd {
	s := &p.search
	if p.text == nil {
		return nil
	}
	from := s.here
	at := slices.IndexFunc(p.rows, func(r wrapped) bool { return r.here })
	switch {
	case s.rank == 0 || at < p.top || at >= p.top+p.height:
		from = p.spotAt(p.topPlace())
	case !back:
		from.start++
	}
	return p.want(from, back, false)
}

// endSearch takes the marks of a search away; the place stays.
func (p *pager) endSearch() tea.Cmd {
	if p.search.needle == nil && !p.search.in.focus {
		return nil
	}
	p.search = search{last: p.search.last}
	if p.text == nil {
		return nil
	}
	return p.layOut(p.topPlace(), 0, false)
}

// tally says which match this is, and of how many.
func (s *search) tally(esc safetext.Escaper) safetext.Text {
	switch {
	case s.needle == nil:
		return safetext.Text{}
	case s.found == nil:
		return esc.Const("looking")
	case s.found.total == 0:
		return esc.Const("not found")
	case s.round > 0:
		return esc.Sprintf("%s/%s, on from the start", group(int64(s.rank)), group(int64(s.found.total)))
	case s.round < 0:
		return esc.Sprintf("%s/%s, on from the end", group(int64(s.rank)), group(int64(s.found.total)))
	}
	return esc.Sprintf("%s/%s", group(int64(s.rank)), group(int64(s.found.total)))
}

// reads is a pane that can have one text on the whole screen.
type reads interface {
	// onScreen is the pager of that text; nil while there is none.
	onScreen() *pager
}

// text is what fills the screen, when that is a text.
func (a *App) text() *pager {
	switch {
	case a.dialog != nil:
		return a.dialog.pager
	case a.overlay != nil:
		return a.overlay.pager
	}
	if p, ok := a.pane().(reads); ok {
		return p.onScreen()
	}
	return nil
}

// searching is the text whose search line has the focus, or nil.
func (a *App) searching() *pager {
	if p := a.text(); p != nil && p.search.in.focus {
		return p
	}
	return nil
}

// searchKeys are the keys that look for words in the text on the screen. They come
// before those of the place: n is the next match as long as a search is in force.
func (a *App) searchKeys() []Binding {
	p := a.text()
	if p == nil {
		return nil
	}
	return textKeys(p)
}

// textKeys look for words in one text.
func textKeys(p *pager) []Binding {
	out := []Binding{{Keys: []string{"/"}, Hint: "search", Description: "search this text; the screen follows what you type", Handler: p.startSearch}}
	if p.search.needle == nil {
		return out
	}
	return append(out,
		Binding{Keys: []string{"n"}, Hint: "next match", Description: "to the next match of the search", Handler: func() tea.Cmd { return p.hop(false) }},
		Binding{Keys: []string{"N"}, Hint: "match before", Description: "to the match before", Handler: func() tea.Cmd { return p.hop(true) }},
		Binding{Keys: []string{"esc"}, Hint: "end search", Description: "end the search and stay here", Handler: p.endSearch},
	)
}

// searchLineKeys are the keys of the line where the words are typed.
func (a *App) searchLineKeys(p *pager) []Binding {
	nothing := func() string {
		if p.search.needle == nil {
			return "type what to look for first"
		}
		return ""
	}
	return []Binding{
		{Keys: []string{"enter"}, Hint: "stay here", Description: "stay at the match; n and N go to the others", Handler: func() tea.Cmd {
			p.search.in.focus = false
			switch {
			case p.search.needle == nil:
			case p.search.found != nil && p.search.found.total == 0:
				a.say(toneInfo, a.d.st.esc.Sprintf("not found: %s", p.search.words))
			default:
				return nil
			}
			return p.endSearch()
		}},
		{Keys: []string{"down"}, Show: "Down Up", Hint: "other matches", Description: "to the next match of what is typed", Disabled: nothing, Handler: func() tea.Cmd { return p.hop(false) }},
		{Keys: []string{"up"}, Show: "Up", Description: "to the match before of what is typed", Disabled: nothing, Handler: func() tea.Cmd { return p.hop(true) }},
		{Keys: []string{"esc"}, Hint: "back", Description: "end the search, back to where it began", Handler: func() tea.Cmd {
			at := p.search.origin
			cmd := p.endSearch()
			if p.text == nil {
				return cmd
			}
			return p.layOut(at, 0, false)
		}},
	}
}

// searchKey routes a keystroke while words are typed.
func (a *App) searchKey(p *pager, k tea.KeyPressMsg) tea.Cmd {
	if changed, used := p.search.in.key(k); used {
		if changed {
			return p.searched()
		}
		return nil
	}
	if k.Mod.Contains(tea.ModAlt) {
		return a.split(k)
	}
	return a.press(a.searchLineKeys(p), k.String())
}

// searchLine stands in place of the status while there is a search, with the number
// of the match at its right; cursor is where the words are typed.
func (a *App) searchLine(p *pager) (line string, cursor int) {
	st := a.d.st
	tally := p.search.tally(st.esc)
	if p.search.in.focus && !a.message.IsEmpty() {
		tally = a.message // why a key does not work, what was pasted
	}
	right := min(tally.Width()+2, a.width*3/4)
	r := st.row(a.width - right).blank(1)
	if p.search.in.focus {
		cursor = p.search.in.render(r, st.esc.Const("/"), safetext.Text{}) + 1
	} else {
		r.put(st.key, st.esc.Const("/")).put(st.plain, st.esc.Line(p.search.words))
	}
	paint := st.strong
	if p.search.found != nil && p.search.found.total == 0 {
		paint = st.warn
	}
	return r.end() + st.row(right).number(paint, tally, right-1).end(), cursor
}
