package linear

import (
	"fmt"
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

// board is the page that was read out last, to which numbers refer.
type board struct {
	list  desk.Readout
	side  *tui.Side // nil: the list is a pane
	shape any       // of the list, as it was read
	keys  []string  // of the rows
	more  bool      // there are rows behind them
	told  []string  // what could not be looked at, as far as it was said
}

// another reports whether the list on the screen is not the one that was read last.
func (l *linear) another() bool {
	now := l.a.Front()
	return now != l.board.list || now.Shape() != l.board.shape
}

// again reads the list on the screen out from its start.
func (l *linear) again() {
	now := l.a.Front()
	if side := l.a.Side; side != nil && now != l.board.list {
		l.say("%s.", side.Title)
	}
	l.drain(now.Start())
	was := l.board
	l.board = board{list: now, side: l.a.Side, shape: now.Shape()}
	if !l.page(true) && was.list == now && was.shape == l.board.shape { // the rows stand as they were, and so do their numbers
		l.board = was
	}
}

func (l *linear) next(string) tea.Cmd {
	b := &l.board
	if !b.more {
		if err := b.list.Ahead(0).Err; err != nil {
			return l.failed(err)
		}
		return l.say("That was the end of the list.")
	}
	by := 0 // where all rows of the page have left the list, the cursor is on the row after them
	for _, key := range slices.Backward(b.keys) {
		if b.list.Place(key) {
			by = 1
			break
		}
	}
	l.drain(b.list.Move(by))
	l.page(false)
	return nil
}

// page reads the rows from the cursor on, or says why it cannot; first: the list begins with them.
func (l *linear) page(first bool) bool {
	b := &l.board
	l.stale = false // also where reading fails: it is not tried again by itself
	ahead := b.list.Ahead(desk.SpokenRows)
	if ahead.Err != nil {
		if first || len(ahead.Keys) < desk.SpokenRows { // next tries again
			l.failed(ahead.Err)
			return false
		}
		if why := ahead.Err.Error(); !slices.Contains(b.told, why) { // these rows were read before it failed
			b.told = append(b.told, why)
			l.failed(ahead.Err)
		}
	}
	b.keys, b.more = ahead.Keys, ahead.More
	if first {
		l.count(ahead)
	}
	is := b.list.Facts()
	problems, more := list.Problems(slices.DeleteFunc(slices.Clone(ahead.Problems), func(p string) bool { return slices.Contains(b.told, p) }), 3)
	b.told = append(b.told, ahead.Problems...)
	for _, p := range problems {
		l.say("Notice: not looked at: %s.", l.esc.LineMax(strings.TrimSuffix(p, "."), prose.MaxReason))
	}
	if more > 0 {
		l.say("Notice: and %s.", prose.Plural(more, "more problem"))
	}
	for n, key := range b.keys {
		b.list.Place(key)
		l.say("%d. %s", n+1, b.list.Row())
	}
	switch {
	case b.more:
		l.say("next goes on.")
	case first && len(b.keys) == 0 && is.Query == "" && is.Empty != "" && len(ahead.Problems) == 0:
		l.sentence(text.Advice(l.esc, is.Empty).Value)
	default:
		l.say("End of the list.")
	}
	return true
}

// count says how many rows the list has, and what is to be said of it.
func (l *linear) count(ahead list.Ahead) {
	is := l.board.list.Facts()
	switch total := ahead.Total; {
	case total.Unknown:
		l.say("Nobody has counted these %s.", safetext.Noun(2, is.Noun))
	case total.AtLeast:
		l.say("At least %s.", prose.Plural(total.N, is.Noun))
	default:
		l.say("%s.", prose.Plural(total.N, is.Noun))
	}
	if is.Query != "" {
		l.say("The filter is %s; filter without words shows all.", l.esc.LineMax(is.Query, prose.MaxTitle))
	}
	if marks := l.board.list.Marked(); marks != nil && marks.N() > 0 {
		l.say("%s marked; unmark ends that.", prose.Plural(marks.N(), "row"))
	}
	for _, n := range l.board.list.Notices() {
		l.sentence(n)
	}
}

// called is the name of the list that was read last.
func (l *linear) called() string {
	if side := l.a.Side; side != nil {
		return side.Title
	}
	return l.board.list.Facts().Name
}

// acts are those of the list on the screen, without those that only move it: they have no word.
func (l *linear) acts() []act.Act {
	return slices.DeleteFunc(l.a.Front().Bindings(), func(k act.Act) bool { return k.Verb == "" })
}

// tiers lists the stores, counted anew: no count is repeated where nothing is drawn.
func (l *linear) tiers(words string) tea.Cmd {
	return tea.Batch(l.a.Enter(tui.PaneTiers), l.a.Tiers.Narrow(words), l.a.Tiers.Overview.Refresh())
}

// health asks the stores; how full the tiers are comes first.
func (l *linear) health(string) tea.Cmd {
	l.drain(l.a.Tiers.Overview.Refresh())
	return tea.Batch(l.a.Enter(tui.PaneHealth), l.a.Refresh())
}

// place puts the cursor on a row of the page, or says why it cannot.
func (l *linear) place(n int) (why string) {
	b := &l.board
	switch {
	case n < 1 || n > len(b.keys):
		return fmt.Sprintf("There is no %s %d on the page that was read last.", b.list.Facts().Noun, n)
	case !b.list.Place(b.keys[n-1]):
		return fmt.Sprintf("Row %d has left the list; refresh reads it as it is now.", n)
	}
	return ""
}

// at is place on a list that is as new as its source.
func (l *linear) at(n int) bool {
	if renew := l.board.list.Renew(); renew != nil {
		l.drain(renew)
		if err := l.board.list.Ahead(1).Err; err != nil {
			l.failed(err)
			return false
		}
	}
	why := l.place(n)
	if why != "" {
		l.say("%s", why)
	}
	return why == ""
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
