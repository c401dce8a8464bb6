package tiers

import (
	"context"
	"errors"
	"fmt"
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
	Header    model.Header
	title, id safetext.Text
	tier      safetext.Text
	size      safetext.Text
	flags     safetext.Text
}

// items is the second level of the Tiers pane: a windowed list of headers with a preview.
type items struct {
	*list.Browser[ItemRow, markedItem]
	d      *desk.Desk
	At     desk.ScopeOf
	reader *pane.Reader
	Order  model.Order
	Orders []model.Order
	Hidden bool
	pinned bool        // the reader shows an item that the list has not reached
	left   []leftPlace // lists left earlier, the last one last
	who    *pane.Writers
	pulse  desk.Pulse
	fit    list.Fit // of the columns below
	halves desk.Halves
}

// The columns that share the list with the id.
const (
	colTier = iota
	colOrigin
	colSize
	colAge
	colFlags
	colTitle // takes what is left
	colID
)

var itemTitles = [...]string{"TIER", "ORIGIN", "SIZE", "AGE", "FLAGS", "TITLE", "ID"}

// fitted notes the widths of the rows that have arrived.
func (l *items) fitted() {
	for _, r := range l.Window.Rows {
		who := l.who.Width(model.Ref{Store: l.At.Store, ID: r.Header.ID})
		for i, width := range []int{r.tier.Width(), who, r.size.Width(), 4, l.flags(r).Width(), r.title.Width(), r.id.Width()} {
			l.fit.See(i, width, len(itemTitles[i])+1) // and the sign of an order
		}
	}
}

// flags are those of a row, and its part in a conflict as far as pane 5 has looked.
func (l *items) flags(r ItemRow) safetext.Text {
	switch part := l.d.Part(model.Ref{Store: l.At.Store, ID: r.Header.ID}); {
	case part == "":
		return r.flags
	case r.flags.IsEmpty():
		return l.d.Esc.Const(string(part))
	default:
		return l.d.Esc.Sprintf("%s %s", l.d.Esc.Const(string(part)), r.flags)
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
	title    string
	stamp    string
	revision model.Revision
	bytes    int64
}

func newItems(d *desk.Desk, address int, r *pane.Reader) *items {
	l := &items{d: d, reader: r, who: pane.NewWriters(d, address)}
	l.Browser = list.NewBrowser(&d.Loop, address, func(r ItemRow) string { return r.Header.ID }, func(r ItemRow) markedItem {
		return markedItem{r.Header.Title, r.Header.Stamp, r.Header.Revision, r.Header.Bytes}
	})
	l.Fetcher, l.Moved, l.Hint = l.fetcher, l.preview, "words; ! shows the others; "+operator.QueryTerms
	l.Check = func(query string) error {
		_, _, err := l.parse(query)
		return err
	}
	return l
}

func (l *items) Open(at desk.ScopeOf, hidden bool) tea.Cmd {
	same := at == l.At && hidden == l.Hidden
	var left leftPlace
	if at != l.At {
		left = l.leave(at)
		l.Anew()
		l.Query, l.Order = left.query, left.order
		l.pulse, l.fit, l.halves = desk.Pulse{}, nil, desk.Halves{}
	}
	l.At, l.Hidden, l.pinned = at, hidden, false
	s, err := l.d.Fleet.Store(at.Store)
	if err == nil {
		l.Orders = s.Orders
	}
	switch {
	case left.rows != nil && left.hidden == hidden:
		defer l.fitted()
		return l.Window.Take(l.fetcher(), left.rows, "")
	case same && l.Window.Hold() != nil:
		return l.Window.Take(l.fetcher(), l.Window.Hold(), "")
	}
	return l.begin()
}

// begin reads the list from its start.
func (l *items) begin() tea.Cmd { return l.Window.Reset(l.fetcher()) }

// read notes the age of the list, from an answer with the list's start.
func (l *items) read(m list.Fetched[ItemRow]) {
	switch now := l.d.Time.Clock.Now(); {
	case m.Gen != l.Window.Gen || m.How != list.ArriveReset && m.How != list.ArriveRefresh:
	case m.Err != nil:
		l.pulse.Failed(now)
	default:
		l.pulse.Read(now)
		l.pulse.Took = min(l.pulse.Took, m.Took)
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
	if h := l.Window.Hold(); h != nil {
		l.left = append(l.left, leftPlace{l.At, h, l.Query, l.Order, l.Hidden})
		l.left = l.left[max(len(l.left)-keptPlaces, 0):]
	}
	return back
}

// parse reads a filter: words and terms of fields, or after ! those to leave out.
func (l *items) parse(filter string) (q operator.Query, inverted bool, err error) {
	rest, inverted := strings.CutPrefix(filter, "!")
	q, err = operator.ParseQuery(rest, l.d.Time.Clock.Now())
	q.Writers = l.d.Origins
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
		req := req // fetches run side by side
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
		Header: h,
		id:     esc.LineMax(h.ID, prose.MaxTitle), tier: esc.Line(h.Tier),
		title: esc.LineMax(desk.FirstWords(h.Title), prose.MaxTitle),
		size:  safetext.Const(prose.Size(h.Bytes)),
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

func (l *items) trailed(m list.Trailed[ItemRow]) tea.Cmd {
	cmd, found := l.Trailed(m)
	l.fitted()
	l.pinned = l.pinned && !found
	return tea.Batch(cmd, l.preview())
}

func (l *items) wanted() pane.Reading {
	row, ok := l.Window.Current()
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

// preview reads the item where the cursor rests, and asks for the writers of the visible rows.
func (l *items) preview() tea.Cmd { return tea.Batch(l.named(), l.previewed()) }

// named asks for the writers of the rows on the screen.
func (l *items) named() tea.Cmd {
	rows := l.Window.Rows[min(l.Window.Top, len(l.Window.Rows)):]
	return l.who.Want(func(int) string { return l.At.Store }, min(len(rows), l.Window.Height), func(i int) model.Header { return rows[i].Header })
}

func (l *items) previewed() tea.Cmd {
	w := l.wanted()
	if l.pinned {
		return nil
	}
	if w.Ref.Store == "" {
		if l.Window.Loaded {
			l.reader.Clear()
		}
		return nil
	}
	if l.reader.Shown.Store == "" && !l.reader.Busy {
		return l.reader.Open(w, false) // the first one without a pause
	}
	return l.reader.Rest(w)
}

func (l *items) oneOrder() string {
	return act.When(len(l.Orders) < 2, "this store has one order only")
}

// nextOrder lists the items in the next order of the store, or in the one before.
func (l *items) nextOrder(by int) func() tea.Cmd {
	return func() tea.Cmd {
		i := max(slices.Index(l.Orders, l.Order), 0)
		return l.orderBy(string(l.Orders[(i+by+len(l.Orders))%len(l.Orders)]))
	}
}

// sortKeys are those of every list, as far as the store has orders.
func (l *items) sortKeys() []act.Act {
	turned := func() model.Order {
		return map[model.Order]model.Order{model.OrderNewest: model.OrderOldest, model.OrderOldest: model.OrderNewest}[l.ordered()]
	}
	oneWay := func() string {
		return act.When(!slices.Contains(l.Orders, turned()), "this store has this order one way only")
	}
	return []act.Act{
		{Keys: []string{">"}, Doc: "sort by the next order of the store, as o does", Why: l.oneOrder, Do: l.nextOrder(1)},
		{Keys: []string{"<"}, Doc: "sort by the order of the store before", Why: l.oneOrder, Do: l.nextOrder(-1)},
		{Keys: []string{"-"}, Doc: "sort the other way round, where the store can", Why: oneWay, Do: func() tea.Cmd { return l.orderBy(string(turned())) }},
	}
}

// ordered is the order of the list; without a choice it is the store's first.
func (l *items) ordered() model.Order {
	if l.Order == "" && len(l.Orders) > 0 {
		return l.Orders[0]
	}
	return l.Order
}

// orderBy lists the items in an order of the store.
func (l *items) orderBy(name string) tea.Cmd {
	if !slices.Contains(l.Orders, model.Order(name)) {
		return l.d.Tell("the orders of this store: %s", strings.ReplaceAll(strings.Trim(fmt.Sprint(l.Orders), "[]"), " ", ", "))
	}
	l.Order = model.Order(name)
	l.d.Tell("order: %s", name)
	l.Whole = nil
	return l.Restart(false)
}

// withHidden stands before filter and marks: for lack of room the last breadcrumb stays.
var withHidden = safetext.Const("with hidden")

func (l *items) crumbs(hidden bool) []safetext.Text {
	esc := l.d.Esc
	out := []safetext.Text{esc.Line(l.At.Store)}
	if l.At.Scope != "" {
		out = append(out, esc.Line(l.At.Scope))
	}
	if l.At.Tier != "" {
		out = append(out, esc.Line(l.At.Tier))
	} else {
		out = append(out, esc.Const("all tiers"))
	}
	if hidden {
		out = append(out, withHidden)
	}
	switch {
	case strings.HasPrefix(l.Query, "!"):
		out = append(out, esc.Sprintf("/%s (in titles and ids)", esc.Line(l.Query)))
	case l.Query != "":
		out = append(out, esc.Sprintf("/%s", esc.Line(l.Query)))
	}
	return append(append(out, l.Marks.Crumb(esc)...), l.Window.Looking(esc)...)
}

// columns are those that share the list with the id.
func (l *items) columns() []list.Column {
	tier, origin := list.Column{Most: 11, Least: 9}, pane.Origin // the detail says who wrote the item
	if l.At.Tier != "" {
		tier = list.Column{}
	}
	if l.d.Origins == nil {
		origin = list.Column{}
	}
	return []list.Column{tier, origin, {Most: 10, Least: 9}, {Most: 5, Least: 5}, {Most: 18, Least: 8}, {Least: 32}}
}

// split shares the pane between list and preview anew.
func (l *items) split(width, height int) {
	l.halves = l.d.Split(l.halves, desk.Asks{Width: width, Height: height, Rows: l.Steady(), Empty: l.Window.Bare(), Cuts: func(room int) bool {
		return l.fit[:min(len(l.fit), colID)].Cuts(room-2, l.columns())
	}})
}

// widths are the columns for a list; the id has what the titles leave.
func (l *items) widths(width int) (w [colID + 1]int) {
	rest := width - 2
	for i, of := range l.fit.Widths(rest, l.columns()) {
		w[i] = of
		rest -= of
	}
	if id := l.fit.Width(colID, rest*9/20); rest >= 56 && id > 0 {
		w[colID] = max(id, rest-l.fit.Width(colTitle, rest))
	}
	w[colTitle] = rest - w[colID]
	return w
}

func (l *items) render(width, height int) ([]string, *tea.Position) {
	f := l.halves
	st := l.d.St
	l.fitted() // a conflict may have become known
	c := l.widths(f.ListWidth)
	list := make([]string, 0, f.ListHeight)
	h := st.Row(f.ListWidth).Blank(1)
	cursor := l.Browser.Render(h)
	if cursor == nil {
		l.heading(h, c)
	}
	list = append(list, h.End())
	rows, found := l.Window.Rows, l.d.Found(l.words())
	for i := l.Window.Top; i < min(len(rows), l.Window.Top+l.Window.Height); i++ {
		list = append(list, l.row(rows[i], i == l.Window.Sel, f.ListWidth, c, found))
	}
	list = append(list, l.emptiness(f.ListWidth)...)
	return l.d.Join(f, list, l.reader.Pager, safetext.Const(desk.ItemAside)), cursor
}

func (l *items) heading(h *paint.Row, c [colID + 1]int) {
	st := l.d.St
	title := func(column int, up, down model.Order) safetext.Text { return l.titled(itemTitles[column], up, down) }
	h.Blank(1).Col(st.Heading, title(colTitle, "", ""), c[colTitle]).Col(st.Heading, title(colID, model.OrderID, ""), c[colID])
	h.Col(st.Heading, title(colTier, "", ""), c[colTier]).Col(st.Heading, title(colOrigin, "", ""), c[colOrigin])
	h.Number(st.Heading, title(colSize, "", model.OrderLargest), c[colSize]-1)
	h.Number(st.Heading, title(colAge, model.OrderNewest, model.OrderOldest), c[colAge]).Blank(1).Col(st.Heading, title(colFlags, "", ""), c[colFlags])
}

// titled is the title of a column, with a sign where the list is in one of its orders.
func (l *items) titled(title string, up, down model.Order) safetext.Text {
	by := l.ordered()
	return l.d.St.Sorted(title, by != "" && by == up, by != "" && by == down)
}

func (l *items) row(it ItemRow, at bool, width int, c [colID + 1]int, found func(string) []safetext.Span) string {
	st := l.d.St
	r := st.Highlighted(width, at, !l.Filter.Focus)
	st.Mark(r, l.Marks.Has(it.Header.ID))
	r.Find = found
	r.Col(st.Plain, it.title, c[colTitle]).Col(st.Dim, st.Tail(it.id, it.rawID(), "", c[colID]-1), c[colID])
	r.Col(st.Dim, it.tier, c[colTier]).Col(st.Dim, l.who.Cell(model.Ref{Store: l.At.Store, ID: it.Header.ID}), c[colOrigin])
	r.Number(st.Dim, it.size, c[colSize]-1)
	r.Number(st.Dim, safetext.Const(l.d.Time.Age(it.Header.Modified)), c[colAge]).Blank(1)
	flags := st.Warn
	if it.Header.Has(model.FlagBlocked) {
		flags = st.Bad
	}
	return r.Put(flags, l.flags(it)).End()
}

// emptiness says why there are no rows, what failed, and what to do.
func (l *items) emptiness(width int) []string {
	st := l.d.St
	line := text.Advice(st.Esc, "No items here, hidden ones included. `esc` goes back.")
	switch {
	case errors.Is(l.Window.Err, model.InvalidInput) && l.Query != "" && len(l.Window.Rows) == 0:
		line = text.Advice(st.Esc, "%s. `esc` shows all items, `/` changes the filter.", prose.Reason(st.Esc, l.Window.Err)).As(text.Warn)
	case l.Window.Err != nil && len(l.Window.Rows) == 0:
		why := st.Badge(paint.ToneBad, st.Esc.Sprintf("the store does not list: %s", prose.Reason(st.Esc, l.Window.Err)))
		line = text.Advice(st.Esc, "%s. `ctrl+r` asks again, `esc` goes back.", why).As(text.Bad)
	case len(l.Window.Rows) > 0 || !l.Window.Loaded:
		return nil
	case !l.Window.Trouble(st.Esc).IsEmpty():
		line = text.Advice(st.Esc, "Nothing was found, but not everything could be looked at. `ctrl+r` asks again.").As(text.Warn)
	case l.Query != "":
		line = text.Advice(st.Esc, "Nothing matches %q. `esc` shows all items, `/` changes the filter.", l.Query)
	case !l.Hidden:
		line = text.Advice(st.Esc, "No items here. `a` also looks at hidden, archived and bookkeeping ones; `esc` goes back.")
	}
	return text.Paragraph(st, line, width)
}
