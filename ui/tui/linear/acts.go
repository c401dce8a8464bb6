package linear

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/record"
)

// rowless are the keys of lists that are for no row.
var rowless = map[string][]string{
	boardErasure:   {"a"},
	boardConflicts: {"D"},
	"steps":        {"E", "p", "A"},
	"job":          {"C"},
}

// unspoken are keys of lists that only move what is drawn.
var unspoken = []string{"s"}

// press does what a key of the list in hand does, on the row with that number.
func (l *linear) press(ctx context.Context, key, argument string) {
	b := l.board
	number, err := strconv.Atoi(argument)
	marked := b.p.Facts().Marking && b.p.Marked() > 0
	switch {
	case err == nil:
		if !l.at(ctx, b, number) {
			return
		}
	case argument != "":
		l.say("Give the number of a row, not %q.", argument)
		return
	case slices.Contains(rowless[b.name], key) || marked:
		b.p.Place(0)
	case b.rows == 1:
		if !l.at(ctx, b, 1) {
			return
		}
	default:
		l.say("Say which: give the number of a row.")
		return
	}
	k, ok := act.Find(b.keys(), key)
	if !ok {
		l.say("%s is no act on %s.", key, b.called())
		return
	}
	if l.refused(k.Reason()) {
		return
	}
	l.do(ctx, k.Do())
}

// keys are the acts of a list of records; what only moves the screen is left out.
func (b *board) keys() []act.Act {
	return slices.DeleteFunc(b.p.Acts(), func(k act.Act) bool { return slices.Contains(unspoken, k.Keys[0]) })
}

// everywhere are the keys that mean the same in every list.
var everywhere = map[string]func(*linear, context.Context, string){
	"?": (*linear).help, "z": (*linear).undo, "enter": (*linear).open, "esc": (*linear).back, "ctrl+r": (*linear).again,
}

// letter takes a key for the act that messages of the console name by it.
func (l *linear) letter(ctx context.Context, word, argument string) bool {
	if do, ok := everywhere[word]; ok {
		do(l, ctx, argument)
		return true
	}
	if len(word) != 1 {
		return false
	}
	switch b := l.board; {
	case b == nil:
		return false
	case b.p != nil:
		if _, ok := act.Find(b.keys(), word); !ok {
			return false
		}
		l.press(ctx, word, argument)
		return true
	}
	verb, ok := map[string]func(*linear, context.Context, string){
		"e": (*linear).edit, "d": (*linear).forget, "A": (*linear).appendTo, "c": (*linear).create, "H": (*linear).history,
		"x": (*linear).export, "o": (*linear).order, "a": (*linear).hidden,
	}[word]
	if ok {
		verb(l, ctx, argument)
	}
	return ok
}

// broughtBy says which words bring a list.
var broughtBy = map[string]string{
	"steps": "show, with the number of a request that has a plan", "history": "history, with the number of an item", "undo": "undos",
}

// onRow does an act on a row of the list in hand.
func (l *linear) onRow(ctx context.Context, a act.Act, argument string) {
	if l.board != nil && slices.Contains(a.Lists, l.board.name) {
		l.press(ctx, a.Keys[0], argument)
		return
	}
	var words []string
	for _, name := range a.Lists {
		words = append(words, cmp.Or(broughtBy[name], name))
	}
	slices.Sort(words)
	l.say("That is for another list. These words bring one: %s.", strings.Join(words, "; "))
}

// Keep resolves a conflict by choice.
func (l *linear) Keep(ctx context.Context, argument string) {
	word, number, _ := strings.Cut(argument, " ")
	a, ok := map[string]act.Act{"base": act.KeepBase, "copy": act.KeepCopy, "both": act.KeepBoth}[strings.ToLower(word)]
	if !ok {
		l.say("Say what to keep, and of which conflict: keep base 1, keep copy 1, keep both 1.")
		return
	}
	a.Lists = []string{boardConflicts}
	l.onRow(ctx, a, strings.TrimSpace(number))
}

// compare shows what has changed between two versions, or since one of them.
func (l *linear) compare(ctx context.Context, argument string) {
	if l.board == nil || l.board.name != "history" {
		l.say("history, with the number of an item, lists versions; compare 1 2 compares two of them.")
		return
	}
	b := l.board
	which, ok := rowNumbers(argument)
	if !ok || len(which) > 2 {
		l.say("Give one version, to compare with the item as it is now, or two: compare 1 2.")
		return
	}
	b.p.Unmark()
	for _, n := range which {
		if !l.at(ctx, b, n) {
			return
		}
		if len(which) == 2 {
			b.p.Mark(n - 1)
		}
	}
	l.press(ctx, "c", strconv.Itoa(which[0]))
	b.p.Unmark()
}

// mark marks rows for the next act.
func (l *linear) mark(ctx context.Context, argument string) {
	b := l.board
	if b == nil || b.refs != nil || b.p != nil && !b.p.Facts().Marking {
		l.say("Rows of this list cannot be marked; list and quarantine have rows that can.")
		return
	}
	if strings.EqualFold(argument, "all") {
		if b.items != nil {
			l.do(ctx, b.items.Items.Marks.All(nil))
		} else {
			l.do(ctx, b.p.MarkAll())
		}
		return
	}
	which, ok := rowNumbers(argument)
	if !ok {
		l.say("Give numbers of the page that was read last, as in mark 1 3-5, or mark all.")
		return
	}
	for _, n := range which {
		if !l.at(ctx, b, n) {
			return
		}
		if b.items != nil {
			b.items.Items.Marks.Add(b.heads[n-1])
		} else {
			b.p.Mark(n - 1)
		}
	}
	l.say("%s.", l.marked())
}

func (l *linear) marked() safetext.Text {
	n := 0
	switch b := l.board; {
	case b != nil && b.items != nil:
		n = b.items.Items.Marks.N()
	case b != nil && b.p != nil:
		n = b.p.Marked()
	}
	return l.a.D.Esc.Sprintf("%s marked", prose.Plural(int64(n), "row"))
}

func (l *linear) unmark(context.Context, string) {
	switch b := l.board; {
	case b != nil && b.items != nil:
		b.items.Items.Marks.Clear()
	case b != nil && b.p != nil:
		b.p.Unmark()
	}
	l.say("%s.", l.marked())
}

// again reads the list from its start, as it is now.
func (l *linear) again(ctx context.Context, _ string) {
	b := l.board
	if b == nil || b.refs != nil {
		l.say("There is no list to be read again.")
		return
	}
	b.from, b.next, b.number = list.From{}, "", 0
	l.page(ctx)
}

func (l *linear) next(ctx context.Context, _ string) {
	switch b := l.board; {
	case b == nil:
		l.say("There is no list yet: list, with the name of a store, reads one.")
	case b.next == "":
		l.say("That was the end of the list.")
	default:
		l.page(ctx)
	}
}

// undos lists what can be put back.
func (l *linear) undos(ctx context.Context, _ string) { l.do(ctx, l.a.D.Undos.Open()) }

// jobs lists long work.
func (l *linear) jobs(ctx context.Context, _ string) { l.do(ctx, l.a.D.Work.OpenJobs()) }

// undo takes back the entry that is named, or the last act of this session.
func (l *linear) undo(ctx context.Context, id string) {
	a, d := l.a, l.a.D
	if id == "" {
		if l.refused(a.D.Undos.Refusal()) {
			return
		}
		l.do(ctx, a.D.Undos.Last())
		return
	}
	if _, err := strconv.Atoi(id); err == nil && l.board != nil && l.board.name == "undo" {
		l.press(ctx, "u", id)
		return
	}
	if l.refused(d.Locked("")) {
		return
	}
	page, _, err := change.FetchUndos(d.Desk, ctx, operator.PageQuery{})
	if err != nil {
		l.failed(err)
		return
	}
	i := slices.IndexFunc(page.Rows, func(r record.Row[operator.UndoRow]) bool { return r.Key == id })
	if i < 0 {
		l.say("Say which entry: undos lists them.")
		return
	}
	b := newPaneless(l, page.Rows[i:i+1])
	if l.refused(a.D.Undos.NoRestore(b)) {
		return
	}
	k, _ := act.Find(a.D.Undos.Kind().Keys(b), "u")
	l.do(ctx, k.Do())
}

// newPaneless is a list of records that stands nowhere.
func newPaneless(l *linear, rows []record.Row[operator.UndoRow]) *record.List[operator.UndoRow] {
	p := record.New(l.a.D.Desk, l.a.D.Undos.Kind())
	p.Window.Rows = rows
	return p
}

// pick is the item that a number of the last list or a reference names.
func (l *linear) pick(argument string) (model.Ref, bool) {
	n, err := strconv.Atoi(argument)
	if err != nil {
		ref, err := model.ParseRef(argument)
		if err != nil {
			l.say("Say which: a number of the last list, or a reference such as store:id.")
		}
		return ref, err == nil
	}
	switch b := l.board; {
	case b != nil && b.items != nil && n >= 1 && n <= len(b.heads):
		return model.Ref{Store: b.items.Items.At.Store, ID: b.heads[n-1].Header.ID}, true
	case b != nil && b.refs != nil && n >= 1 && n <= len(b.refs):
		return b.refs[n-1], true
	case b != nil && b.p != nil:
		l.say("The numbers here are of %s: give a reference such as store:id, or list its store.", b.called())
		return model.Ref{}, false
	}
	l.say("There is no item %d in the last list.", n)
	return model.Ref{}, false
}
