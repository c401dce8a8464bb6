package tiers

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// ItemRow is an item in the list, escaped when its page arrived.
type ItemRow struct {
	key       string // tells rows apart across refreshes
	Header    model.Header
	title, id safetext.Text
	tier      safetext.Text
	size      safetext.Text
	flags     safetext.Text
	blocked   bool
}

// timeFirst is a bullet and a time at the start of a title: the list has a column of ages, and the
// words tell more.
var timeFirst = regexp.MustCompile(`^[-*#>\s]*\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?[\s—–:|-]*`)

// firstWords is a title without its leading time, if words follow.
func firstWords(title string) string {
	if words := timeFirst.ReplaceAllString(title, ""); words != "" {
		return words
	}
	return title
}

// items is the second level of the Tiers pane: a windowed list of headers with a
// preview of the one at the cursor.
type items struct {
	d      *desk.Desk
	At     desk.ScopeOf
	List   *list.Window[ItemRow]
	reader *pane.Reader
	filter text.Input
	live   list.Filter
	Query  string // the filter in force
	Order  model.Order
	Orders []model.Order
	Hidden bool
	Marks  *list.Marks[ItemRow, markedItem]
	jump   list.Jump
	pinned bool                // the reader shows an item that the list has not reached
	whole  *list.Held[ItemRow] // the unfiltered list
	left   []leftPlace         // lists left earlier, the last one last
	who    *pane.Writers
	pulse  desk.Pulse
	fit    list.Fit // of the columns below
}

// The columns that are as wide as their cells.
const (
	colTier = iota
	colOrigin
	colSize
	colFlags
)

// fitted notes the widths of the rows that have arrived, and of their writers.
func (l *items) fitted() {
	for i, title := range []string{"TIER", "ORIGIN", "SIZE", "FLAGS"} {
		l.fit.See(i, len(title)+1) // for the sign of the order
	}
	for _, r := range l.List.Rows {
		who, _ := l.who.Cell(model.Ref{Store: l.At.Store, ID: r.key})
		for i, t := range []safetext.Text{r.tier, who, r.size, r.flags} {
			l.fit.See(i, t.Width())
		}
	}
}

// leftPlace is a list as the operator left it: a return finds it unchanged.
type leftPlace struct {
	at     desk.ScopeOf
	rows   *list.Held[ItemRow]
	query  string
	order  model.Order
	hidden bool
}

// keptPlaces bounds the lists that are kept so.
const keptPlaces = 16

// markedItem is the kept part of a marked item.
type markedItem struct {
	stamp    string
	revision model.Revision
	bytes    int64
}

func newItems(d *desk.Desk, address int, r *pane.Reader) *items {
	l := &items{d: d, reader: r, who: pane.NewWriters(d, address), List: list.NewWindow(d.Asker(address), func(r ItemRow) string { return r.key })}
	l.Marks = list.NewMarks(func() *list.Window[ItemRow] { return l.List }, func(r ItemRow) markedItem {
		return markedItem{r.Header.Stamp, r.Header.Revision, r.Header.Bytes}
	})
	return l
}

// Open begins the list of a place.
func (l *items) Open(at desk.ScopeOf, hidden bool) tea.Cmd {
	same := at == l.At && hidden == l.Hidden
	var left leftPlace
	if at != l.At {
		left = l.leave(at)
		fresh := list.NewWindow(l.List.Ask, l.List.Id)
		fresh.Gen = l.List.Gen // answers for the old list stay stale
		fresh.Height, fresh.PerPage, fresh.Leap = l.List.Height, l.List.PerPage, l.List.Leap
		l.List, l.whole = fresh, nil
		l.Query, l.filter, l.Order = left.query, text.Input{}, left.order
		l.Marks.Clear()
		l.pulse, l.fit = desk.Pulse{}, nil
	}
	l.At, l.Hidden, l.pinned = at, hidden, false
	l.jump.Close()
	s, err := l.d.Fleet.Store(at.Store)
	if err == nil {
		l.Orders = s.Orders
	}
	switch {
	case left.rows != nil && left.hidden == hidden:
		defer l.fitted()
		return l.List.Take(l.fetcher(), left.rows, "")
	case same && l.List.Hold() != nil:
		return l.List.Take(l.fetcher(), l.List.Hold(), "")
	}
	return l.Restart(nil, false)
}

// read notes the age of the list, from an answer with the list's start.
func (l *items) read(m list.Fetched[ItemRow]) {
	switch now := l.d.Time.Clock.Now(); {
	case m.Gen != l.List.Gen || m.How != list.ArriveReset && m.How != list.ArriveRefresh:
	case m.Err != nil:
		l.pulse.Failed(now)
	default:
		l.pulse.Read(now)
	}
}

// leave keeps the list being left, and returns the kept list of the target place.
func (l *items) leave(to desk.ScopeOf) (back leftPlace) {
	l.left = slices.DeleteFunc(l.left, func(p leftPlace) bool {
		if p.at == to {
			back = p
		}
		return p.at == to || p.at == l.At
	})
	if h := l.List.Hold(); h != nil {
		l.left = append(l.left, leftPlace{l.At, h, l.Query, l.Order, l.Hidden})
		l.left = l.left[max(len(l.left)-keptPlaces, 0):]
	}
	return back
}

// Restart fetches the list anew; the cursor goes to the nearest remaining row.
func (l *items) Restart(neighbours map[string]int, once bool) tea.Cmd {
	return l.List.ResetNear(l.fetcher(), neighbours, once)
}

// parse reads a filter: words and terms of fields, or after ! those to leave out.
func (l *items) parse(filter string) (q operator.Query, inverted bool, err error) {
	rest, inverted := strings.CutPrefix(filter, "!")
	q, err = operator.ParseQuery(rest, l.d.Time.Clock.Now())
	return q, inverted, err
}

// fetcher reads pages of the list as it is filtered and ordered now.
func (l *items) fetcher() list.Fetcher[ItemRow] {
	d, at := l.d, l.At
	q, inverted, wrong := l.parse(l.Query)
	req := model.PageRequest{Tier: at.Tier, Scope: at.Scope, Query: q.Words, Order: l.Order, Hidden: l.Hidden || q.Archived != ""}
	if inverted {
		req.Query = "" // stores search for a match; its negation is filtered here, page by page
	}
	words := strings.ToLower(q.Words)
	return func(ctx context.Context, f list.From, limit int) (list.Span[ItemRow], error) {
		if wrong != nil {
			return list.Span[ItemRow]{}, wrong
		}
		s, err := d.Fleet.Store(at.Store)
		if err != nil {
			return list.Span[ItemRow]{}, err
		}
		concerns, err := q.Concerning(ctx, s)
		if err != nil {
			return list.Span[ItemRow]{}, err
		}
		req.Cursor, req.End, req.Limit = f.Cursor, f.End, limit
		page, err := s.Browser.List(ctx, req)
		if err != nil {
			return list.Span[ItemRow]{}, err
		}
		out := list.Span[ItemRow]{Next: page.Next, Prev: page.Prev, Total: page.Total, Problems: page.Problems, Rows: make([]ItemRow, 0, len(page.Items))}
		for _, h := range page.Items {
			ok, err := q.Lists(ctx, s, h, concerns)
			if err != nil {
				out.Problems = append(out.Problems, h.ID+": "+err.Error())
				continue
			}
			ok = ok && (!inverted || strings.Contains(strings.ToLower(h.ID+"\n"+h.Title), words))
			if ok == inverted {
				continue
			}
			out.Rows = append(out.Rows, newItemRow(d.Esc, h))
		}
		if inverted || q.Narrows() {
			out.Total = model.Count{Unknown: true}
		}
		return out, nil
	}
}

// rawID is what the id column shows, before escaping.
func (r ItemRow) rawID() string {
	if r.id.IsEmpty() || len(r.Header.ID) > prose.MaxTitle {
		return ""
	}
	return r.Header.ID
}

func newItemRow(esc safetext.Escaper, h model.Header) ItemRow {
	r := ItemRow{
		key: h.ID, Header: h,
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
func (l *items) wanted() pane.Reading {
	row, ok := l.List.Current()
	if !ok {
		return pane.Reading{}
	}
	return pane.Reading{Ref: model.Ref{Store: l.At.Store, ID: row.Header.ID}, Terms: text.SearchWords(l.words())}
}

// words are those that the rows and the preview mark.
func (l *items) words() string {
	q, inverted, _ := l.parse(l.Query)
	if inverted {
		return ""
	}
	return q.Words
}

// preview reads the item at the cursor once the cursor rests, and asks for the writers of the rows
// on the screen.
func (l *items) preview() tea.Cmd { return tea.Batch(l.named(), l.previewed()) }

// named asks for the writers of the rows on the screen.
func (l *items) named() tea.Cmd {
	rows := l.List.Rows[min(l.List.Top, len(l.List.Rows)):]
	return l.who.Want(func(int) string { return l.At.Store }, min(len(rows), l.List.Height), func(i int) model.Header { return rows[i].Header })
}

func (l *items) previewed() tea.Cmd {
	w := l.wanted()
	if l.pinned {
		return nil
	}
	if w.Ref.Store == "" {
		if l.List.Loaded {
			l.reader.Clear()
		}
		return nil
	}
	if l.reader.Shown.Store == "" && !l.reader.Busy {
		return l.reader.Open(w, false) // the first one without a pause
	}
	return l.reader.Rest(w)
}

func (l *items) Move(by int) tea.Cmd     { return tea.Batch(l.List.Move(by), l.preview()) }
func (l *items) Page(by float64) tea.Cmd { return tea.Batch(l.List.Page(by), l.preview()) }
func (l *items) Home() tea.Cmd           { return tea.Batch(l.List.Home(), l.preview()) }
func (l *items) End() tea.Cmd            { return tea.Batch(l.List.End(), l.preview()) }

func (l *items) startFilter() tea.Cmd {
	l.live.Begin(l.Query)
	l.filter.Edit(l.Query)
	return nil
}

func (l *items) filterBindings() []act.Act {
	return l.live.Bindings("items", &l.filter, &l.Query, l.apply)
}

// apply puts a filter in force; an empty one shows everything.
func (l *items) apply(query string) tea.Cmd {
	if _, _, err := l.parse(query); err != nil {
		l.d.Say(paint.ToneWarn, prose.Reason(l.d.Esc, err))
		return nil // the operator goes on typing
	}
	l.filter.Focus = false
	l.filter.Set(query)
	return l.narrow(query)
}

// narrow applies a filter and leaves the input unchanged.
func (l *items) narrow(query string) tea.Cmd {
	if strings.Trim(query, "! ") == "" {
		query = ""
	}
	was := l.Query
	l.Query = query
	l.List.Fetch = l.fetcher()
	count := l.Marks.Filtered(query)
	return tea.Batch(l.refilter(was, query), count)
}

// refilter shows the list under another filter.
func (l *items) refilter(was, query string) tea.Cmd {
	switch neighbours := l.List.Neighbours(); {
	case was == "" && query != "": // a filter's matches are wanted at once
		l.whole = l.List.Hold()
		return l.Restart(neighbours, true)
	case query != "" || l.whole == nil:
		return l.Restart(neighbours, query != "")
	default: // the whole list again
		whole, rows := l.whole, l.whole.Rows(l.List.Id)
		l.whole = nil
		row, ok := l.List.Current()
		if _, there := rows[row.key]; there || !ok {
			return l.List.Take(l.fetcher(), whole, row.key)
		}
		for k, n := range rows {
			rows[k] = 2 * max(n-whole.Sel, whole.Sel-n)
		}
		return l.Restart(list.Merged(neighbours, rows), false)
	}
}

func (l *items) showHidden(on bool) tea.Cmd {
	l.Hidden, l.whole = on, nil
	return l.Restart(l.List.Neighbours(), false)
}

func (l *items) oneOrder() string {
	if len(l.Orders) < 2 {
		return "this store has one order only"
	}
	return ""
}

func (l *items) nextOrder() tea.Cmd {
	i := max(slices.Index(l.Orders, l.Order), 0)
	return l.orderBy(string(l.Orders[(i+1)%len(l.Orders)]))
}

// orderBy lists the items in an order of the store.
func (l *items) orderBy(name string) tea.Cmd {
	if !slices.Contains(l.Orders, model.Order(name)) {
		return l.d.Tell("the orders of this store: %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(l.Orders), "[]"), " ", ", "))
	}
	l.Order = model.Order(name)
	l.d.Tell("order: %s", name)
	l.whole = nil
	return l.Restart(l.List.Neighbours(), false)
}

func (l *items) crumbs() []safetext.Text {
	esc := l.d.St.Esc
	out := []safetext.Text{esc.Line(l.At.Store)}
	if l.At.Scope != "" {
		out = append(out, esc.Line(l.At.Scope))
	}
	if l.At.Tier != "" {
		out = append(out, esc.Line(l.At.Tier))
	} else {
		out = append(out, esc.Const("all tiers"))
	}
	switch {
	case strings.HasPrefix(l.Query, "!"):
		out = append(out, esc.Sprintf("/%s (in titles and ids)", esc.Line(l.Query)))
	case l.Query != "":
		out = append(out, esc.Sprintf("/%s", esc.Line(l.Query)))
	}
	return append(append(out, l.Marks.Crumb(esc)...), l.List.Looking(esc)...)
}

// Columns of the list: the numbers go first, title and id share the rest.
type itemColumns struct{ title, id, tier, origin, size, flags int }

func (l *items) columns(width int) itemColumns {
	c := itemColumns{size: l.fit.Width(colSize, 10), flags: l.fit.Width(colFlags, 18)}
	if l.At.Tier == "" {
		c.tier = l.fit.Width(colTier, 11)
	}
	if l.d.Origins != nil {
		c.origin = l.fit.Width(colOrigin, pane.OriginWidth)
	}
	if width < 76 { // each gives a little, so that the title can be read
		c.size, c.flags, c.tier, c.origin = min(c.size, 8), min(c.flags, 8), min(c.tier, 10), min(c.origin, 11)
	}
	rest := width - 2 - c.size - 6 - c.flags - c.tier - c.origin
	if rest < 18 { // the detail says who wrote the item
		rest, c.origin = rest+c.origin, 0
	}
	c.title = rest
	if rest >= 56 {
		c.title = rest * 11 / 20
		c.id = rest - c.title
	}
	return c
}

func (l *items) render(width, height int) ([]string, *tea.Position) {
	f := l.d.Split(width, height)
	st := l.d.St
	c := l.columns(f.ListWidth)
	var cursor *tea.Position
	list := make([]string, 0, f.ListHeight)
	h := st.Row(f.ListWidth)
	if l.jump.In.Focus {
		h.Blank(1)
		col := l.jump.In.Render(h, st.Esc.Const("jump to: "), st.Esc.Const("the first letters of a title or id"))
		cursor = &tea.Position{X: col + 1}
	} else if l.filter.Focus {
		h.Blank(1)
		col := l.filter.Render(h, st.Esc.Const("/"), safetext.Text{})
		cursor = &tea.Position{X: col + 1}
	} else {
		l.heading(h, c)
	}
	list = append(list, h.End())
	rows, found := l.List.Rows, l.d.Found(l.words())
	for i := l.List.Top; i < min(len(rows), l.List.Top+l.List.Height); i++ {
		list = append(list, l.row(rows[i], i == l.List.Sel, f.ListWidth, c, found))
	}
	list = append(list, l.emptiness(f.ListWidth)...)
	return l.d.Join(f, list, l.reader.Pager, safetext.Const(desk.ItemAside)), cursor
}

func (l *items) heading(h *paint.Row, c itemColumns) {
	st := l.d.St
	h.Blank(2).Cell(st.Heading, safetext.Const("TITLE"), c.title).Cell(st.Heading, l.titled("ID", model.OrderID, ""), c.id)
	if c.tier > 0 {
		h.Cell(st.Heading, safetext.Const("TIER"), c.tier)
	}
	if c.origin > 0 {
		h.Cell(st.Heading, safetext.Const("ORIGIN"), c.origin)
	}
	if c.size > 0 {
		h.Number(st.Heading, l.titled("SIZE", "", model.OrderLargest), c.size)
	}
	h.Number(st.Heading, l.titled("AGE", model.OrderNewest, model.OrderOldest), 5).Blank(1).Lit(st.Heading, "FLAGS")
}

// titled is the title of a column, with a sign where the list is in one of its orders.
func (l *items) titled(title string, up, down model.Order) safetext.Text {
	by := l.Order
	if by == "" && len(l.Orders) > 0 {
		by = l.Orders[0]
	}
	switch {
	case by != "" && by == up:
		return l.d.St.Esc.Sprintf("%s%s", safetext.Const(title), l.d.St.Glyphs.Up)
	case by != "" && by == down:
		return l.d.St.Esc.Sprintf("%s%s", safetext.Const(title), l.d.St.Glyphs.Down)
	}
	return safetext.Const(title)
}

func (l *items) row(it ItemRow, at bool, width int, c itemColumns, found func(string) []safetext.Span) string {
	st := l.d.St
	r := st.Highlighted(width, at, !l.filter.Focus)
	st.Mark(r, l.Marks.Has(it.key))
	r.Find = found
	if c.id > 0 {
		r.Cell(st.Plain, it.title, c.title-1).Blank(1).Cell(st.Dim, st.Tail(it.id, it.rawID(), "", c.id-1), c.id-1).Blank(1)
	} else {
		r.Cell(st.Plain, it.title, c.title-1).Blank(1)
	}
	if c.tier > 0 {
		r.Cell(st.Dim, it.tier, c.tier-1).Blank(1)
	}
	if c.origin > 0 {
		who, pt := l.who.Cell(model.Ref{Store: l.At.Store, ID: it.key})
		r.Cell(pt, who, c.origin-1).Blank(1)
	}
	if c.size > 0 {
		r.Number(st.Dim, it.size, c.size)
	}
	r.Number(st.Dim, safetext.Const(l.d.Time.Age(it.Header.Modified)), 5).Blank(1)
	flags := st.Warn
	if it.blocked {
		flags = st.Bad
	}
	return r.Put(flags, it.flags).End()
}

// emptiness says why there are no rows, what failed, and what to do.
func (l *items) emptiness(width int) []string {
	st := l.d.St
	say := func(p paint.Paint, t safetext.Text) []string { return st.Paragraph(p, t, width) }
	switch {
	case errors.Is(l.List.Err, model.InvalidInput) && l.Query != "" && len(l.List.Rows) == 0:
		return say(st.Warn, st.Esc.Sprintf("%s. esc shows all items, / changes the filter.", prose.Reason(st.Esc, l.List.Err)))
	case l.List.Err != nil && len(l.List.Rows) == 0:
		return say(st.Bad, st.Esc.Sprintf("!! the store does not list: %s. ctrl+r asks again, esc goes back.", prose.Reason(st.Esc, l.List.Err)))
	case len(l.List.Rows) > 0 || !l.List.Loaded:
		return nil
	case l.Query != "":
		return say(st.Dim, st.Esc.Sprintf("Nothing matches %q. esc shows all items, / changes the filter.", l.Query))
	case !l.Hidden:
		return say(st.Dim, st.Esc.Const("No items here. a also looks at hidden, archived and bookkeeping ones; esc goes back."))
	}
	return say(st.Dim, st.Esc.Const("No items here, hidden ones included. esc goes back."))
}
