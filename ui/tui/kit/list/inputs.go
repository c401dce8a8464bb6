package list

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// filterPause is the debounce of filter input: a word typed in one go is one question.
const filterPause = 150 * time.Millisecond

// filterHint says what operator.Match takes.
const filterHint = "words, an expression or -f letters; ! shows the others"

// FilterDue says that the debounce is over.
type FilterDue struct{ gen int }

// Inputs are a list's filter; the list follows the typing.
type Inputs struct {
	Query  string     // the filter in force
	Filter text.Input // where it is typed
	Hint   string     // what it takes, said where nothing is typed yet; empty: words
	before string     // the filter in force when typing began
	gen    int        // of the typing
}

func (in *Inputs) Typing() *text.Input {
	if in.Filter.Focus {
		return &in.Filter
	}
	return nil
}

// Render draws the input that has the focus in place of the heading; nil without one.
func (in *Inputs) Render(h *paint.Row) *tea.Position {
	typing := in.Typing()
	if typing == nil {
		return nil
	}
	return &tea.Position{X: typing.Render(h, h.St.Esc.Const("/"), h.St.Esc.Const(cmp.Or(in.Hint, filterHint))) + 1}
}

func (in *Inputs) StartFilter() tea.Cmd {
	in.gen, in.before = in.gen+1, in.Query
	in.Filter.Edit(in.Query)
	return nil
}

// typed asks again when typing pauses.
func (in *Inputs) typed(later func(time.Duration, any) tea.Cmd) tea.Cmd {
	in.gen++
	return later(filterPause, FilterDue{in.gen})
}

// due reports whether to apply what was typed now.
func (in *Inputs) due(m FilterDue) (query string, now bool) {
	query = asked(strings.TrimSpace(in.Filter.Value()))
	return query, m.gen == in.gen && in.Filter.Focus && query != in.Query
}

// asked is a filter as it counts: a sign without words is none.
func asked(query string) string {
	if strings.Trim(query, "! ") == "" {
		return ""
	}
	return query
}

// FilterKeys end typing and keep the last filter; esc restores the one before.
func (in *Inputs) FilterKeys(what string, apply func(string) tea.Cmd) []act.Act {
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

// RestDue says that the cursor has rested.
type RestDue struct{ Gen int }

// Rest is the debounce of the detail: of rows that a held key passes, nothing is read.
type Rest struct {
	later func(time.Duration, any) tea.Cmd
	Gen   int
}

func NewRest(d *loop.Loop, pane int) Rest { return Rest{later: d.Later(pane)} }

// Moved begins the pause anew.
func (r *Rest) Moved() tea.Cmd {
	r.Gen++
	return r.later(PreviewAfter, RestDue{r.Gen})
}

// Over reports whether the cursor has not moved since.
func (r *Rest) Over(m RestDue) bool { return m.Gen == r.Gen }

// PreviewAfter is the time that the cursor must rest before its item is read: a held key reads none.
const PreviewAfter = 60 * time.Millisecond
