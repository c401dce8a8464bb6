package list

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// filterPause is the debounce of filter input: a word typed in one go is one question.
const filterPause = 150 * time.Millisecond

// filterHint says what operator.Match takes.
const filterHint = "words, an expression or -f letters; ! shows the others"

// FilterDue says that the debounce is over.
type FilterDue struct{ gen int }

// FilterInput is the filter of a list, and where it is typed; the list follows the typing.
type FilterInput struct {
	Query  string     // the filter in force
	Filter text.Input // where it is typed
	Hint   string     // what it takes, said where nothing is typed yet; empty: words
	before string     // the filter in force when typing began
	gen    int        // of the typing
}

func (in *FilterInput) Typing() *text.Input {
	if in.Filter.Focus {
		return &in.Filter
	}
	return nil
}

// Render draws the input that has the focus in place of the heading; nil without one.
func (in *FilterInput) Render(h *paint.Row) *tea.Position {
	typing := in.Typing()
	if typing == nil {
		return nil
	}
	return &tea.Position{X: typing.Render(h, h.St.Esc.Const("/"), h.St.Esc.Const(cmp.Or(in.Hint, filterHint))) + 1}
}

func (in *FilterInput) StartFilter() tea.Cmd {
	in.gen, in.before = in.gen+1, in.Query
	in.Filter.Edit(in.Query)
	return nil
}

// typed asks again when typing pauses.
func (in *FilterInput) typed(later func(time.Duration, any) tea.Cmd) tea.Cmd {
	in.gen++
	return later(filterPause, FilterDue{in.gen})
}

// due reports whether to apply what was typed now.
func (in *FilterInput) due(m FilterDue) (query string, now bool) {
	query = effective(strings.TrimSpace(in.Filter.Value()))
	return query, m.gen == in.gen && in.Filter.Focus && query != in.Query
}

// effective is a filter as it counts: a sign without words is none.
func effective(query string) string {
	if strings.Trim(query, "! ") == "" {
		return ""
	}
	return query
}

// FilterKeys end typing and keep the last filter; esc restores the one before.
func (in *FilterInput) FilterKeys(what string, apply func(string) tea.Cmd) []act.Act {
	end := func(words string) tea.Cmd {
		in.gen++
		if words == in.Query {
			in.Filter.Focus = false
			in.Filter.Set(words)
			return nil
		}
		return apply(words)
	}
	return []act.Act{
		{Keys: []string{"enter"}, Name: "keep", Doc: "keep this filter and go to the " + what + "; ! in front shows the others", Do: func() tea.Cmd { return end(strings.TrimSpace(in.Filter.Value())) }},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "back to the list as it was", Do: func() tea.Cmd { return end(in.before) }},
	}
}
