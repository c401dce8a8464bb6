package tiers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// items is the second level of the Tiers pane: a windowed list of headers with a preview.
type items struct {
	*list.Browser[ItemRow, markedItem]
	p        *Pane
	d        *pane.Bench
	At       desk.ScopeOf
	reader   *pane.Reader   // of the preview, and of the page
	ItemPage *pane.ItemPage // of one item, over the list
	Order    model.Order
	Orders   []model.Order
	Hidden   bool
	pinned   bool        // the reader shows an item that the list has not reached
	left     []leftPlace // lists left earlier, the last one last
	who      *pane.Writers
	pulse    desk.Pulse
	fit      list.Fit // of the columns
	halves   desk.Halves
	width    int
	height   int
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

func newItems(p *Pane) *items {
	l := &items{p: p, d: p.d, reader: pane.NewReader(p.d.Desk, p.at), who: pane.NewWriters(p.d.Desk, p.at)}
	l.ItemPage = &pane.ItemPage{D: p.d, Reader: l.reader, Tier: l.tierHere, Of: "item of the list", Place: "list", Step: l.neighbour, Alone: func() string { return l.Window.Alone() }, Back: l.Back, Row: l.rowOfPage}
	l.Browser = list.NewBrowser(&p.d.Loop, p.at, func(r ItemRow) string { return r.Header.ID }, func(r ItemRow) markedItem {
		return markedItem{r.Header.Title, r.Header.Stamp, r.Header.Revision, r.Header.Bytes}
	})
	l.Fetcher, l.Moved, l.Hint = l.fetcher, l.preview, "words; ! shows the others; "+operator.QueryTerms
	l.Check = func(query string) error {
		_, _, err := l.parse(query)
		return err
	}
	return l
}

func (l *items) open(at desk.ScopeOf, hidden bool) tea.Cmd {
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
	return l.Window.Reset(l.fetcher())
}

// goTo shows an item at once, and looks for its row in the list of its place.
func (l *items) goTo(at desk.ScopeOf, hidden bool, id string) tea.Cmd {
	_ = l.open(at, hidden) // its answer is not awaited: the list begins at the item
	l.Query, l.Unfiltered = "", nil
	_ = l.Marks.Filtered("") // all are shown: there is nothing to count
	l.Window.Fetch = l.fetcher()
	l.pinned, l.ItemPage.On = true, true
	list := l.Window.Restart(list.From{})
	find := l.Seek(func(r ItemRow) bool { return r.Header.ID == id }, l.d.Esc.LineMax(id, prose.MaxTitle))
	return tea.Batch(list, find, l.layout(), l.reader.Open(pane.Reading{Ref: model.Ref{Store: at.Store, ID: id}}, false), l.reader.FromTop())
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

// Enter does nothing: what opens a list has it read.
func (l *items) Enter() tea.Cmd { return nil }

func (l *items) Unavailable() string { return "" }

func (l *items) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case list.Trailed[ItemRow]:
		return tea.Batch(l.trailed(msg), l.layout())
	case list.Fetched[ItemRow]:
		return l.fetched(msg)
	case list.Walked[ItemRow]:
		return l.Marks.Walked(&l.d.Loop, msg)
	case list.FilterDue:
		return l.Due(msg)
	case pane.WritersCame:
		l.who.Take(msg)
		l.fitted()
		return l.named()
	}
	return l.reader.Update(msg)
}

func (l *items) fetched(m list.Fetched[ItemRow]) tea.Cmd {
	if l.d.AutoRefresh.Frozen && l.Window.Drop(m) {
		l.pulse.Failed(l.d.Time.Clock.Now())
		return nil
	}
	if l.Window.Renews(m) {
		l.pulse.Answered(l.d.Time.Clock.Now(), m.Took, m.Err)
	}
	cmd := l.Window.Arrive(m)
	l.fitted() // the widths of the cells decide the layout
	cmd = tea.Batch(cmd, l.layout())
	if l.ItemPage.On { // an item that leaves the list does not turn the page
		return tea.Batch(cmd, l.named())
	}
	return tea.Batch(cmd, l.preview())
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
	return pane.Reading{Ref: l.refOf(row), Terms: text.SearchWords(l.words())}
}

func (l *items) refOf(r ItemRow) model.Ref { return model.Ref{Store: l.At.Store, ID: r.Header.ID} }

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

func (l *items) Refresh() tea.Cmd {
	if l.ItemPage.On {
		return l.ItemPage.Refresh()
	}
	l.who.Anew()
	return tea.Batch(l.p.Overview.countStore(l.At.Store), l.Window.Refresh(), l.Marks.Filtered(l.Query), l.ItemPage.Refresh())
}

// changed reads the list again after an act.
func (l *items) changed() tea.Cmd {
	l.Marks.Clear()
	l.who.Anew()
	count := l.p.Overview.countStore(l.At.Store)
	if l.ItemPage.On {
		return tea.Batch(count, l.ItemPage.Refresh(), l.Window.Refresh())
	}
	l.reader.Clear()
	return tea.Batch(count, l.layout(), l.Window.Refresh())
}

func (l *items) Outermost() bool { return false }

// Back goes from the page to the list, then takes the filter off, then goes to the row of this list in the tree.
func (l *items) Back() tea.Cmd {
	switch {
	case l.ItemPage.On: // the list is at the item, if it is there
		l.ItemPage.On, l.pinned = false, false
		return tea.Batch(l.reader.Pager.EndSearch(), l.layout(), l.preview())
	case l.Query != "":
		return l.Apply("")
	}
	l.p.show(l.p.Overview)
	return tea.Batch(l.p.Overview.goTo(l.At), l.p.Overview.Refresh())
}

// Awaiting: the items of another place, filter or order are being loaded, and no page covers them.
func (l *items) Awaiting() bool { return !l.ItemPage.On && l.Browser.Awaiting() }

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
	l.Unfiltered = nil
	return l.Restart(false)
}
