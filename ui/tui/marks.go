package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// marks are the rows of a list that the next act is for. They are kept by id, in
// the order of marking, also for rows that the window has let go; M is what is
// remembered of a row.
type marks[T, M any] struct {
	list   func() *window[T]
	small  func(T) M
	kept   map[string]M
	order  []string
	anchor string // the row that was marked last, where a range begins
	from   from   // its page

	gen  int
	walk *walk[T] // pages that are being marked; nil: none

	filter  string          // in force; empty: the list is whole, and so are the marks in it
	inside  map[string]bool // marks that the filter shows, as far as that is known
	counted bool            // it is known of all
	look    int             // of the count under way
}

// peeked is the next page of a filtered list, in which marks are looked for.
type peeked[T any] struct {
	look int
	page span[T]
	err  error
}

// filtered tells the marks of another filter. Where there are some, the list is gone
// through to find out which of them it shows: an act must not reach further than the
// operator knows.
func (m *marks[T, M]) filtered(filter string) tea.Cmd {
	m.look++
	m.filter, m.inside, m.counted = filter, map[string]bool{}, filter == "" || m.n() == 0
	if m.counted {
		return nil
	}
	return m.peek(from{})
}

func (m *marks[T, M]) peek(at from) tea.Cmd {
	look, fetch := m.look, m.list().fetch
	return m.list().ask(func(ctx context.Context) any {
		page, err := fetch(ctx, at, model.MaxPage)
		return peeked[T]{look, page, err}
	})
}

func (m *marks[T, M]) peeked(a peeked[T]) tea.Cmd {
	if a.look != m.look || m.counted || a.err != nil {
		return nil
	}
	for _, r := range a.page.rows {
		if id := m.list().id(r); m.has(id) {
			m.inside[id] = true
		}
	}
	if m.counted = a.page.next == "" || len(m.inside) == m.n(); m.counted {
		return nil
	}
	return m.peek(from{cursor: a.page.next})
}

// shown reports whether the filter in force shows a marked row.
func (m *marks[T, M]) shown(id string) bool { return m.filter == "" || m.inside[id] }

// outside is how many marked rows the filter in force does not show.
func (m *marks[T, M]) outside() int {
	if m.filter == "" {
		return 0
	}
	return m.n() - len(m.inside)
}

// uncounted says that it is not known yet what an act on the marks would reach.
func (m *marks[T, M]) uncounted() string {
	if m.counted || m.filter == "" || m.n() == 0 {
		return ""
	}
	return "the marks that this filter shows are still being counted; ctrl+r counts again"
}

// walk goes through the pages of a list, one command each, and marks.
type walk[T any] struct {
	fetch   fetcher[T]
	want    func(T) bool // nil: a range, between start and end
	start   string
	end     string
	inside  bool
	swapped bool // the second try of a range, from its other end
	back    from
}

// walked is the next page of a walk.
type walked[T any] struct {
	gen  int
	page span[T]
	err  error
}

func newMarks[T, M any](list func() *window[T], small func(T) M) *marks[T, M] {
	return &marks[T, M]{list: list, small: small, kept: map[string]M{}, inside: map[string]bool{}, counted: true}
}

func (m *marks[T, M]) clear() {
	m.gen++
	m.kept, m.order, m.walk, m.anchor = map[string]M{}, nil, nil, ""
	m.inside, m.counted = map[string]bool{}, true
	m.look++
}

func (m *marks[T, M]) n() int { return len(m.kept) }

func (m *marks[T, M]) has(id string) bool {
	_, ok := m.kept[id]
	return ok
}

func (m *marks[T, M]) add(row T) {
	id := m.list().id(row)
	if !m.has(id) {
		m.order = append(m.order, id)
	}
	m.kept[id], m.inside[id] = m.small(row), true
}

// toggle marks the row at the cursor, or takes its mark away.
func (m *marks[T, M]) toggle() {
	w := m.list()
	row, ok := w.current()
	if !ok {
		return
	}
	id := w.id(row)
	m.anchor, m.from = id, m.pageOf(w.sel)
	if m.has(id) {
		delete(m.kept, id)
		delete(m.inside, id)
		m.order = slices.DeleteFunc(m.order, func(o string) bool { return o == id })
		return
	}
	m.add(row)
}

// pageOf is where the page of a row starts.
func (m *marks[T, M]) pageOf(row int) from {
	for _, p := range m.list().pages {
		if row < len(p.rows) {
			return p.at
		}
		row -= len(p.rows)
	}
	return from{}
}

// rangeHere marks everything between the row that was marked last and the cursor.
func (m *marks[T, M]) rangeHere() tea.Cmd {
	w := m.list()
	row, ok := w.current()
	if !ok {
		return nil
	}
	first := slices.IndexFunc(w.rows, func(r T) bool { return w.id(r) == m.anchor })
	if first >= 0 {
		for _, r := range w.rows[min(first, w.sel) : max(first, w.sel)+1] {
			m.add(r)
		}
		return nil
	}
	return m.begin(&walk[T]{fetch: w.fetch, start: m.anchor, end: w.id(row), back: m.pageOf(w.sel)}, m.from)
}

// all marks what the list holds under its filter, page by page; want chooses, nil
// takes every row.
func (m *marks[T, M]) all(want func(T) bool) tea.Cmd {
	if want == nil {
		want = func(T) bool { return true }
	}
	return m.begin(&walk[T]{fetch: m.list().fetch, want: want}, from{})
}

func (m *marks[T, M]) begin(w *walk[T], at from) tea.Cmd {
	m.gen++
	m.walk = w
	return m.next(at)
}

func (m *marks[T, M]) next(at from) tea.Cmd {
	gen, fetch := m.gen, m.walk.fetch
	return m.list().ask(func(ctx context.Context) any {
		page, err := fetch(ctx, at, model.MaxPage)
		return walked[T]{gen, page, err}
	})
}

// stop ends a walk; what it has marked stays marked.
func (m *marks[T, M]) stop() {
	m.gen++
	m.walk = nil
}

// walked takes a page and asks for the next; said is how it ended, when it did.
func (m *marks[T, M]) walked(d *loop, a walked[T]) tea.Cmd {
	if a.gen != m.gen || m.walk == nil {
		return nil
	}
	w := m.walk
	if a.err != nil {
		m.stop()
		d.say(paint.ToneWarn, d.esc.Sprintf("marking stopped at %s: %s", prose.Plural(int64(m.n()), "row"), prose.Reason(d.esc, a.err)))
		return nil
	}
	id := m.list().id
	for _, r := range a.page.rows {
		switch {
		case w.want != nil:
			if w.want(r) {
				m.add(r)
			}
			continue
		case id(r) == w.start:
			w.inside = true
		}
		if w.inside {
			m.add(r)
			if id(r) == w.end {
				return m.ended(d)
			}
		}
	}
	switch {
	case a.page.next != "":
		return m.next(from{cursor: a.page.next})
	case w.want == nil && !w.swapped: // the range goes upwards
		m.forgetRange(w)
		m.walk = &walk[T]{fetch: w.fetch, start: w.end, end: w.start, swapped: true}
		return m.next(w.back)
	}
	return m.ended(d)
}

// forgetRange drops nothing: rows marked on the wrong way are taken back by
// beginning anew from the anchor alone.
func (m *marks[T, M]) forgetRange(w *walk[T]) {
	i := slices.Index(m.order, w.start)
	for _, id := range m.order[i+1:] {
		delete(m.kept, id)
		delete(m.inside, id)
	}
	m.order = m.order[:i+1]
}

func (m *marks[T, M]) ended(d *loop) tea.Cmd {
	m.walk = nil
	d.say(paint.ToneInfo, d.esc.Sprintf("%s marked", prose.Plural(int64(m.n()), "row")))
	return nil
}

// crumb says how many rows are marked.
func (m *marks[T, M]) crumb(esc safetext.Escaper) []safetext.Text {
	switch {
	case m.walk != nil:
		return []safetext.Text{esc.Sprintf("marking: %s so far", prose.Group(int64(m.n())))}
	case m.n() > 0 && m.uncounted() != "":
		return []safetext.Text{esc.Sprintf("%s marked, counting those in this filter", prose.Group(int64(m.n())))}
	case m.outside() > 0:
		return []safetext.Text{esc.Sprintf("%s marked, %s of them not in this filter", prose.Group(int64(m.n())), prose.Group(int64(m.outside())))}
	case m.n() > 0:
		return []safetext.Text{esc.Sprintf("%s marked", prose.Group(int64(m.n())))}
	}
	return nil
}

// bindings are the keys that mark; all says what is marked by *.
func (m *marks[T, M]) bindings(none func() string, move func(int) tea.Cmd) []act.Act {
	unmarked := func() string {
		if m.n() == 0 {
			return "nothing is marked"
		}
		return ""
	}
	rangeless := func() string {
		if m.anchor == "" {
			return "mark the first row of the range with space"
		}
		return none()
	}
	if m.walk != nil {
		return []act.Act{{Keys: []string{"esc"}, Name: "stop marking", Doc: "stop marking; what is marked stays so", Do: func() tea.Cmd {
			m.stop()
			return nil
		}}}
	}
	return []act.Act{
		{Keys: []string{"space"}, Name: "mark", Doc: "mark this row for the next act, or take the mark away", Why: none, Do: func() tea.Cmd {
			m.toggle()
			return move(1)
		}},
		{Keys: []string{"v"}, Doc: "mark the range from the row that was marked last to here", Why: rangeless, Do: m.rangeHere},
		{Keys: []string{"*"}, Doc: "mark all rows that match the filter, however many pages they take", Why: none, Do: func() tea.Cmd { return m.all(nil) }},
		{Keys: []string{"u"}, Doc: "take all marks away", Why: unmarked, Do: func() tea.Cmd {
			m.clear()
			return nil
		}},
	}
}
