package tui

import (
	"context"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// itemRow is an item in the list, escaped when its page arrived.
type itemRow struct {
	key       string // tells rows apart across refreshes
	header    model.Header
	title, id safetext.Text
	tier      safetext.Text
	size      safetext.Text
	flags     safetext.Text
	blocked   bool
}

// timeFirst is a bullet and a time that a title begins with: the list has the age of an
// item beside it, and the words tell more.
var timeFirst = regexp.MustCompile(`^[-*#>\s]*\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?[\s—–:|-]*`)

// firstWords is a title without the time that it begins with, where it has words too.
func firstWords(title string) string {
	if words := timeFirst.ReplaceAllString(title, ""); words != "" {
		return words
	}
	return title
}

// items is the second level of the Tiers pane: a windowed list of headers with a
// preview of the one at the cursor.
type items struct {
	d      *desk
	at     scopeOf
	list   *window[itemRow]
	reader *reader
	filter text.Input
	live   livefilter
	query  string // the filter in force
	order  model.Order
	orders []model.Order
	hidden bool
	marks  *marks[itemRow, markedItem]
	jump   jump
	pinned bool           // the reader shows an item that the list has not been led to
	whole  *held[itemRow] // the list as it was before it was filtered
	left   []leftPlace    // lists that were left, the last one last
	who    *writers
}

// leftPlace is a list as it was left: who comes back finds it so.
type leftPlace struct {
	at     scopeOf
	rows   *held[itemRow]
	query  string
	order  model.Order
	hidden bool
}

// keptPlaces is how many lists are kept so.
const keptPlaces = 16

// markedItem is what is remembered of an item that is marked.
type markedItem struct {
	stamp    string
	revision model.Revision
	bytes    int64
}

func newItems(d *desk, pane int, r *reader) *items {
	l := &items{d: d, reader: r, who: newWriters(d, pane), list: newWindow(d.asker(pane), func(r itemRow) string { return r.key })}
	l.marks = newMarks(func() *window[itemRow] { return l.list }, func(r itemRow) markedItem {
		return markedItem{r.header.Stamp, r.header.Revision, r.header.Bytes}
	})
	return l
}

// open begins the list of a place.
func (l *items) open(at scopeOf, hidden bool) tea.Cmd {
	same := at == l.at && hidden == l.hidden
	var left leftPlace
	if at != l.at {
		left = l.leave(at)
		fresh := newWindow(l.list.ask, l.list.id)
		fresh.gen = l.list.gen // answers for the old list stay stale
		fresh.height, fresh.perPage, fresh.leap = l.list.height, l.list.perPage, l.list.leap
		l.list, l.whole = fresh, nil
		l.query, l.filter, l.order = left.query, text.Input{}, left.order
		l.marks.clear()
	}
	l.at, l.hidden, l.pinned = at, hidden, false
	l.jump.close()
	s, err := l.d.fleet.Store(at.store)
	if err == nil {
		l.orders = s.Orders
	}
	switch {
	case left.rows != nil && left.hidden == hidden:
		return l.list.take(l.fetcher(), left.rows, "")
	case same && l.list.hold() != nil:
		return l.list.take(l.fetcher(), l.list.hold(), "")
	}
	return l.restart(nil, false)
}

// leave keeps the list that is left, and gives the one that is come back to.
func (l *items) leave(to scopeOf) (back leftPlace) {
	l.left = slices.DeleteFunc(l.left, func(p leftPlace) bool {
		if p.at == to {
			back = p
		}
		return p.at == to || p.at == l.at
	})
	if h := l.list.hold(); h != nil {
		l.left = append(l.left, leftPlace{l.at, h, l.query, l.order, l.hidden})
		l.left = l.left[max(len(l.left)-keptPlaces, 0):]
	}
	return back
}

// restart asks for the list anew; the cursor goes to the row that is the nearest kin.
func (l *items) restart(kin map[string]int, once bool) tea.Cmd {
	return l.list.resetNear(l.fetcher(), kin, once)
}

// fetcher reads pages of the list as it is filtered and ordered now.
func (l *items) fetcher() fetcher[itemRow] {
	d, at := l.d, l.at
	req := model.PageRequest{Tier: at.tier, Scope: at.scope, Query: l.query, Order: l.order, Hidden: l.hidden}
	not, inverted := strings.CutPrefix(l.query, "!")
	not = strings.ToLower(strings.TrimSpace(not))
	if inverted {
		req.Query = "" // stores search for what is there; what is not is told here, page by page
	}
	return func(ctx context.Context, f from, limit int) (span[itemRow], error) {
		s, err := d.fleet.Store(at.store)
		if err != nil {
			return span[itemRow]{}, err
		}
		req.Cursor, req.End, req.Limit = f.cursor, f.end, limit
		page, err := s.Browser.List(ctx, req)
		if err != nil {
			return span[itemRow]{}, err
		}
		out := span[itemRow]{next: page.Next, prev: page.Prev, total: page.Total, problems: page.Problems, rows: make([]itemRow, 0, len(page.Items))}
		for _, h := range page.Items {
			if inverted && strings.Contains(strings.ToLower(h.ID+"\n"+h.Title), not) {
				continue
			}
			out.rows = append(out.rows, newItemRow(d.esc, h))
		}
		if inverted {
			out.total = model.Count{Unknown: true}
		}
		return out, nil
	}
}

// rawID is what the id column shows, before escaping.
func (r itemRow) rawID() string {
	if r.id.IsEmpty() || len(r.header.ID) > prose.MaxTitle {
		return ""
	}
	return r.header.ID
}

func newItemRow(esc safetext.Escaper, h model.Header) itemRow {
	r := itemRow{
		key: h.ID, header: h,
		id: esc.LineMax(h.ID, prose.MaxTitle), tier: esc.Line(h.Tier),
		title: esc.LineMax(firstWords(h.Title), prose.MaxTitle),
		size:  safetext.Const(prose.Size(h.Bytes)), blocked: h.Has(model.FlagBlocked),
	}
	if h.Title == "" || h.Title == h.ID {
		r.title, r.id = r.id, safetext.Text{}
	}
	words := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		words[i] = string(f)
	}
	r.flags = esc.Line(strings.Join(words, " "))
	return r
}

// wanted is the item at the cursor.
func (l *items) wanted() reading {
	row, ok := l.list.current()
	if !ok {
		return reading{}
	}
	return reading{ref: model.Ref{Store: l.at.store, ID: row.header.ID}, terms: l.terms()}
}

// terms are the words to be painted in the preview.
func (l *items) terms() []string {
	if strings.HasPrefix(l.query, "!") {
		return nil
	}
	return text.SearchWords(l.query)
}

// preview asks for the item at the cursor once the cursor rests, and for who wrote what is
// on the screen.
func (l *items) preview() tea.Cmd { return tea.Batch(l.named(), l.previewed()) }

// named asks who wrote the rows on the screen.
func (l *items) named() tea.Cmd {
	rows := l.list.rows[min(l.list.top, len(l.list.rows)):]
	return l.who.want(func(int) string { return l.at.store }, min(len(rows), l.list.height), func(i int) model.Header { return rows[i].header })
}

func (l *items) previewed() tea.Cmd {
	w := l.wanted()
	if l.pinned {
		return nil
	}
	if w.ref.Store == "" {
		if l.list.loaded {
			l.reader.clear()
		}
		return nil
	}
	if l.reader.shown.Store == "" && !l.reader.busy {
		return l.reader.open(w, false) // the first one without a pause
	}
	return l.reader.rest(w)
}

func (l *items) Move(by int) tea.Cmd     { return tea.Batch(l.list.Move(by), l.preview()) }
func (l *items) Page(by float64) tea.Cmd { return tea.Batch(l.list.Page(by), l.preview()) }
func (l *items) Home() tea.Cmd           { return tea.Batch(l.list.Home(), l.preview()) }
func (l *items) End() tea.Cmd            { return tea.Batch(l.list.End(), l.preview()) }

func (l *items) startFilter() tea.Cmd {
	l.live.begin(l.query)
	l.filter.Set(l.query)
	l.filter.Focus = true
	return nil
}

func (l *items) filterBindings() []act.Act {
	return l.live.bindings("items", &l.filter, &l.query, l.apply)
}

// apply puts a filter in force; an empty one shows everything.
func (l *items) apply(query string) tea.Cmd {
	l.filter.Focus = false
	l.filter.Set(query)
	return l.narrow(query)
}

// narrow puts a filter in force and leaves the input as it is.
func (l *items) narrow(query string) tea.Cmd {
	if strings.Trim(query, "! ") == "" {
		query = ""
	}
	was := l.query
	l.query = query
	l.list.fetch = l.fetcher()
	count := l.marks.filtered(query)
	return tea.Batch(l.refilter(was, query), count)
}

// refilter shows the list under another filter.
func (l *items) refilter(was, query string) tea.Cmd {
	switch kin := l.list.kin(); {
	case was == "" && query != "": // whoever filters waits for what matches
		l.whole = l.list.hold()
		return l.restart(kin, true)
	case query != "" || l.whole == nil:
		return l.restart(kin, query != "")
	default: // the whole list again
		whole, rows := l.whole, l.whole.rows(l.list.id)
		l.whole = nil
		row, ok := l.list.current()
		if _, there := rows[row.key]; there || !ok {
			return l.list.take(l.fetcher(), whole, row.key)
		}
		for k, n := range rows {
			rows[k] = 2 * max(n-whole.sel, whole.sel-n)
		}
		return l.restart(merged(kin, rows), false)
	}
}

func (l *items) showHidden(on bool) tea.Cmd {
	l.hidden, l.whole = on, nil
	return l.restart(l.list.kin(), false)
}

func (l *items) oneOrder() string {
	if len(l.orders) < 2 {
		return "this store has one order only"
	}
	return ""
}

func (l *items) nextOrder() tea.Cmd {
	i := max(slices.Index(l.orders, l.order), 0)
	l.order = l.orders[(i+1)%len(l.orders)]
	l.d.say(paint.ToneInfo, l.d.st.Esc.Sprintf("order: %s", string(l.order)))
	l.whole = nil
	return l.restart(l.list.kin(), false)
}

func (l *items) crumbs() []safetext.Text {
	esc := l.d.st.Esc
	out := []safetext.Text{esc.Line(l.at.store)}
	if l.at.scope != "" {
		out = append(out, esc.Line(l.at.scope))
	}
	if l.at.tier != "" {
		out = append(out, esc.Line(l.at.tier))
	} else {
		out = append(out, esc.Const("all tiers"))
	}
	switch {
	case strings.HasPrefix(l.query, "!"):
		out = append(out, esc.Sprintf("/%s (in titles and ids)", esc.Line(l.query)))
	case l.query != "":
		out = append(out, esc.Sprintf("/%s", esc.Line(l.query)))
	}
	return append(append(out, l.marks.crumb(esc)...), l.list.looking(esc)...)
}

// columns of the list: what the numbers leave is shared by title and id.
type itemColumns struct{ title, id, tier, origin, size, flags int }

func (l *items) columns(width int) itemColumns {
	c := itemColumns{size: 10, flags: 12}
	if width >= 90 {
		c.flags = 18
	}
	if l.at.tier == "" {
		c.tier = 11
	}
	if l.d.Origins != nil {
		c.origin = originWidth
		if width < 76 { // each gives a little, so that the title can be read
			c.size, c.flags, c.tier, c.origin = 8, 8, min(c.tier, 10), 11
		}
	}
	rest := width - 2 - c.size - 6 - c.flags - c.tier - c.origin
	c.title = rest
	if rest >= 36 {
		c.title = rest * 11 / 20
		c.id = rest - c.title
	}
	return c
}

func (l *items) render(width, height int) ([]string, *tea.Position) {
	f := l.d.split(width, height)
	st := l.d.st
	c := l.columns(f.listWidth)
	var cursor *tea.Position
	list := make([]string, 0, f.listHeight)
	h := st.Row(f.listWidth)
	if l.jump.in.Focus {
		h.Blank(1)
		col := l.jump.in.Render(h, st.Esc.Const("jump to: "), st.Esc.Const("the first letters of a title or id"))
		cursor = &tea.Position{X: col + 1}
	} else if l.filter.Focus {
		h.Blank(1)
		col := l.filter.Render(h, st.Esc.Const("/"), safetext.Text{})
		cursor = &tea.Position{X: col + 1}
	} else {
		l.heading(h, c)
	}
	list = append(list, h.End())
	rows := l.list.rows
	for i := l.list.top; i < min(len(rows), l.list.top+l.list.height); i++ {
		list = append(list, l.row(rows[i], i == l.list.sel, f.listWidth, c))
	}
	list = append(list, l.emptiness(f.listWidth)...)
	return l.d.join(f, list, l.reader.pager, safetext.Const(itemAside)), cursor
}

func (l *items) heading(h *paint.Row, c itemColumns) {
	st := l.d.st
	h.Blank(2).Cell(st.Heading, safetext.Const("TITLE"), c.title).Cell(st.Heading, safetext.Const("ID"), c.id)
	if c.tier > 0 {
		h.Cell(st.Heading, safetext.Const("TIER"), c.tier)
	}
	if c.origin > 0 {
		h.Cell(st.Heading, safetext.Const("ORIGIN"), c.origin)
	}
	if c.size > 0 {
		h.Number(st.Heading, safetext.Const("SIZE"), c.size)
	}
	h.Number(st.Heading, safetext.Const("AGE"), 5).Blank(1).Lit(st.Heading, "FLAGS")
}

func (l *items) row(it itemRow, at bool, width int, c itemColumns) string {
	st := l.d.st
	r := st.Highlighted(width, at, !l.filter.Focus)
	st.Mark(r, l.marks.has(it.key))
	r.Find = l.d.found(l.query)
	if c.id > 0 {
		r.Cell(st.Plain, it.title, c.title-1).Blank(1).Cell(st.Dim, st.Tail(it.id, it.rawID(), "", c.id-1), c.id-1).Blank(1)
	} else {
		r.Cell(st.Plain, it.title, c.title-1).Blank(1)
	}
	if c.tier > 0 {
		r.Cell(st.Dim, it.tier, c.tier-1).Blank(1)
	}
	if c.origin > 0 {
		who, pt := l.who.cell(model.Ref{Store: l.at.store, ID: it.key})
		r.Cell(pt, who, c.origin-1).Blank(1)
	}
	if c.size > 0 {
		r.Number(st.Dim, it.size, c.size)
	}
	r.Number(st.Dim, safetext.Const(l.d.time.Age(it.header.Modified)), 5).Blank(1)
	flags := st.Warn
	if it.blocked {
		flags = st.Bad
	}
	return r.Put(flags, it.flags).End()
}

// emptiness says why there are no rows, what failed, and what to do.
func (l *items) emptiness(width int) []string {
	st := l.d.st
	say := func(p paint.Paint, t safetext.Text) []string { return st.Paragraph(p, t, width) }
	switch {
	case l.list.err != nil && len(l.list.rows) == 0:
		return say(st.Bad, st.Esc.Sprintf("!! the store does not list: %s. ctrl+r asks again, esc goes back.", prose.Reason(st.Esc, l.list.err)))
	case len(l.list.rows) > 0 || !l.list.loaded:
		return nil
	case l.query != "":
		return say(st.Dim, st.Esc.Sprintf("Nothing matches %q. esc shows all items, / changes the filter.", l.query))
	case !l.hidden:
		return say(st.Dim, st.Esc.Const("No items here. a also looks at hidden, archived and bookkeeping ones; esc goes back."))
	}
	return say(st.Dim, st.Esc.Const("No items here, hidden ones included. esc goes back."))
}
