package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

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

// trailOver says that a row was not found, when it was asked for.
func trailOver[T any](d *loop, m trailed[T], found bool) {
	switch word := m.trail.word; {
	case word.IsEmpty() || found:
	case m.err != nil:
		d.say(paint.ToneWarn, d.esc.Sprintf("not looked for to the end: %s: %s", word, prose.Reason(d.esc, m.err)))
	default:
		d.say(paint.ToneWarn, d.esc.Sprintf("not in this list: %s", word))
	}
}

// jumpHere follows the letters among n rows that are loaded.
func jumpHere(d *loop, j *jump, n, sel int, names func(i int) []string, move func(int) tea.Cmd) tea.Cmd {
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
