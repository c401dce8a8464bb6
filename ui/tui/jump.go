package tui

import (
	"context"
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

// jumpRows bounds how far a jump looks for a row that is not loaded yet; what lies
// further away is said to be, and a filter finds it.
const jumpRows = 20_000

// jump is a line for the first letters of a row: the cursor goes along as they are
// typed, and enter looks through the pages that are not loaded yet.
type jump struct {
	in   input
	gen  int
	from int // where the cursor was
}

func (j *jump) open(at int) {
	j.gen++
	j.in.set("")
	j.in.focus = true
	j.from = at
}

func (j *jump) close() { j.in.focus = false }

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

// sought is where a row that was looked for in all pages stands.
type sought struct {
	gen  int
	list *window[itemRow]
	at   from   // its page
	key  string // empty: it was not found
	seen int    // rows that were looked at
	more bool   // there are more that were not
	err  error
	word safetext.Text // what was looked for, as it is said
}

// seek looks through a list, page by page, in a command.
func (l *items) seek(want func(itemRow) bool, word safetext.Text) tea.Cmd {
	l.jump.gen++
	out := sought{gen: l.jump.gen, list: l.list, word: word}
	fetch, limit := l.list.fetch, l.list.perPage
	return l.list.ask(func(ctx context.Context) any {
		for at := (from{}); out.seen < jumpRows; {
			page, err := fetch(ctx, at, limit)
			if err != nil {
				out.err = err
				return out
			}
			for _, r := range page.rows {
				if want(r) {
					out.at, out.key = at, r.key
					return out
				}
			}
			out.seen += len(page.rows)
			if page.next == "" {
				return out
			}
			at = from{cursor: page.next}
		}
		out.more = true
		return out
	})
}

// sought goes to the row that was looked for, or says why not.
func (l *items) sought(m sought) tea.Cmd {
	if m.gen != l.jump.gen || m.list != l.list {
		return nil
	}
	esc := l.d.esc
	switch {
	case m.err != nil:
		l.d.say(toneWarn, esc.Sprintf("not looked for to the end: %s: %s", m.word, reason(esc, m.err)))
	case m.key == "" && m.more:
		l.d.say(toneWarn, esc.Sprintf("not among the first %s: %s; / filters all", plural(int64(m.seen), "row"), m.word))
	case m.key == "":
		l.d.say(toneWarn, esc.Sprintf("not in this list: %s", m.word))
	default:
		l.pinned = false
		for i, r := range l.list.rows {
			if r.key == m.key && !l.list.loading[arriveReset] {
				return l.move(i - l.list.sel)
			}
		}
		l.list.seek, l.list.seekFirst = m.key, int64(m.seen)
		return l.list.restart(m.at)
	}
	return nil
}

func (l *items) startJump() tea.Cmd {
	l.jump.open(l.list.sel)
	return nil
}

// jumped follows the letters among the rows that are loaded.
func (l *items) jumped() tea.Cmd {
	text := l.jump.in.text()
	at := after(min(l.jump.from, max(len(l.list.rows)-1, 0)), len(l.list.rows), text, func(i int) []string { return itemNames(l.list.rows[i]) })
	if at < 0 {
		l.d.say(toneInfo, l.d.esc.Sprintf("nothing that is loaded begins with %q; enter looks through the list", text))
		return nil
	}
	return l.move(at - l.list.sel)
}

func (l *items) jumpBindings() []Binding {
	return []Binding{
		{Keys: []string{"enter"}, Hint: "go there", Description: "go to the first row that begins so, in the pages that are not loaded too", Handler: func() tea.Cmd {
			l.jump.close()
			text := l.jump.in.text()
			row, ok := l.list.current()
			if text == "" || ok && begins(text, itemNames(row)) {
				return nil
			}
			return l.seek(func(r itemRow) bool { return begins(text, itemNames(r)) }, l.d.esc.Sprintf("%q", text))
		}},
		{Keys: []string{"esc"}, Hint: "back", Description: "back to the row where the cursor was", Handler: func() tea.Cmd {
			l.jump.close()
			return l.move(l.jump.from - l.list.sel)
		}},
	}
}
