package list

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Jump is an input for the first letters of a row: the cursor follows the typing, and enter
// searches the pages that are not loaded yet.
type Jump struct {
	In   text.Input
	From int // where the cursor was
}

func (j *Jump) Open(at int) {
	j.In.Set("")
	j.In.Focus = true
	j.From = at
}

func (j *Jump) Close() { j.In.Focus = false }

// Begins reports whether one of the names begins with the text.
func Begins(text string, names []string) bool {
	text = strings.ToLower(text)
	for _, n := range names {
		if n != "" && strings.HasPrefix(strings.ToLower(n), text) {
			return true
		}
	}
	return false
}

// After is the first of n rows, from a place on and around the end, that begins with the text; -1
// when none does.
func After(from, n int, text string, names func(i int) []string) int {
	if text == "" {
		return from
	}
	for i := range n {
		if at := (from + i) % n; Begins(text, names(at)) {
			return at
		}
	}
	return -1
}

// TrailOver says that a wanted row was not found.
func TrailOver[T any](d *loop.Loop, m Trailed[T], found bool) {
	switch word := m.Trail.Word; {
	case word.IsEmpty() || found:
	case m.Err != nil:
		d.Warn("not looked for to the end: %s: %s", word, prose.Reason(d.Esc, m.Err))
	default:
		d.Warn("not in this list: %s", word)
	}
}

// JumpHere follows the letters among n rows that are loaded.
func JumpHere(d *loop.Loop, j *Jump, n, sel int, names func(i int) []string, move func(int) tea.Cmd) tea.Cmd {
	text := j.In.Value()
	at := After(min(j.From, max(n-1, 0)), n, text, names)
	if at < 0 {
		return d.Tell("nothing that is loaded begins with %q; enter looks on through the list", text)
	}
	return move(at - sel)
}

// JumpKeys are the keys of this input. here reports whether the row at the cursor begins with the
// text: then enter only closes the input; else look searches the pages that are not loaded.
func JumpKeys(j *Jump, here func(text string) bool, look func(text string) tea.Cmd, back func() tea.Cmd) []act.Act {
	enter := act.Act{Keys: []string{"enter"}, Name: "stay here", Doc: "stay at this row, which begins so", Do: func() tea.Cmd {
		j.Close()
		return nil
	}}
	if text := j.In.Value(); text != "" && !here(text) {
		enter.Name, enter.Doc = "look on", "look for a row that begins so in the pages that are not loaded"
		enter.Do = func() tea.Cmd {
			j.Close()
			return look(text)
		}
	}
	return []act.Act{enter,
		{Keys: []string{"esc"}, Name: "back", Doc: "back to the row where the cursor was", Do: func() tea.Cmd {
			j.Close()
			return back()
		}},
	}
}
