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
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/pane/tiers"
)

// perform does an act of the console, or says why it cannot.
func (l *linear) perform(k act.Act) tea.Cmd {
	if why := k.Reason(); why != "" {
		return l.say("Not here: %s.", why)
	}
	return k.Do()
}

// press does the act of a key of the current list on the rows with these numbers. Several rows are
// marked first; without a number the act is for the marked rows.
func (l *linear) press(key, argument string) tea.Cmd {
	b := l.board
	k, _ := act.Find(l.acts(), key)
	which, ok := rowNumbers(argument)
	marks := b.list.Marked()
	rowless := k.Verb != "" && (k.Args == "" || b.side != nil && strings.HasPrefix(k.Args, "[")) // such a list has one subject
	switch {
	case argument != "" && !ok:
		return l.say("Give the number of a row, not %q.", argument)
	case len(which) > 1 && marks == nil:
		return l.say("Give one number: rows of this list cannot be marked.")
	case argument == "" && b.rows == 1 && !rowless && (marks == nil || marks.N() == 0):
		which = []int{1}
	case argument == "" && (rowless || marks != nil && marks.N() > 0):
		b.list.Place(0)
	case argument == "":
		return l.say("Say which: give the number of a row.")
	}
	if len(which) > 0 && marks != nil {
		marks.Clear()
	}
	for _, n := range which {
		if !l.at(n) {
			return nil
		}
		if len(which) > 1 {
			b.list.Mark(n - 1)
		}
	}
	k, _ = act.Find(l.acts(), key) // as it is for that row
	return l.perform(k)
}

// own is the act of the current list that a word means there: to edit a quarantine entry is to
// release it, to export a request is to export the subject's data.
func (l *linear) own(a act.Act) (act.Act, bool) {
	same := a.Verb == act.Edit.Verb || a.Verb == act.Export.Verb
	for _, k := range l.acts() {
		if k.Verb == a.Verb || same && k.Keys[0] == a.Keys[0] {
			return k, true
		}
	}
	return act.Act{}, false
}

// broughtBy names the words that open a list.
var broughtBy = strings.NewReplacer("steps", "show, with the number of a request that has a plan", "history", "history, with the number of an item", "stories", "quarantine and then S")

// onRow does an act on rows of the current list.
func (l *linear) onRow(a act.Act, argument string) tea.Cmd {
	if k, ok := l.own(a); ok {
		return l.press(k.Keys[0], argument)
	}
	lists := slices.Sorted(slices.Values(a.Lists))
	return l.say("That is for another list. These words bring one: %s.", broughtBy.Replace(strings.Join(lists, "; ")))
}

// onItem does an act on the item of a number or a reference, on the console's page of that item;
// else it is an act of the list.
func (l *linear) onItem(a act.Act, argument string) tea.Cmd {
	ref, why := l.item(argument)
	if why == "" {
		shown := &pane.Reader{Want: pane.Reading{Ref: ref}, Shown: ref, Rev: l.seen[ref]}
		k, _ := act.Find(pane.ItemPage{D: l.a.D, Reader: shown}.Bindings(), a.Keys[0])
		return l.perform(k)
	}
	if k, ok := l.own(a); ok && !strings.Contains(argument, ":") {
		return l.press(k.Keys[0], argument)
	}
	return l.say("%s", why)
}

// item is the item of a reference or of a number of the last list, or why there is none.
func (l *linear) item(argument string) (ref model.Ref, why string) {
	b := l.board
	n, err := strconv.Atoi(argument)
	if err != nil {
		if ref, err = model.ParseRef(argument); err != nil {
			why = "Say which: a number of the last list, or a reference such as store:id."
		}
		return ref, why
	}
	if b == nil || n < 1 || n > b.rows {
		return ref, fmt.Sprintf("There is no item %d in the last list.", n)
	}
	if ref = b.list.Item(n - 1); ref.Store == "" {
		why = fmt.Sprintf("The numbers here are of %s: give a reference such as store:id, or list its store.", b.called())
	}
	return ref, why
}

// open reads a row of the last list, or the item of a reference.
func (l *linear) open(argument string) tea.Cmd {
	n, err := strconv.Atoi(argument)
	if err == nil && l.board != nil {
		if l.at(n) {
			page, revision := l.board.list.DetailOf(l.ctx, n-1)
			l.seen[l.board.list.Item(n-1)] = revision
			l.read(page)
		}
		return nil
	}
	ref, why := l.item(argument)
	if why != "" {
		return l.say("%s", why)
	}
	page, revision := pane.Read(l.ctx, l.a.D.Desk, pane.Reading{Ref: ref})
	l.seen[ref] = revision
	l.read(page)
	return nil
}

// create makes an item in the place of the current list, or in the named store.
func (l *linear) create(argument string) tea.Cmd {
	if k, ok := l.own(act.Create); ok && argument == "" {
		return l.press(k.Keys[0], "")
	}
	at, ok := l.placeNamed("create", argument)
	if !ok {
		return nil
	}
	d := l.a.D
	return l.perform(act.Create.With(func() string { return tiers.NoCreateIn(d.Desk, at.Store) }, func() tea.Cmd { return d.Edits.CreateIn(at) }))
}

// keep resolves a conflict by choice.
func (l *linear) keep(argument string) tea.Cmd {
	word, number, _ := strings.Cut(argument, " ")
	a, ok := map[string]act.Act{"base": act.KeepBase, "copy": act.KeepCopy, "both": act.KeepBoth}[strings.ToLower(word)]
	if !ok {
		return l.say("Say what to keep, and of which conflict: keep base 1, keep copy 1, keep both 1.")
	}
	if _, here := l.own(act.Merge); !here {
		return l.onRow(act.Merge, "")
	}
	return l.press(a.Keys[0], strings.TrimSpace(number))
}

// mark marks rows for the next act.
func (l *linear) mark(argument string) tea.Cmd {
	b := l.board
	if b == nil || b.list.Marked() == nil {
		return l.say("Rows of this list cannot be marked; list and quarantine have rows that can.")
	}
	if strings.EqualFold(argument, "all") {
		return b.list.Marked().Every()
	}
	which, ok := rowNumbers(argument)
	if !ok {
		return l.say("Give numbers of the page that was read last, as in mark 1 3-5, or mark all.")
	}
	for _, n := range which {
		if !l.at(n) {
			return nil
		}
		b.list.Mark(n - 1)
	}
	return l.say("%s marked.", prose.Plural(int64(b.list.Marked().N()), "row"))
}

func (l *linear) unmark(string) tea.Cmd {
	if l.board != nil && l.board.list.Marked() != nil {
		l.board.list.Marked().Clear()
	}
	return l.say("0 rows marked.")
}

// undo undoes the named entry, or the last act of this session.
func (l *linear) undo(id string) tea.Cmd {
	d := l.a.D
	if id == "" {
		return l.perform(act.Act{Why: d.Undos.Refusal, Do: d.Undos.Last})
	}
	if _, err := strconv.Atoi(id); err == nil && l.board != nil && l.board.list.Facts().Name == "undo" {
		return l.press(act.Restore.Keys[0], id)
	}
	return l.perform(act.Act{Why: func() string { return d.Locked("") }, Do: func() tea.Cmd { return d.Undos.Entry(id) }})
}
