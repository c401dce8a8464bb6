package linear

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/pane/tiers"
)

// board is the list that numbers are for: a pane of the console that is read out
// page by page instead of drawn. Its bindings act, refuse and explain.
type board struct {
	name  string // what its verbs are for
	query string
	side  *tui.Side    // the list has no pane of its own
	p     desk.Listing // nil: items or hits
	items *tiers.Pane  // nil: records or hits

	from   list.From
	next   string
	rows   int             // of the page that was read
	heads  []tiers.ItemRow // the same of items
	refs   []model.Ref     // of hits
	number int             // rows that were read in all
}

// The names of boards beside those of sides.
const (
	boardItems      = "list"
	boardHits       = "recall"
	boardQuarantine = "quarantine"
	boardConflicts  = "conflicts"
	boardErasure    = "erasures"
	boardAudit      = "audit"
)

// newPaneBoard is a pane of records.
func newPaneBoard(l *linear, name string, pane int, query string) *board {
	b := &board{name: name, query: query}
	b.p, _ = l.a.Panes[pane].(desk.Listing)
	l.a.Active = pane
	return b
}

// newSideBoard is a list that an act has opened.
func newSideBoard(l *linear, s *tui.Side) *board {
	is := s.List.Facts()
	name := is.Name
	if name == "" {
		name = is.Noun + "s" // steps of a plan, layers
	}
	return &board{name: name, side: s, p: s.List}
}

// newItemsBoard is a place of a store.
func newItemsBoard(l *linear, at desk.ScopeOf, query string, order model.Order, hidden bool) *board {
	t := l.a.Tiers
	l.a.Active, t.Level = tui.PaneTiers, tiers.LevelItems
	_ = t.Items.Open(at, hidden) // its question is asked here, page by page
	t.Items.Marks.Clear()
	t.Items.Query, t.Items.Order = query, order
	_ = t.Items.Restart(nil, false)
	return &board{name: boardItems, items: t, query: query}
}

// enter reads a list from its start and keeps the one before; a list that cannot
// be had leaves that one in hand.
func (l *linear) enter(ctx context.Context, b *board) {
	was, side := l.board, b.side
	if b.side != nil {
		l.say("%s.", b.side.Title)
	}
	if err := b.begin(); err != nil {
		l.failed(err)
	} else {
		l.board, l.a.Side = b, side
		if l.page(ctx) {
			if was != nil && was.name != b.name {
				l.under = append(l.under, was)
			}
			return
		}
	}
	l.hold(was)
}

// begin makes a list of records ready to be asked for.
func (b *board) begin() error {
	if b.p == nil {
		return nil
	}
	return b.p.Begin(b.query)
}

// hold takes a list in hand again.
func (l *linear) hold(b *board) {
	l.board, l.a.Side = b, nil
	switch {
	case b == nil:
	case b.items != nil:
		l.a.Active = tui.PaneTiers
	case b.side == nil && b.p != nil:
		l.a.Active = b.p.Address()
	default:
		l.a.Side = b.side
	}
}

// back goes to the list before; its numbers are those of its last page.
func (l *linear) back(context.Context, string) {
	n := len(l.under)
	if n == 0 {
		l.say("There is no list before this one.")
		return
	}
	l.hold(l.under[n-1])
	l.under = l.under[:n-1]
	l.say("The numbers are those of %s again.", l.board.called())
}

func (b *board) called() string {
	switch {
	case b.items != nil:
		return "the items of " + b.items.Items.At.Store
	case b.side != nil:
		return b.side.Title
	}
	return b.name
}

// page reads the next rows out, if they can be had.
func (l *linear) page(ctx context.Context) bool {
	b := l.board
	var total model.Count
	var notices []safetext.Text
	var lines []safetext.Text
	var err error
	if b.items != nil {
		total, notices, err = b.fetchItems(ctx, l)
		for _, r := range b.heads {
			lines = append(lines, l.headline(r.Header))
		}
	} else {
		var notice desk.Said
		total, notice, err = b.fetchRecords(ctx)
		if !notice.Text.IsEmpty() {
			notices = append(notices, notice.Words(l.a.D.Esc))
		}
		for n := range b.rows {
			lines = append(lines, b.p.Row(n))
		}
	}
	if err != nil {
		l.failed(err)
		return false
	}
	first := b.number == 0
	b.number += len(lines)
	if first {
		l.counted(b, total)
	}
	for _, n := range notices {
		l.sentence(n)
	}
	for i, t := range lines {
		l.say("%d. %s", i+1, t)
	}
	switch {
	case b.next != "":
		l.say("next goes on.")
	case first && len(lines) == 0 && b.p != nil && b.query == "":
		l.sentence(l.a.D.Esc.Const(b.p.Facts().Empty))
	default:
		l.say("End of the list.")
	}
	return true
}

func (l *linear) counted(b *board, total model.Count) {
	noun := "item"
	if b.p != nil {
		noun = b.p.Facts().Noun
	}
	switch {
	case total.Unknown && b.side != nil: // said by what has brought it
	case total.Unknown:
		l.say("Nobody has counted these %s.", safetext.Noun(2, noun))
	case total.AtLeast:
		l.say("At least %s.", prose.Plural(total.N, noun))
	default:
		l.say("%s.", prose.Plural(total.N, noun))
	}
}

func (b *board) fetchItems(ctx context.Context, l *linear) (model.Count, []safetext.Text, error) {
	page, err := b.items.Items.List.Fetch(ctx, b.from, linearPage)
	if err != nil {
		return model.Count{}, nil, err
	}
	var notices []safetext.Text
	for _, p := range page.Problems {
		notices = append(notices, l.a.D.Esc.Sprintf("Notice: %s", l.a.D.Esc.LineMax(p, prose.MaxReason)))
	}
	b.heads, b.next, b.from = page.Rows, page.Next, list.From{Cursor: page.Next}
	return page.Total, notices, nil
}

func (b *board) fetchRecords(ctx context.Context) (model.Count, desk.Said, error) {
	page, err := b.p.ReadPage(ctx, b.from.Cursor, linearPage)
	if err != nil {
		return model.Count{}, desk.Said{}, err
	}
	b.rows, b.next, b.from = page.Rows, page.Next, list.From{Cursor: page.Next}
	return page.Total, page.Notice, nil
}

// at puts the console's cursor on a row.
func (l *linear) at(ctx context.Context, b *board, n int) bool {
	size := b.rows
	if b.items != nil {
		size = len(b.heads)
	}
	if n < 1 || n > size {
		l.say("There is no %s %d on the page that was read last.", b.noun(), n)
		return false
	}
	if b.items != nil {
		w := b.items.Items.List
		w.Rows, w.Sel, w.Loaded = b.heads, n-1, true
		return true
	}
	if err := b.p.Renew(ctx, n-1); err != nil {
		l.failed(err)
		return false
	}
	b.p.Place(n - 1)
	return true
}

func (b *board) noun() string {
	if b.p != nil {
		return b.p.Facts().Noun
	}
	return "item"
}

// rowNumbers reads "1 3-5 9".
func rowNumbers(argument string) ([]int, bool) {
	var out []int
	for _, word := range strings.FieldsFunc(argument, func(r rune) bool { return r == ' ' || r == ',' }) {
		a, z, ranged := strings.Cut(word, "-")
		first, err := strconv.Atoi(a)
		last := first
		if err == nil && ranged {
			last, err = strconv.Atoi(z)
		}
		if err != nil || first < 1 || last < first || last-first > linearPage {
			return nil, false
		}
		for n := first; n <= last; n++ {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out, len(out) > 0
}
