package list

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Browser is a window with what every list has: a filter and marks.
type Browser[T any] struct {
	FilterInput
	Window     *Window[T]
	Marks      *Marks[T]
	Unfiltered *Held[T] // the list as it was, while a filter is in force

	Fetcher func() Fetcher[T]        // reads the list under the filter in force
	Moved   func() tea.Cmd           // after the cursor has moved
	Check   func(query string) error // why a filter cannot be taken
	Returns bool                     // the end of a filter puts the cursor back on its row before it, unless it was moved
	moved   bool                     // since there is a filter
	Partial bool                     // rows are still coming to those that are shown

	loop  *loop.Loop
	later func(time.Duration, any) tea.Cmd
}

// Awaiting reports whether the first rows, others in their place, or marks are on their way: acts on a row wait.
func (b *Browser[T]) Awaiting() bool { return b.Window.Loading[ArriveReset] || b.Marks.Walk != nil }

func NewBrowser[T any](d *loop.Loop, pane int, id func(T) string, small func(T) T) *Browser[T] {
	b := &Browser[T]{Window: NewWindow(d.Asker(pane), id), loop: d, later: d.Later(pane), Check: func(string) error { return nil }}
	b.Marks = NewMarks(func() *Window[T] { return b.Window }, small)
	return b
}

func (b *Browser[T]) Move(by int) tea.Cmd     { return b.went(b.Window.Move(by)) }
func (b *Browser[T]) Page(by float64) tea.Cmd { return b.went(b.Window.Page(by)) }
func (b *Browser[T]) Home() tea.Cmd           { return b.went(b.Window.Home()) }
func (b *Browser[T]) End() tea.Cmd            { return b.went(b.Window.End()) }
func (b *Browser[T]) went(cmd tea.Cmd) tea.Cmd {
	b.moved = true
	return tea.Batch(cmd, b.Moved())
}

// Anew begins with another list: no rows, marks or filter, and answers for the old list are stale.
func (b *Browser[T]) Anew() {
	was := b.Window
	b.Window = NewWindow(was.Ask, was.ID)
	b.Window.Gen, b.Window.Height, b.Window.PerPage, b.Window.Leap = was.Gen, was.Height, was.PerPage, was.Leap
	b.Query, b.Filter, b.Unfiltered = "", text.Input{}, nil
	b.Marks.Clear()
}

// Ahead are the rows from the cursor on, for the ear: their keys, and what is known of the list that they are of.
type Ahead struct {
	Keys  []string
	More  bool // there are rows behind them
	Total model.Count
	// Problems are what could not be read: the list is incomplete.
	Problems []string
	Err      error
}

// Start puts the cursor on the first row, as if nobody had moved it.
func (b *Browser[T]) Start() tea.Cmd { return b.Window.Home() }

// Ahead are the next rows from the cursor on, at most n.
func (b *Browser[T]) Ahead(n int) Ahead {
	w := b.Window
	out := Ahead{Err: w.Err, Total: model.Count{Unknown: true}}
	rest := w.Rows[min(w.Sel, len(w.Rows)):]
	for _, r := range rest[:min(n, len(rest))] {
		out.Keys = append(out.Keys, w.ID(r))
	}
	for _, p := range w.Pages {
		out.Problems, out.Total = append(out.Problems, p.Problems...), p.Total
		out.More = p.Next != ""
	}
	if !out.More && w.first >= 0 {
		out.Total = model.Count{N: w.first + int64(len(w.Rows))}
	}
	out.More = out.More || len(rest) > n
	return out
}

// Place puts the cursor on a row; false: it has left the list.
func (b *Browser[T]) Place(key string) bool {
	w := b.Window
	at := slices.IndexFunc(w.Rows, func(r T) bool { return w.ID(r) == key })
	if at >= 0 {
		w.Sel = at
		w.clamp()
	}
	return at >= 0
}

// Mark marks the row at the cursor.
func (b *Browser[T]) Mark() {
	if r, ok := b.Window.Current(); ok {
		b.Marks.Add(r)
	}
}

// Steady is the number of rows that a layout follows: 0 while they are coming, and under a filter.
func (b *Browser[T]) Steady() int {
	if b.Query != "" || b.Partial || b.Window.Loading[ArriveReset] {
		return 0
	}
	return len(b.Window.Rows)
}

// Settled reports whether a refresh would disturb no running work.
func (b *Browser[T]) Settled() bool {
	return !slices.Contains(b.Window.Loading[:], true) && b.Window.Trail == nil && b.Marks.Walk == nil && b.Marks.Uncounted() == ""
}

func (b *Browser[T]) Typed() tea.Cmd { return b.typed(b.later) }

// Seek looks through the list, page by page.
func (b *Browser[T]) Seek(want func(T) bool, word safetext.Text) tea.Cmd {
	return b.Window.Follow(&Trail[T]{Word: word, Near: func(r T) (int, bool) { return 0, want(r) }})
}

// Trailed takes a page of a trail, and says how the trail ended.
func (b *Browser[T]) Trailed(m Trailed[T]) (cmd tea.Cmd, found bool) {
	cmd, over, found := b.Window.Trailed(m)
	switch word := m.Trail.Word; {
	case !over || found || word.IsEmpty():
	case m.Err != nil:
		b.loop.Warn("not looked for to the end: %s: %s", word, prose.Reason(b.loop.Esc, m.Err))
	default:
		b.loop.Warn("not in this list: %s", word)
	}
	return cmd, found
}

// Due applies what was typed after a pause, one question at a time: a source may keep one walk only.
func (b *Browser[T]) Due(m FilterDue) tea.Cmd {
	query, now := b.due(m)
	switch {
	case now && b.Window.Loading[ArriveReset]:
		return b.typed(b.later)
	case now && b.Check(query) == nil:
		return b.Narrow(query)
	}
	return nil
}

// Apply puts a filter in force; an empty one shows everything.
func (b *Browser[T]) Apply(query string) tea.Cmd {
	if err := b.Check(query); err != nil { // the operator goes on typing
		return b.loop.Warn("%s", prose.Reason(b.loop.Esc, err))
	}
	b.Filter.Focus = false
	b.Filter.Set(query)
	return b.Narrow(query)
}

// Narrow applies a filter and leaves the input unchanged.
func (b *Browser[T]) Narrow(query string) tea.Cmd {
	was := b.Query
	b.Query = effective(query)
	b.Marks.Stop()
	b.Window.Fetch = b.Fetcher()
	return tea.Batch(b.refilter(was), b.Marks.Filtered(b.Query))
}

// refilter shows the list under the filter in force.
func (b *Browser[T]) refilter(was string) tea.Cmd {
	switch whole := b.Unfiltered; {
	case b.Query != "":
		if was == "" {
			b.Unfiltered, b.moved = b.Window.Hold(), false
		}
		return b.Restart(true)
	case whole != nil:
		b.Unfiltered = nil
		at := ""
		if row, ok := b.Window.Current(); ok && (b.moved || !b.Returns) {
			at = b.Window.ID(row)
		}
		if at == "" || whole.has(func(r T) bool { return b.Window.ID(r) == at }) {
			return tea.Batch(b.Window.Take(b.Fetcher(), whole, at), b.Moved())
		}
	}
	return b.Restart(false)
}

// Restart fetches the list anew, with the cursor on the nearest remaining row; once: one page is enough.
func (b *Browser[T]) Restart(once bool) tea.Cmd {
	return b.Window.ResetNear(b.Fetcher(), b.Window.Neighbours(), once)
}
