package linear

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// perform does an act of the console, or says why it cannot.
func (l *linear) perform(k act.Act, argument string) tea.Cmd {
	if why := k.Reason(); why != "" {
		return l.a.Refuse(k, why)
	}
	return k.Run(argument)
}

// press does an act of the console on the numbered rows, else on the marked ones, else on the only row.
func (l *linear) press(a act.Act, argument string) tea.Cmd {
	k, ok := l.own(a)
	if !ok {
		return l.unknown(a.Verb)
	}
	if k.Ask != nil {
		return l.perform(k, argument)
	}
	marks := l.board.list.Marked()
	which, ok := rowNumbers(argument)
	whole := k.Args == "" || l.ofList(k) || k.Marks && marks != nil && marks.N() > 0
	switch {
	case argument != "" && !ok:
		return l.say("Give the number of a row, not %q.", argument)
	case len(which) > 1 && marks == nil:
		return l.say("Give one number: rows of this list cannot be marked.")
	case argument == "" && whole:
	case argument == "" && len(l.board.keys) == 1:
		which = []int{1}
	case argument == "":
		return l.say("Say which: give the number of a row.")
	}
	if !l.reach(which) {
		return nil
	}
	if len(which) > 0 && marks != nil {
		marks.Clear()
	}
	if len(which) > 1 {
		l.markAll(which)
	}
	k, _ = l.own(a) // as it is for that row
	return l.perform(k, "")
}

// ofList reports whether an act is about all that the list is of, such as the request of a plan, and not about a row.
func (l *linear) ofList(k act.Act) bool { return l.a.Side != nil && strings.HasPrefix(k.Args, "[") }

// own is the act of the screen with the same word.
func (l *linear) own(a act.Act) (act.Act, bool) {
	acts := append(l.acts(), l.a.Keys()...)
	i := slices.IndexFunc(acts, func(k act.Act) bool { return k.Verb == a.Verb })
	if i < 0 {
		return a, false
	}
	return acts[i], true
}

// onItem does an act on an item, on the console's page of it; else it is an act of the list.
func (l *linear) onItem(a act.Act, argument string) tea.Cmd {
	ref, why := l.item(argument)
	if why == "" {
		shown := &text.Reader{Pager: &text.Pager{Text: &text.Page{Item: ref, Revision: l.seen[ref]}}}
		k, _ := act.Find((&pane.ItemPage{D: l.a.D, Reader: shown, Ref: func() model.Ref { return ref }}).Bindings(), a.Keys[0])
		return l.perform(k, "")
	}
	if _, ok := l.own(a); ok && !strings.Contains(argument, ":") {
		return l.press(a, argument)
	}
	return l.say("%s", why)
}

// item is the item of a reference or of a number of the last list, or why there is none.
func (l *linear) item(argument string) (ref model.Ref, why string) {
	n, err := strconv.Atoi(argument)
	if err != nil {
		if ref, err = model.ParseRef(argument); err != nil {
			why = "Say which: a number of the last list, or a reference such as store:id."
		}
		return ref, why
	}
	if why = l.place(n); why != "" {
		return ref, why
	}
	if ref = l.board.list.Item(); ref.Store == "" {
		why = fmt.Sprintf("The numbers here are of %s: give a reference such as store:id, or list its store.", l.called())
	}
	return ref, why
}

// open reads a row of the last list, or the item of a reference.
func (l *linear) open(argument string) tea.Cmd {
	if n, err := strconv.Atoi(argument); err == nil {
		if l.at(n) {
			page := l.board.list.Whole(l.ctx)
			l.seen[l.board.list.Item()] = page.Revision
			l.read(page)
			l.offer()
		}
		return nil
	}
	ref, why := l.item(argument)
	if why != "" {
		return l.say("%s", why)
	}
	page := pane.Read(l.ctx, l.a.D.Desk, ref, nil)
	l.seen[ref] = page.Revision
	l.read(page)
	return nil
}

// offer says what can be done with the row at the cursor.
func (l *linear) offer() {
	var words []string
	for _, k := range l.acts() {
		if strings.Contains(k.Args, "NUMBER") && !l.ofList(k) && k.Verb != act.Open.Verb && k.Verb != act.Mark.Verb && k.Reason() == "" {
			words = append(words, k.Verb)
		}
	}
	if len(words) > 0 {
		l.say("With its number you can say: %s.", strings.Join(words, ", "))
	}
}

func (l *linear) mark(argument string) tea.Cmd {
	list := l.board.list
	which, ok := rowNumbers(argument)
	switch {
	case list.Marked() == nil:
		return l.say("Rows of this list cannot be marked; items and quarantine have rows that can.")
	case !ok:
		return l.say("Give numbers of the page that was read last, as in mark 1 3-5, or mark all.")
	}
	if l.reach(which) {
		l.markAll(which)
		l.say("%s marked.", prose.Plural(list.Marked().N(), "row"))
	}
	return nil
}

// reach puts the cursor on the last of some rows, or says which one cannot be had.
func (l *linear) reach(which []int) bool {
	return !slices.ContainsFunc(which, func(n int) bool { return !l.at(n) })
}

// markAll marks rows that can be reached: all or none, as half of them is what nobody has said.
func (l *linear) markAll(which []int) {
	for _, n := range which {
		l.place(n)
		l.board.list.Mark()
	}
}

func (l *linear) unmark(string) tea.Cmd {
	if marks := l.board.list.Marked(); marks != nil {
		marks.Clear()
	}
	return l.say("0 rows marked.")
}
