package tui

import (
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// jump is a line for the first letters of a row: the cursor goes along as they are
// typed, and enter looks through the pages that are not loaded yet.
type jump struct {
	in   text.Input
	from int // where the cursor was
}

func (j *jump) open(at int) {
	j.in.Set("")
	j.in.Focus = true
	j.from = at
}

func (j *jump) close() { j.in.Focus = false }

// begins reports whether one of the names begins with what is typed.
func begins(text string, names []string) bool {
	text = strings.ToLower(text)
	for _, n := range names {
		if n != "" && strings.HasPrefix(strings.ToLower(n), text) {
			return true
		}
	}
	return false
}

// after is the first of n rows from a place on that begins so, going on at the
// start; -1 when none does.
func after(from, n int, text string, names func(i int) []string) int {
	if text == "" {
		return from
	}
	for i := range n {
		if at := (from + i) % n; begins(text, names(at)) {
			return at
		}
	}
	return -1
}

// itemNames are what an item is looked for by: its title, its id and the id's last
// part.
func itemNames(r itemRow) []string {
	return []string{r.header.Title, r.header.ID, path.Base(r.header.ID)}
}

// seek looks through the list, page by page.
func (l *items) seek(want func(itemRow) bool, word safetext.Text) tea.Cmd {
	return l.list.follow(&trail[itemRow]{word: word, kin: func(r itemRow) (int, bool) { return 0, want(r) }})
}

// trailed takes a page of what is being looked for, and says how it ended.
func (l *items) trailed(m trailed[itemRow]) tea.Cmd {
	cmd, over, found := l.list.trailed(m)
	l.pinned = l.pinned && !found
	if over {
		trailOver(l.d, m, found)
	}
	return tea.Batch(cmd, l.preview())
}

// trailOver says that a row was not found, when it was asked for.
func trailOver[T any](d *desk, m trailed[T], found bool) {
	switch word := m.trail.word; {
	case word.IsEmpty() || found:
	case m.err != nil:
		d.say(paint.ToneWarn, d.esc.Sprintf("not looked for to the end: %s: %s", word, prose.Reason(d.esc, m.err)))
	default:
		d.say(paint.ToneWarn, d.esc.Sprintf("not in this list: %s", word))
	}
}

func (l *items) startJump() tea.Cmd {
	l.jump.open(l.list.sel)
	return nil
}

// jumped follows the letters among the rows that are loaded.
func (l *items) jumped() tea.Cmd {
	rows := l.list.rows
	return jumpHere(l.d, &l.jump, len(rows), l.list.sel, func(i int) []string { return itemNames(rows[i]) }, l.Move)
}

func (l *items) jumpBindings() []act.Act {
	here := func(text string) bool {
		row, ok := l.list.current()
		return ok && begins(text, itemNames(row))
	}
	return jumpKeys(&l.jump, here, func(text string) tea.Cmd {
		return l.seek(func(r itemRow) bool { return begins(text, itemNames(r)) }, l.d.esc.Sprintf("%q", text))
	}, func() tea.Cmd { return l.Move(l.jump.from - l.list.sel) })
}

// recordNames are what a row is looked for by: its cells, and what it is about.
func (p *records[T]) recordNames(r record[T]) []string {
	var out []string
	for _, c := range r.cells {
		out = append(out, c.String())
	}
	if p.kind.field != nil {
		name := p.kind.field(r.raw)
		out = append(out, name, path.Base(name))
	}
	return out
}

// jumped follows the letters among the rows that are loaded.
func (p *records[T]) jumped() tea.Cmd {
	rows := p.list.rows
	return jumpHere(p.d, &p.jump, len(rows), p.list.sel, func(i int) []string { return p.recordNames(rows[i]) }, p.Move)
}

func (p *records[T]) jumpBindings() []act.Act {
	here := func(text string) bool {
		row, ok := p.list.current()
		return ok && begins(text, p.recordNames(row))
	}
	return jumpKeys(&p.jump, here, func(text string) tea.Cmd {
		return p.list.follow(&trail[record[T]]{word: p.d.esc.Sprintf("%q", text), kin: func(r record[T]) (int, bool) { return 0, begins(text, p.recordNames(r)) }})
	}, func() tea.Cmd { return p.Move(p.jump.from - p.list.sel) })
}

// jumpHere follows the letters among n rows that are loaded.
func jumpHere(d *desk, j *jump, n, sel int, names func(i int) []string, move func(int) tea.Cmd) tea.Cmd {
	text := j.in.Value()
	at := after(min(j.from, max(n-1, 0)), n, text, names)
	if at < 0 {
		d.say(paint.ToneInfo, d.esc.Sprintf("nothing that is loaded begins with %q; enter looks on through the list", text))
		return nil
	}
	return move(at - sel)
}

// jumpKeys are the keys of the line where the letters are typed. here tells whether the
// row at the cursor begins so already: then enter only closes the line; else look goes
// on in the pages that are not loaded.
func jumpKeys(j *jump, here func(text string) bool, look func(text string) tea.Cmd, back func() tea.Cmd) []act.Act {
	enter := act.Act{Keys: []string{"enter"}, Name: "stay here", Doc: "stay at this row, which begins so", Do: func() tea.Cmd {
		j.close()
		return nil
	}}
	if text := j.in.Value(); text != "" && !here(text) {
		enter.Name, enter.Doc = "look on", "look for a row that begins so in the pages that are not loaded"
		enter.Do = func() tea.Cmd {
			j.close()
			return look(text)
		}
	}
	return []act.Act{enter,
		{Keys: []string{"esc"}, Name: "back", Doc: "back to the row where the cursor was", Do: func() tea.Cmd {
			j.close()
			return back()
		}},
	}
}
