package linear

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// board is the current list, to which numbers refer: one of the console that is read out page by page.
type board struct {
	list  desk.Readout
	side  *tui.Side // the list has no pane of its own
	query string

	next   string
	rows   int // of the last page
	number int // rows read in all
}

func (b *board) called() string {
	if b.side != nil {
		return b.side.Title
	}
	return b.list.Facts().Name
}

// acts are those of the current list, without those that only move the screen: they have no word.
func (l *linear) acts() []act.Act {
	return slices.DeleteFunc(l.board.list.Bindings(), func(k act.Act) bool { return k.Verb == "" })
}

// enter reads a list from its start and keeps the previous one; a failure leaves that one current.
func (l *linear) enter(b *board) tea.Cmd {
	was := l.board
	if b.side != nil {
		l.say("%s.", b.side.Title)
	}
	cmd, err := b.list.Begin(b.query)
	if err == nil {
		l.drain(cmd)
		l.hold(b)
		err = l.page()
	}
	if err != nil {
		l.hold(was)
		return l.failed(err)
	}
	if was.list != b.list {
		l.under = append(l.under, was)
	}
	l.under = slices.DeleteFunc(l.under, func(u *board) bool { return u.list == b.list }) // its numbers have changed
	return nil
}

// list begins the list of a store, a tier, a scope of it.
func (l *linear) list(words string) tea.Cmd {
	at, why := l.a.Line.Place(words)
	if why != "" {
		l.sentence(l.esc.Line(why))
		return nil
	}
	return l.a.D.Open(at)
}

// brings reads a list of the console, under a filter.
func (l *linear) brings(n int) func(string) tea.Cmd {
	return func(filter string) tea.Cmd { return l.enter(&board{list: l.a.Readout(n), query: filter}) }
}

// view brings a view back, and reads its list.
func (l *linear) view(name string) tea.Cmd {
	list, query, cmd := l.a.Line.Readout(name)
	l.drain(cmd)
	if list == nil { // the console has said why
		return nil
	}
	return l.enter(&board{list: list, query: query})
}

func (l *linear) health(string) tea.Cmd {
	l.drain(l.a.Tiers.Overview.Refresh()) // how full the tiers are
	return l.brings(tui.PaneHealth)("")
}

// refresh asks the stores again and reads the current list from its start.
func (l *linear) refresh(string) tea.Cmd {
	l.drain(l.a.Refresh())
	return l.again()
}

// again reads the current list from its start.
func (l *linear) again() tea.Cmd {
	l.board.next, l.board.number = "", 0
	return l.failed(l.page())
}

func (l *linear) next(string) tea.Cmd {
	if l.board.next == "" {
		return l.say("That was the end of the list.")
	}
	return l.failed(l.page())
}

func (l *linear) filter(words string) tea.Cmd {
	return l.enter(&board{list: l.board.list, side: l.board.side, query: words})
}

// hold makes a list current and moves the console there.
func (l *linear) hold(b *board) {
	l.board, l.a.Side = b, b.side
	if b.side == nil {
		l.a.Active = b.list.Address()
	}
	b.list.Place(0)
}

// back returns to the previous list; its numbers are those of its last page.
func (l *linear) back(string) tea.Cmd {
	n := len(l.under)
	if n == 0 {
		return l.say("There is no list before this one.")
	}
	l.hold(l.under[n-1])
	l.under = l.under[:n-1]
	return l.say("The numbers are those of %s again.", l.board.called())
}

// page reads the next rows out, if there are any.
func (l *linear) page() error {
	b := l.board
	l.stale = false // also where reading fails: it is not tried again by itself
	page, err := b.list.ReadPage(l.ctx, b.next, desk.SpokenRows)
	if err != nil {
		return err
	}
	is, first := b.list.Facts(), b.number == 0
	b.rows, b.next, b.number = page.Rows, page.Next, b.number+page.Rows
	switch total := page.Total; {
	case !first, total.Unknown && b.side != nil: // said by the act that opened it
	case total.Unknown && page.Next == "":
		l.say("%s.", prose.Plural(page.Rows, is.Noun))
	case total.Unknown:
		l.say("Nobody has counted these %s.", safetext.Noun(2, is.Noun))
	case total.AtLeast:
		l.say("At least %s.", prose.Plural(total.N, is.Noun))
	default:
		l.say("%s.", prose.Plural(total.N, is.Noun))
	}
	for _, n := range page.Notices {
		l.sentence(n)
	}
	problems, more := list.Problems(page.Problems, 3)
	for _, p := range problems {
		l.say("Notice: not looked at: %s.", l.esc.LineMax(strings.TrimSuffix(p, "."), prose.MaxReason))
	}
	if more > 0 {
		l.say("Notice: and %s.", prose.Plural(more, "more problem"))
	}
	for n := range b.rows {
		l.say("%d. %s", n+1, b.list.Row(n))
	}
	switch {
	case b.next != "":
		l.say("next goes on.")
	case b.number == 0 && b.query == "" && is.Empty != "" && len(page.Problems) == 0:
		l.sentence(text.Advice(l.esc, is.Empty).Value)
	default:
		l.say("End of the list.")
	}
	return nil
}

// at puts the console's cursor on a row.
func (l *linear) at(n int) bool {
	b := l.board
	if n < 1 || n > b.rows {
		l.say("There is no %s %d on the page that was read last.", b.list.Facts().Noun, n)
		return false
	}
	if err := b.list.Renew(l.ctx, n-1); err != nil {
		l.failed(err)
		return false
	}
	b.list.Place(n - 1)
	return true
}

// rowNumbers reads "1 3-5 9".
func rowNumbers(argument string) ([]int, bool) {
	var out []int
	for _, word := range strings.FieldsFunc(argument, func(r rune) bool { return r == ' ' || r == ',' }) {
		first, last, ok := fromTo(word)
		if !ok || last-first > desk.SpokenRows {
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

// fromTo reads "3-5" or "3".
func fromTo(word string) (first, last int, ok bool) {
	a, z, ranged := strings.Cut(word, "-")
	first, err := strconv.Atoi(a)
	last = first
	if err == nil && ranged {
		last, err = strconv.Atoi(z)
	}
	return first, last, err == nil && first >= 1 && last >= first
}
