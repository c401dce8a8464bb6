package list

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// filterPause is the debounce of filter input: a word typed in one go is one question.
const filterPause = 150 * time.Millisecond

// FilterDue says that the debounce is over.
type FilterDue struct{ gen int }

// Filter applies a filter while it is typed.
type Filter struct {
	gen    int
	before string // the filter that was in force when typing began
}

// Begin notes the filter that esc brings back.
func (f *Filter) Begin(query string) { f.gen, f.before = f.gen+1, query }

// Typed asks again when typing pauses.
func (f *Filter) Typed(later func(time.Duration, any) tea.Cmd) tea.Cmd {
	f.gen++
	return later(filterPause, FilterDue{f.gen})
}

// Due reports whether to apply the text of an input now.
func (f *Filter) Due(m FilterDue, in *text.Input, query string) (string, bool) {
	words := strings.TrimSpace(in.Value())
	if strings.Trim(words, "! ") == "" {
		words = ""
	}
	return words, m.gen == f.gen && in.Focus && words != query
}

// Bindings end typing and keep the last filter; esc restores the previous one.
func (f *Filter) Bindings(what string, in *text.Input, query *string, apply func(string) tea.Cmd) []act.Act {
	end := func(words string) tea.Cmd {
		f.gen++
		if words == *query {
			in.Focus = false
			in.Set(words)
			return nil
		}
		return apply(words)
	}
	return []act.Act{
		{Keys: []string{"enter"}, Name: "keep", Doc: "keep this filter and go to the " + what + "; ! in front shows the others", Do: func() tea.Cmd { return end(strings.TrimSpace(in.Value())) }},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "back to the list as it was", Do: func() tea.Cmd { return end(f.before) }},
	}
}
