package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// filterPause is the debounce of filter input: a word typed in one go is one question.
const filterPause = 150 * time.Millisecond

// filterHint says what operator.Match takes.
const filterHint = "words, an expression or -f letters; ! shows the others"

// filterDue says that the debounce is over.
type filterDue struct{ gen int }

// filtering is the filter of a list, and where it is typed; the list follows the typing.
type filtering[T any] struct {
	Query      string             // the filter in force
	Filter     text.Input         // where it is typed
	Unfiltered *list.Held[Row[T]] // the list as it was, while a filter is in force
	before     string             // the filter in force when typing began
	gen        int                // of the typing
	moved      bool               // the cursor has moved since there is a filter
}

// Awaiting reports whether the first rows, others in their place, or marks are on their way: acts on a row wait.
func (p *List[T]) Awaiting() bool {
	return p.Window.Loading[list.ArriveReset] || p.Marks.Walk != nil
}

func (p *List[T]) Move(by int) tea.Cmd     { return p.went(p.Window.Move(by)) }
func (p *List[T]) Page(by float64) tea.Cmd { return p.went(p.Window.Page(by)) }
func (p *List[T]) Home() tea.Cmd           { return p.went(p.Window.Home()) }

// End goes to the last row read where a source is read from its start.
func (p *List[T]) End() tea.Cmd {
	cmd := p.went(p.Window.End())
	if n := len(p.Window.Pages); n > 0 && p.Window.Forward && p.Window.Pages[n-1].Next != "" {
		p.D.Tell("this is as far as the list was read; End again goes on")
	}
	return cmd
}

func (p *List[T]) went(cmd tea.Cmd) tea.Cmd {
	p.moved = true
	return tea.Batch(cmd, p.Moved())
}

// Anew begins with another list: no rows, marks or filter, and answers for the old list are stale.
func (p *List[T]) Anew() {
	was := p.Window
	p.Window = list.NewWindow(was.Ask, was.ID)
	p.Window.Forward, p.Window.Gen, p.Window.Height, p.Window.PerPage, p.Window.Leap = was.Forward, was.Gen, was.Height, was.PerPage, was.Leap
	p.filtering = filtering[T]{}
	p.Marks.Clear()
	p.Pulse, p.fit, p.halves = desk.Pulse{}, nil, desk.Halves{}
}

// steady is the number of rows that a layout follows: 0 while the list loads, and under a filter.
func (p *List[T]) steady() int {
	if p.Query != "" || p.Window.Loading[list.ArriveReset] {
		return 0
	}
	return len(p.Window.Rows)
}

// Settled reports whether a refresh would disturb no running work.
func (p *List[T]) Settled() bool {
	return !slices.Contains(p.Window.Loading[:], true) && p.Window.Trail == nil && p.Marks.Walk == nil && p.Marks.Uncounted() == ""
}

// Seek looks through the list, page by page.
func (p *List[T]) Seek(want func(T) bool, word safetext.Text) tea.Cmd {
	return p.Window.Follow(&list.Trail[Row[T]]{Word: word, Near: func(r Row[T]) (int, bool) { return 0, want(r.Raw) }})
}

// followed takes a page of a trail, and says where it has found nothing.
func (p *List[T]) followed(m list.Trailed[Row[T]]) tea.Cmd {
	cmd, over, found := p.Window.Trailed(m)
	switch word := m.Trail.Word; {
	case !over || found || word.IsEmpty():
	case m.Err != nil:
		p.D.Warn("not looked for to the end: %s: %s", word, prose.Reason(p.D.Esc, m.Err))
	default:
		p.D.Warn("not in this list: %s", word)
	}
	return cmd
}

func (p *List[T]) Typing() *text.Input {
	if p.Full || !p.Filter.Focus {
		return nil
	}
	return &p.Filter
}

// renderFilter draws the input that has the focus in place of the heading; nil without one.
func (p *List[T]) renderFilter(h *paint.Row) *tea.Position {
	if p.Typing() == nil {
		return nil
	}
	return &tea.Position{X: p.Filter.Render(h, h.St.Esc.Const("/"), h.St.Esc.Const(cmp.Or(p.Kind.Hint, filterHint))) + 1}
}

func (p *List[T]) StartFilter() tea.Cmd {
	p.gen, p.before = p.gen+1, p.Query
	p.Filter.Edit(p.Query)
	return nil
}

// Typed asks again when typing pauses.
func (p *List[T]) Typed() tea.Cmd {
	p.gen++
	return p.D.Later(p.Kind.Pane)(filterPause, filterDue{p.gen})
}

// due applies what was typed after a pause, one question at a time: a source may keep one walk only.
func (p *List[T]) due(m filterDue) tea.Cmd {
	query := effective(strings.TrimSpace(p.Filter.Value()))
	switch {
	case m.gen != p.gen || !p.Filter.Focus || query == p.Query:
	case p.Window.Loading[list.ArriveReset]:
		return p.Typed()
	case p.Check(query) == nil:
		return p.Narrow(query)
	}
	return nil
}

// effective is a filter as it counts: a sign without words is none.
func effective(query string) string {
	if strings.Trim(query, "! ") == "" {
		return ""
	}
	return query
}

// FilterKeys end typing and keep the last filter; esc restores the one before.
func (p *List[T]) FilterKeys(what string) []act.Act {
	end := func(words string) tea.Cmd {
		p.gen++
		if words == p.Query {
			p.Filter.Focus = false
			p.Filter.Set(words)
			return nil
		}
		return p.Apply(words)
	}
	return []act.Act{
		{Keys: []string{"enter"}, Name: "keep", Doc: "keep this filter and go to the " + what + "; ! in front shows the others", Do: func() tea.Cmd { return end(strings.TrimSpace(p.Filter.Value())) }},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "back to the list as it was", Do: func() tea.Cmd { return end(p.before) }},
	}
}

// Check says why a filter cannot be taken.
func (p *List[T]) Check(query string) error {
	if p.Kind.Check == nil {
		return nil
	}
	return p.Kind.Check(query)
}

// Apply puts a filter in force; an empty one shows everything.
func (p *List[T]) Apply(query string) tea.Cmd {
	if err := p.Check(query); err != nil { // the operator goes on typing
		return p.D.Warn("%s", prose.Reason(p.D.Esc, err))
	}
	p.Filter.Focus = false
	p.Filter.Set(query)
	return p.Narrow(query)
}

// Narrow applies a filter and leaves the input unchanged.
func (p *List[T]) Narrow(query string) tea.Cmd {
	was := p.Query
	p.Query = effective(query)
	p.Marks.Stop()
	p.Window.Fetch = p.Fetcher()
	return tea.Batch(p.refilter(was), p.Marks.Filtered(p.Query))
}

// refilter shows the list under the filter in force.
func (p *List[T]) refilter(was string) tea.Cmd {
	switch whole := p.Unfiltered; {
	case p.Query != "":
		if was == "" {
			p.Unfiltered, p.moved = p.Window.Hold(), false
		}
		return p.Restart(true)
	case whole != nil:
		p.Unfiltered = nil
		at := ""
		if row, ok := p.Window.Current(); ok && (p.moved || !p.Kind.Returns) {
			at = row.Key
		}
		if at == "" || whole.Has(func(r Row[T]) bool { return r.Key == at }) {
			return tea.Batch(p.Window.Take(p.Fetcher(), whole, at), p.Moved())
		}
	}
	return p.Restart(false)
}

// Restart fetches the list anew, with the cursor on the nearest remaining row; once: one page is enough.
func (p *List[T]) Restart(once bool) tea.Cmd {
	return p.Window.ResetNear(p.Fetcher(), p.Window.Neighbours(), once)
}
