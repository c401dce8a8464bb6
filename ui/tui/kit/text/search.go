package text

import (
	"slices"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
)

// search is a search in a pager, in a command; the screen moves only to a match that is off it.
type search struct {
	In     Input
	Words  string   // in force, as typed
	Needle *needle  // nil: no search
	Found  *finding // nil: the text was not searched yet
	here   spot     // the current match
	rank   int      // number of here, from 1; 0: none
	round  int      // the search wrapped around: 1 to the start, -1 to the end

	Origin RowRef  // the place when the search line was opened
	target *target // the match wanted from the running layout
	last   *atomic.Int64
}

type target struct {
	number int64
	from   spot
	back   bool // the last match before from, instead of the first at or after it
	still  bool // the screen stays: only the numbers are wanted
}

type sight struct {
	found *finding
	here  spot
	rank  int
	round int
	still bool
}

// moves reports whether the screen goes to the match.
func (s *sight) moves() bool { return !s.still && s.rank > 0 }

// answer searches the text, unless that was done. It runs in a command; nil when another target has come since.
func (w target) answer(t *Page, n *needle, f *finding, last *atomic.Int64) *sight {
	if f == nil || f.text != t || f.needle != n {
		if f = n.in(t, func() bool { return last.Load() != w.number }); f == nil {
			return nil
		}
	}
	out := &sight{found: f, still: w.still}
	if f.Total == 0 {
		return out
	}
	k := f.ahead(w.from)
	if w.back {
		k--
	}
	switch {
	case k < 0:
		k, out.round = f.Total-1, -1
	case k >= f.Total:
		k, out.round = 0, 1
	}
	out.here, out.rank = f.nth(k), k+1
	return out
}

// want asks for a match, with the rows around it.
func (p *Pager) want(from spot, back bool) tea.Cmd {
	return p.wantAt(p.topPlace(), from, back, false)
}

func (p *Pager) wantAt(at RowRef, from spot, back, still bool) tea.Cmd {
	s := &p.Search
	if p.Text == nil {
		return nil // searched once it is loaded
	}
	if s.last == nil {
		s.last = new(atomic.Int64)
	}
	s.target = &target{number: s.last.Add(1), from: from, back: back, still: still}
	return p.LayOut(at, 0, false)
}

// saw takes the matches and returns the top row of the screen, among the rows to be shown.
func (p *Pager) saw(m LaidOut) (top int) {
	s := &p.Search
	s.target, s.Found, s.here, s.rank, s.round = nil, m.sight.found, m.sight.here, m.sight.rank, m.sight.round
	if !m.sight.moves() {
		return m.top
	}
	was := slices.IndexFunc(m.rows, func(r Wrapped) bool { return r.At == p.topPlace() })
	if p.Shown == m.Text && p.wide == m.width && was >= 0 && m.top >= was && m.top < was+p.Height {
		return was // it is on the screen already
	}
	return m.top - p.Height/3
}

func (p *Pager) startSearch() tea.Cmd {
	p.Search.Origin = p.topPlace()
	p.Search.In.Edit(p.Search.Words)
	return nil
}

// Searched follows the typing: the first match from the starting place.
func (p *Pager) Searched() tea.Cmd {
	s := &p.Search
	s.Words, s.Needle, s.Found, s.rank = s.In.Value(), NewNeedle(s.In.Value()), nil, 0
	switch {
	case p.Text == nil:
		return nil // searched once it is loaded
	case s.Needle == nil:
		s.target = nil
		return p.LayOut(s.Origin, 0, false)
	}
	return p.want(p.spotAt(s.Origin), false)
}

// spotAt is the first spot of a row.
func (p *Pager) spotAt(at RowRef) spot {
	if at.Off >= 0 && at.Off < len(p.Text.Body) {
		return spot{head: len(p.Text.Head), start: at.Off}
	}
	if i := slices.IndexFunc(p.Rows, func(r Wrapped) bool { return r.At == at }); i >= 0 && p.Shown == p.Text {
		return spot{head: p.Rows[i].head}
	}
	return spot{}
}

// Hop goes to the next match, or to the previous; from the screen where the operator has scrolled away.
func (p *Pager) Hop(back bool) tea.Cmd {
	s := &p.Search
	if p.Text == nil {
		return nil
	}
	from := s.here
	at := slices.IndexFunc(p.Rows, func(r Wrapped) bool { return r.here })
	switch {
	case s.rank == 0 || at < p.Top || at >= p.Top+p.Height:
		from = p.spotAt(p.topPlace())
	case !back:
		from.start++
	}
	return p.want(from, back)
}

// EndSearch removes the marks of a search; the position stays.
func (p *Pager) EndSearch() tea.Cmd {
	if p.Search.Needle == nil && !p.Search.In.Focus {
		return nil
	}
	p.Search = search{last: p.Search.last}
	if p.Text == nil {
		return nil
	}
	return p.LayOut(p.topPlace(), 0, false)
}

// Tally is the number of the current match, and of all.
func (s *search) Tally(esc safetext.Escaper) safetext.Text {
	switch {
	case s.Needle == nil:
		return safetext.Text{}
	case s.Found == nil:
		return esc.Const("looking")
	case s.Found.Total == 0:
		return esc.Const("not found")
	}
	around := map[int]string{1: ", on from the start", -1: ", on from the end"}[s.round]
	return esc.Sprintf("%s/%s%s", prose.Group(s.rank), prose.Group(s.Found.Total), around)
}

func TextKeys(p *Pager) []act.Act {
	out := []act.Act{{Keys: []string{"/"}, Name: "search", Doc: "search this text; the screen follows what you type", Do: p.startSearch}}
	if p.Search.Needle == nil {
		return out
	}
	return append(out,
		act.Act{Keys: []string{"n"}, Name: "next match", Doc: "to the next match of the search", Do: func() tea.Cmd { return p.Hop(false) }},
		act.Act{Keys: []string{"N"}, Name: "match before", Doc: "to the match before", Do: func() tea.Cmd { return p.Hop(true) }},
		act.Act{Keys: []string{"esc"}, Name: "end search", Doc: "end the search and stay here", Do: p.EndSearch},
	)
}
