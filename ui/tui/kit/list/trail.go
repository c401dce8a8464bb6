package list

import (
	"context"
	"math"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
)

// Trail searches a list for one of its rows, page by page, one command each: no store tells an
// item's position in an order. It ends at the row or at the end of the list, shows its progress,
// and can be stopped.
type Trail[T any] struct {
	Near func(T) (distance int, ok bool) // 0 is the wanted row, more is a neighbour of it
	Word safetext.Text                   // the wanted row in words; empty: the end is silent
	Anew bool                            // the list begins anew at the result; until then the old rows stay
	once bool                            // one page is enough: a filter's matches are wanted at once

	Line   int // screen line for the row
	passed []From
	last   Span[T] // the page before
	Seen   int
	best   *Held[T] // the nearest row so far, with its page, and the neighbour page where it is near an edge
	key    string   // its id
	near   int      // its distance
	tail   bool     // the page after the row's is being fetched, so that the cursor does not land at an edge
}

// Trailed is the next page of a trail.
type Trailed[T any] struct {
	Trail *Trail[T]
	Page  Span[T]
	Err   error
}

// Follow begins a trail and drops the running one.
func (w *Window[T]) Follow(t *Trail[T]) tea.Cmd {
	w.Trail, t.Line = t, w.Sel-w.Top
	limit := model.MaxPage
	if t.Anew {
		w.outdate(true)
		limit = w.PerPage // most rows are on the first page, which is shown at once
	}
	return w.pass(t, From{}, limit)
}

func (w *Window[T]) pass(t *Trail[T], at From, limit int) tea.Cmd {
	fetch := w.Fetch
	return w.Ask(func(ctx context.Context) any {
		at := at
		page, err := fetch(ctx, at, limit)
		at.Limit = limit // a refresh asks for the same number
		page.At, page.limit = at, limit
		return Trailed[T]{t, page, err}
	})
}

// Trailed takes a page. over: the trail has ended; found: it reached the row itself.
func (w *Window[T]) Trailed(m Trailed[T]) (cmd tea.Cmd, over, found bool) {
	t := m.Trail
	if t != w.Trail {
		return nil, false, false
	}
	if m.Err != nil {
		w.Trail = nil
		if t.Anew {
			w.Loading[ArriveReset], w.Err, w.retry = false, m.Err, false
		}
		return nil, true, false
	}
	if t.best == nil && t.Anew { // without any neighbour left the list begins at its start
		t.best, t.near = &Held[T]{pages: []Span[T]{m.Page}}, math.MaxInt
	}
	if t.tail {
		t.best.pages = append(t.best.pages, m.Page)
		return w.leave(), true, true
	}
	at := -1
	for i, r := range m.Page.Rows {
		if d, ok := t.Near(r); ok && (t.best == nil || d < t.near) {
			t.near, at = d, i
		}
		if at == i {
			t.best, t.key = w.landed(t, m.Page, i), w.ID(r)
		}
	}
	t.Seen += len(m.Page.Rows)
	t.passed, t.last = append(t.passed, m.Page.At), m.Page
	found = t.best != nil && t.near == 0
	t.tail = found && len(m.Page.Rows)-at <= w.near()
	if (t.tail || !found) && !t.once && m.Page.Next != "" {
		return w.pass(t, From{Cursor: m.Page.Next}, model.MaxPage), false, false
	}
	return w.leave(), true, found
}

func (w *Window[T]) landed(t *Trail[T], page Span[T], at int) *Held[T] {
	out := &Held[T]{pages: []Span[T]{page}, first: int64(t.Seen), Sel: at}
	passed := len(t.passed)
	if n := len(t.last.Rows); passed > 0 && at < w.near() {
		out.pages, out.first, out.Sel = []Span[T]{t.last, page}, out.first-int64(n), at+n
		passed--
	}
	if w.Forward {
		out.before = append(out.before, t.passed[:passed]...)
	}
	return out
}

// leave ends a trail at the nearest row so far.
func (w *Window[T]) leave() tea.Cmd {
	t := w.Trail
	w.Trail = nil
	if t == nil || t.best == nil || !t.Anew && t.near > 0 {
		return nil
	}
	if !t.Anew {
		for i, r := range w.Rows {
			if w.ID(r) == t.key && !w.Loading[ArriveReset] {
				return w.Move(i - w.Sel)
			}
		}
		t.Line = w.Height / 2
		w.Gen++
		w.early = 0
	}
	t.best.top = t.best.Sel - t.Line
	w.restore(t.best)
	w.Loading, w.Err, w.retry, w.Loaded = [ArriveRefresh + 1]bool{}, nil, false, true
	w.Sel += w.early
	w.early = 0
	w.clamp()
	if w.again {
		w.again = false
		return w.Refresh()
	}
	return w.ahead()
}

// stop drops a trail when the operator moves on, unless its end begins the list anew.
func (w *Window[T]) stop() {
	if w.Trail != nil && !w.Trail.Anew {
		w.Trail = nil
	}
}

// Neighbours are the distances of the loaded rows from the cursor's row, which the nearest replaces.
func (w *Window[T]) Neighbours() map[string]int {
	out := make(map[string]int, len(w.Rows))
	for i, r := range w.Rows {
		d := 2 * (i - w.Sel)
		if d < 0 {
			d = 1 - d // of two at one distance, the later
		}
		out[w.ID(r)] = d
	}
	return out
}

// ResetNear begins a list anew with the cursor on its row, or on the nearest remaining one.
func (w *Window[T]) ResetNear(f Fetcher[T], neighbours map[string]int, once bool) tea.Cmd {
	if len(neighbours) == 0 {
		return w.Reset(f)
	}
	w.Fetch = f
	return w.Follow(&Trail[T]{Anew: true, once: once, Near: func(r T) (int, bool) {
		d, ok := neighbours[w.ID(r)]
		return d, ok
	}})
}

// Held is a saved window.
type Held[T any] struct {
	pages    []Span[T]
	before   []From
	first    int64
	Sel, top int
}

// Hold saves the rows and the position of the window; nil when it is empty.
func (w *Window[T]) Hold() *Held[T] {
	if len(w.Pages) == 0 || w.Loading[ArriveReset] {
		return nil
	}
	return &Held[T]{w.Pages, w.before, w.first, w.Sel, w.Top}
}

func (h *Held[T]) has(is func(T) bool) bool {
	return slices.ContainsFunc(h.pages, func(p Span[T]) bool { return slices.ContainsFunc(p.Rows, is) })
}

func (w *Window[T]) restore(h *Held[T]) {
	w.Pages, w.before, w.first = h.pages, h.before, h.first
	w.join()
	w.Sel, w.Top = h.Sel, h.top
}

// Take restores saved rows, with the cursor on the row of key, if not empty, and refreshes them.
func (w *Window[T]) Take(f Fetcher[T], h *Held[T], key string) tea.Cmd {
	line := w.Sel - w.Top
	w.Fetch, w.Trail = f, nil
	w.outdate(false)
	w.Err, w.Loaded = nil, true
	w.restore(h)
	if at := slices.IndexFunc(w.Rows, func(r T) bool { return w.ID(r) == key }); at >= 0 && at != h.Sel {
		w.Sel, w.Top = at, at-line
	}
	w.clamp()
	return w.Refresh()
}

// Looking is the progress of a trail.
func (w *Window[T]) Looking(esc safetext.Escaper) []safetext.Text {
	if w.Trail == nil || w.Trail.Seen == 0 {
		return nil
	}
	return []safetext.Text{esc.Sprintf("looking: %s so far", prose.Plural(w.Trail.Seen, "row"))}
}

// StopLooking is the key that ends a trail; nil without one.
func (w *Window[T]) StopLooking(d *loop.Loop, then func() tea.Cmd) []act.Act {
	if w.Trail == nil || w.Trail.Seen == 0 {
		return nil
	}
	return []act.Act{{Keys: []string{"esc"}, Name: "stop looking", Doc: "stop looking for the row; the cursor goes to the nearest that was found", Do: func() tea.Cmd {
		d.Tell("stopped after %s", prose.Plural(w.Trail.Seen, "row"))
		return tea.Batch(w.leave(), then())
	}}}
}
