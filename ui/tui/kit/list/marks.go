package list

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
)

// Marks are the rows for the next act, by id, in the order of marking; small leaves out of a kept row what is only drawn.
type Marks[T any] struct {
	list    func() *Window[T]
	small   func(T) T
	Heading func(T) bool // the row stands for those below it and is never marked; nil: no such rows
	Kept    map[string]T
	Order   []string
	anchor  string // the row marked last, the start of a range
	from    From   // of its page

	gen  int
	Walk *walk[T] // the running walk; nil: none
	part []T      // of a range that the walk has not seen to its end

	filter  string          // in force; empty: all rows and marks are shown
	inside  map[string]bool // marks known to be shown by the filter
	counted bool            // it is known of every mark
	look    int             // generation of the running count
}

type Marked interface {
	N() int
	Clear()
}

// Filtered finds out which marks a new filter shows: an act must not reach further than the operator knows.
func (m *Marks[T]) Filtered(filter string) tea.Cmd {
	m.look++
	m.filter, m.inside, m.counted = filter, map[string]bool{}, filter == "" || m.N() == 0
	if m.counted {
		return nil
	}
	return m.read(m.list().Fetch, From{}, m.look, true)
}

func (m *Marks[T]) seen(a Walked[T]) tea.Cmd {
	if a.gen != m.look || m.counted || a.err != nil {
		return nil
	}
	for _, r := range a.page.Rows {
		if id := m.list().ID(r); m.Has(id) {
			m.inside[id] = true
		}
	}
	if m.counted = a.page.Next == "" || len(m.inside) == m.N(); m.counted {
		return nil
	}
	return m.read(m.list().Fetch, From{Cursor: a.page.Next}, m.look, true)
}

// Shown reports whether the current filter shows a marked row.
func (m *Marks[T]) Shown(id string) bool { return m.filter == "" || m.inside[id] }

// Outside counts the marked rows that the current filter hides.
func (m *Marks[T]) Outside() int {
	if m.filter == "" {
		return 0
	}
	return m.N() - len(m.inside)
}

// Uncounted says that the reach of an act on the marks is not known yet.
func (m *Marks[T]) Uncounted() string {
	if m.counted || m.filter == "" || m.N() == 0 {
		return ""
	}
	return "the marks that this filter shows are still being counted; ctrl+r counts again"
}

// walk reads the pages of a list, one command each, and marks rows.
type walk[T any] struct {
	fetch   Fetcher[T]
	want    func(T) bool // nil: a range, between start and end
	start   string
	end     string
	inside  bool
	swapped bool // second try of a range, from its other end
	back    From
}

// Walked is the next page of a walk, or of a filtered list whose marks are counted.
type Walked[T any] struct {
	gen   int
	count bool
	page  Span[T]
	err   error
}

func NewMarks[T any](list func() *Window[T], small func(T) T) *Marks[T] {
	return &Marks[T]{list: list, small: small, Kept: map[string]T{}, inside: map[string]bool{}, counted: true}
}

func (m *Marks[T]) Clear() {
	m.Stop()
	m.Kept, m.Order, m.anchor = map[string]T{}, nil, ""
	m.inside, m.counted = map[string]bool{}, true
	m.look++
}

func (m *Marks[T]) N() int { return len(m.Kept) }

// Rows are the kept parts of the marked rows, in the order of marking.
func (m *Marks[T]) Rows() []T {
	out := make([]T, 0, m.N())
	for _, id := range m.Order {
		out = append(out, m.Kept[id])
	}
	return out
}

func (m *Marks[T]) Has(id string) bool {
	_, ok := m.Kept[id]
	return ok
}

// Add marks a row, unless it stands for others.
func (m *Marks[T]) Add(row T) {
	if m.heading(row) {
		return
	}
	id := m.list().ID(row)
	if !m.Has(id) {
		m.Order = append(m.Order, id)
	}
	m.Kept[id], m.inside[id] = m.small(row), true
}

func (m *Marks[T]) heading(row T) bool { return m.Heading != nil && m.Heading(row) }

func (m *Marks[T]) toggle() {
	w := m.list()
	row, ok := w.Current()
	if !ok {
		return
	}
	id := w.ID(row)
	if m.Has(id) {
		m.anchor = ""
		delete(m.Kept, id)
		delete(m.inside, id)
		m.Order = slices.DeleteFunc(m.Order, func(o string) bool { return o == id })
		return
	}
	m.anchor, m.from = id, m.pageOf(w.Sel)
	m.Add(row)
}

// pageOf is the start of a row's page.
func (m *Marks[T]) pageOf(row int) From {
	for _, p := range m.list().Pages {
		if row < len(p.Rows) {
			return p.At
		}
		row -= len(p.Rows)
	}
	return From{}
}

// rangeHere marks all rows between the row marked last and the cursor.
func (m *Marks[T]) rangeHere() tea.Cmd {
	w := m.list()
	row, ok := w.Current()
	if !ok {
		return nil
	}
	first := slices.IndexFunc(w.Rows, func(r T) bool { return w.ID(r) == m.anchor })
	if first >= 0 {
		for _, r := range w.Rows[min(first, w.Sel) : max(first, w.Sel)+1] {
			m.Add(r)
		}
		return nil
	}
	return m.begin(&walk[T]{fetch: w.Fetch, start: m.anchor, end: w.ID(row), back: m.pageOf(w.Sel)}, m.from)
}

// All marks the rows under the filter, page by page; want selects, nil takes every row.
func (m *Marks[T]) All(want func(T) bool) tea.Cmd {
	if want == nil {
		want = func(T) bool { return true }
	}
	return m.begin(&walk[T]{fetch: m.list().Fetch, want: want}, From{})
}

func (m *Marks[T]) begin(w *walk[T], at From) tea.Cmd {
	m.gen++
	m.Walk, m.part = w, nil
	return m.next(at)
}

func (m *Marks[T]) next(at From) tea.Cmd { return m.read(m.Walk.fetch, at, m.gen, false) }

func (m *Marks[T]) read(fetch Fetcher[T], at From, gen int, count bool) tea.Cmd {
	return m.list().Ask(func(ctx context.Context) any {
		page, err := fetch(ctx, at, model.MaxPage)
		return Walked[T]{gen, count, page, err}
	})
}

// Stop ends a walk; its marks stay.
func (m *Marks[T]) Stop() {
	m.gen++
	m.Walk, m.part = nil, nil
}

// Walked takes a page and asks for the next; said tells the end of the walk.
func (m *Marks[T]) Walked(d *loop.Loop, a Walked[T]) tea.Cmd {
	switch {
	case a.count:
		return m.seen(a)
	case a.gen != m.gen, m.Walk == nil:
		return nil
	}
	w := m.Walk
	if a.err != nil {
		m.Stop()
		return d.Warn("marking stopped at %s: %s", prose.Plural(m.N(), "row"), prose.Reason(d.Esc, a.err))
	}
	id := m.list().ID
	for _, r := range a.page.Rows {
		switch {
		case w.want != nil:
			if w.want(r) {
				m.Add(r)
			}
			continue
		case id(r) == w.start:
			w.inside = true
		}
		if w.inside && !m.heading(r) {
			m.part = append(m.part, m.small(r))
		}
		if w.inside && id(r) == w.end {
			for _, r := range m.part {
				m.Add(r)
			}
			return m.ended(d)
		}
	}
	switch {
	case a.page.Next != "":
		return m.next(From{Cursor: a.page.Next})
	case w.want == nil && !w.swapped: // the range goes upwards
		return m.begin(&walk[T]{fetch: w.fetch, start: w.end, end: w.start, swapped: true}, w.back)
	case w.want == nil:
		m.Stop()
		return d.Warn("the row marked last is not in this list: mark the first row of the range with space")
	}
	return m.ended(d)
}

func (m *Marks[T]) ended(d *loop.Loop) tea.Cmd {
	m.Stop()
	return d.Tell("%s marked", prose.Plural(m.N(), "row"))
}

// Crumb says how many rows are marked.
func (m *Marks[T]) Crumb(esc safetext.Escaper) []safetext.Text {
	switch {
	case m.Walk != nil:
		return []safetext.Text{esc.Sprintf("marking: %s so far", prose.Group(m.N()+len(m.part)))}
	case m.N() > 0 && m.Uncounted() != "":
		return []safetext.Text{esc.Sprintf("%s marked, counting those in this filter", prose.Group(m.N()))}
	case m.Outside() > 0:
		return []safetext.Text{esc.Sprintf("%s marked, %s of them not in this filter", prose.Group(m.N()), prose.Group(m.Outside()))}
	case m.N() > 0:
		return []safetext.Text{esc.Sprintf("%s marked", prose.Group(m.N()))}
	}
	return nil
}

// Bindings are the marking keys; all says what * marks.
func (m *Marks[T]) Bindings(none func() string, move func(int) tea.Cmd) []act.Act {
	unmarked := func() string { return act.When(m.N() == 0, "nothing is marked") }
	rangeless := func() string {
		if m.anchor == "" {
			return "mark the first row of the range with space"
		}
		return none()
	}
	var stop []act.Act
	if m.Walk != nil {
		stop = []act.Act{{Keys: []string{"esc"}, Name: "stop marking", Doc: "stop marking; what is marked stays so", Do: func() tea.Cmd { m.Stop(); return nil }}}
	}
	row := func() string {
		if at, ok := m.list().Current(); ok && m.heading(at) {
			return "this row stands for those below it: an act on it is for them all"
		}
		return none()
	}
	return append(stop,
		act.Mark.With(row, func() tea.Cmd { m.toggle(); return move(1) }),
		act.Act{Keys: []string{"v"}, Doc: "mark the range from the row that was marked last to here", Why: rangeless, Do: m.rangeHere},
		act.MarkAll.With(none, func() tea.Cmd { return m.All(nil) }),
		act.Unmark.With(unmarked, func() tea.Cmd { m.Clear(); return nil }))
}
