package tiers

import (
	"context"
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
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// item is one row of the list.
type item struct {
	store string
	flags safetext.Text
	model.Header
}

func (it item) ref() model.Ref { return model.Ref{Store: it.store, ID: it.ID} }

// items is the second level of the Tiers pane: the items of a place, each with a page of its own.
type items struct {
	*record.List[item]
	p        *Pane
	d        *pane.Bench
	At       desk.ScopeOf
	ItemPage *pane.ItemPage // of one item, over the list
	Order    model.Order
	Orders   []model.Order
	Hidden   bool
	left     []leftPlace // lists left earlier, the last one last
	who      *pane.Writers
}

// leftPlace is a list as the operator left it: a return finds it unchanged.
type leftPlace struct {
	at     desk.ScopeOf
	rows   *list.Held[itemRow]
	query  string
	order  model.Order
	hidden bool
}

// keptPlaces bounds the lists that are kept so.
const keptPlaces = 16

func newItems(p *Pane) *items {
	l := &items{p: p, d: p.d, who: pane.NewWriters(p.d.Desk, p.at)}
	l.List = record.New(p.d.Desk, record.Kind[item]{
		Pane: p.at, Noun: "item", Columns: itemColumns, Marking: true,
		Hint:   "words; ! shows the others; " + operator.QueryTerms,
		Detail: func(ctx context.Context, it item) *text.Page { return pane.Read(ctx, p.d.Desk, it.ref(), nil) },
		Check: func(query string) error {
			_, _, err := l.parse(query)
			return err
		},
		Traits: record.Traits[item]{Aside: desk.ItemAside, Stays: true, Brief: briefBelow, Words: l.words, Cells: l.cells, Share: l.share, Cut: l.cut,
			NoList: "the store does not list: ", NoMatch: "Nothing matches %q. `esc` shows all items, `/` changes the filter.",
			Store: func(it item) string { return it.store }},
	})
	l.ItemPage = &pane.ItemPage{D: p.d, Reader: l.Detail, Ref: l.refHere, Tier: l.tierHere, Of: "item of the list", Place: "list", Step: l.Move, Alone: func() string { return l.Window.Alone() }, Back: l.Back, Row: l.rowOfPage}
	moved := l.Moved
	l.Moved = func() tea.Cmd { return tea.Batch(l.named(), moved()) }
	l.Fetcher, l.Window.Forward = l.fetcher, false
	return l
}

func (l *items) open(at desk.ScopeOf, hidden bool) tea.Cmd {
	same := at == l.At && hidden == l.Hidden
	var left leftPlace
	if at != l.At {
		left = l.leave(at)
		l.Anew()
		l.Query, l.Order = left.query, left.order
	}
	l.At = at
	l.hide(hidden)
	s, err := l.d.Fleet.Store(at.Store)
	if err == nil {
		l.Orders = s.Orders
	}
	switch {
	case left.rows != nil && left.hidden == hidden:
		defer l.Fitted()
		return l.Window.Take(l.fetcher(), left.rows, "")
	case same && l.Window.Hold() != nil:
		return l.Window.Take(l.fetcher(), l.Window.Hold(), "")
	}
	return l.Window.Reset(l.fetcher())
}

// hide leaves out hidden items, or shows them.
func (l *items) hide(shown bool) {
	l.Hidden, l.Kind.Empty = shown, "No items here. `a` also looks at hidden, archived and bookkeeping ones; `esc` goes back."
	if shown {
		l.Kind.Empty = "No items here, hidden ones included. `esc` goes back."
	}
}

// goTo shows an item at once, and looks for its row in the list of its place.
func (l *items) goTo(at desk.ScopeOf, hidden bool, h model.Header) tea.Cmd {
	_ = l.open(at, hidden) // its answer is not awaited: the list begins at the item
	l.Query, l.Unfiltered = "", nil
	_ = l.Marks.Filtered("") // all are shown: there is nothing to count
	l.Window.Fetch = l.fetcher()
	list := l.Window.Restart(list.From{})
	find := l.Seek(func(r itemRow) bool { return r.Raw.ID == h.ID }, l.d.Esc.LineMax(h.ID, prose.MaxTitle))
	return tea.Batch(list, find, l.OpenPage(newItemRow(l.d.Esc, at.Store, h)))
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
func (l *items) fetcher() list.Fetcher[itemRow] {
	d, at := l.d, l.At
	q, inverted, wrong := l.parse(l.Query)
	req := model.PageRequest{Tier: at.Tier, Scope: at.Scope, Query: q.Words, Order: l.Order, Hidden: l.Hidden || q.Archived != ""}
	if inverted {
		req.Query = "" // stores search for a match; its negation is filtered here, page by page
	}
	words := strings.ToLower(q.Words)
	return func(ctx context.Context, f list.From, limit int) (record.Page[item], error) {
		if wrong != nil {
			return record.Page[item]{}, wrong
		}
		s, err := d.Fleet.Store(at.Store)
		if err != nil {
			return record.Page[item]{}, err
		}
		concerns, err := q.Concerning(ctx, s)
		if err != nil {
			return record.Page[item]{}, err
		}
		req := req // fetches run side by side
		req.Cursor, req.End, req.Limit = f.Cursor, f.End, limit
		page, err := s.Browser.List(ctx, req)
		if err != nil {
			return record.Page[item]{}, err
		}
		out := record.Page[item]{Next: page.Next, Prev: page.Prev, Total: page.Total, Problems: page.Problems, Rows: make([]itemRow, 0, len(page.Items))}
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
			out.Rows = append(out.Rows, newItemRow(d.Esc, at.Store, h))
		}
		if inverted || q.Narrows() {
			out.Total = model.Count{Unknown: true}
		}
		return out, nil
	}
}

// Enter does nothing: what opens a list has it read.
func (l *items) Enter() tea.Cmd { return nil }

func (l *items) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case pane.WritersCame:
		l.who.Take(msg)
		l.Fitted()
		return l.named()
	case list.Fetched[itemRow], list.Trailed[itemRow]:
		return tea.Batch(l.List.Update(msg), l.named())
	}
	return l.List.Update(msg)
}

// words are those of a filter that the rows and the preview mark.
func (l *items) words(filter string) string {
	q, inverted, _ := l.parse(filter)
	if inverted {
		return ""
	}
	return q.Words
}

// named asks for the writers of the rows on the screen.
func (l *items) named() tea.Cmd {
	rows := l.Window.Rows[min(l.Window.Top, len(l.Window.Rows)):]
	return l.who.Want(func(int) string { return l.At.Store }, min(len(rows), l.Window.Height), func(i int) model.Header { return rows[i].Raw.Header })
}

// refHere is the item at the cursor, or on the page.
func (l *items) refHere() model.Ref { return l.Here().ref() }

func (l *items) Refresh() tea.Cmd {
	if l.Full {
		return l.Detail.Again()
	}
	l.who.Anew()
	return tea.Batch(l.p.Overview.countStore(l.At.Store), l.Window.Refresh(), l.Marks.Filtered(l.Query), l.Detail.Again())
}

// changed reads the list again after an act.
func (l *items) changed() tea.Cmd {
	l.Marks.Clear()
	l.who.Anew()
	count := l.p.Overview.countStore(l.At.Store)
	if l.Full {
		return tea.Batch(count, l.Detail.Again(), l.Window.Refresh())
	}
	l.Detail.Clear()
	return tea.Batch(count, l.Layout(), l.Window.Refresh())
}

func (l *items) Outermost() bool { return false }

// Back goes from the page to the list, then takes the filter off, then goes to the row of this list in the tree.
func (l *items) Back() tea.Cmd {
	switch {
	case l.Full: // the list is at the item, if it is there
		l.Full = false
		return tea.Batch(l.Detail.EndSearch(), l.Layout(), l.Moved())
	case l.Query != "":
		return l.Apply("")
	}
	l.p.show(l.p.Overview)
	return tea.Batch(l.p.Overview.goTo(l.At), l.p.Overview.Refresh())
}

// Awaiting: the items of another place, filter or order are being loaded, and no page covers them.
func (l *items) Awaiting() bool { return !l.Full && l.Browser.Awaiting() }

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
