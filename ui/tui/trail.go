package tui

import (
	"context"
	"maps"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// trail is the way through a list to one of its rows, page by page, one command
// each: no store tells where an item stands in an order. It ends at the row or at the
// end of the list, it says how far it is, and it can be stopped.
type trail[T any] struct {
	kin  func(T) (distance int, ok bool) // 0 is the row that is wanted, more is a neighbour of it
	word safetext.Text                   // what is looked for, as it is said; empty: nothing is said at its end
	anew bool                            // the list begins anew where this leads: until then what was there stays
	once bool                            // one page is enough: whoever filters waits for what matches

	line   int // of the screen where the row goes
	passed []from
	last   span[T] // the page before
	seen   int
	best   *landing[T] // the nearest so far
	near   int         // how near that is
	tail   bool        // the page after the row's is on its way: nobody lands at an edge
}

// landing is a page with the row where the cursor goes.
type landing[T any] struct {
	pages  []span[T] // its own, and its neighbours where it is near an edge
	key    string
	first  int64  // place of the first of them in the whole list
	before []from // where the pages before them start
}

// trailed is the next page of a trail.
type trailed[T any] struct {
	trail *trail[T]
	page  span[T]
	err   error
}

// follow begins a trail; one that is under way is given up.
func (w *window[T]) follow(t *trail[T]) tea.Cmd {
	w.trail, t.line = t, w.sel-w.top
	limit := model.MaxPage
	if t.anew {
		w.gen++
		w.early, w.again = 0, false
		w.loading = [arriveRefresh + 1]bool{arriveReset: true}
		limit = w.perPage // most rows are on the first page, and that is shown at once
	}
	return w.pass(t, from{}, limit)
}

func (w *window[T]) pass(t *trail[T], at from, limit int) tea.Cmd {
	fetch := w.fetch
	return w.ask(func(ctx context.Context) any {
		at := at
		page, err := fetch(ctx, at, limit)
		at.limit = limit // a refresh asks for as many
		page.at, page.limit = at, limit
		return trailed[T]{t, page, err}
	})
}

// trailed takes a page. over says that the trail has ended with it, found that it led
// to the row itself.
func (w *window[T]) trailed(m trailed[T]) (cmd tea.Cmd, over, found bool) {
	t := m.trail
	if t != w.trail {
		return nil, false, false
	}
	if m.err != nil {
		w.trail = nil
		if t.anew {
			w.loading[arriveReset], w.err, w.retry = false, m.err, false
		}
		return nil, true, false
	}
	if t.best == nil && t.anew { // where there is no kin at all the list begins at its start
		t.best, t.near = &landing[T]{pages: []span[T]{m.page}}, int(^uint(0)>>1)
	}
	if t.tail {
		t.best.pages = append(t.best.pages, m.page)
		return w.leave(), true, true
	}
	at := -1
	for i, r := range m.page.rows {
		if d, ok := t.kin(r); ok && (t.best == nil || d < t.near) {
			t.near, at = d, i
		}
		if at == i {
			t.best = w.landed(t, m.page, i)
		}
	}
	t.seen += len(m.page.rows)
	t.passed, t.last = append(t.passed, m.page.at), m.page
	found = t.best != nil && t.near == 0
	t.tail = found && len(m.page.rows)-at <= w.near()
	if (t.tail || !found) && !t.once && m.page.next != "" {
		return w.pass(t, from{cursor: m.page.next}, model.MaxPage), false, false
	}
	return w.leave(), true, found
}

// landed is a row of a page as the place to go to.
func (w *window[T]) landed(t *trail[T], page span[T], at int) *landing[T] {
	out := &landing[T]{pages: []span[T]{page}, key: w.id(page.rows[at]), first: int64(t.seen)}
	passed := len(t.passed)
	if passed > 0 && at < w.near() {
		out.pages = []span[T]{t.last, page}
		out.first -= int64(len(t.last.rows))
		passed--
	}
	out.before = append(out.before, t.passed[:passed]...)
	return out
}

// leave ends a trail where it is: at the nearest row so far.
func (w *window[T]) leave() tea.Cmd {
	t := w.trail
	w.trail = nil
	if t == nil || t.best == nil || !t.anew && t.near > 0 {
		return nil
	}
	if !t.anew {
		for i, r := range w.rows {
			if w.id(r) == t.best.key && !w.loading[arriveReset] {
				return w.Move(i - w.sel)
			}
		}
		t.line = w.height / 2
		w.gen++
		w.early = 0
	}
	w.seek, w.seekFirst = t.best.key, t.best.first
	before := t.best.before
	early := w.early
	w.early = 0
	w.begin(t.best.pages)
	if w.forward {
		w.before = before
	}
	w.top = w.sel - t.line
	w.loading, w.err, w.retry, w.loaded = [arriveRefresh + 1]bool{}, nil, false, true
	w.sel += early
	w.clamp()
	if w.again {
		w.again = false
		return w.refresh()
	}
	return w.ahead()
}

// stop gives up a trail that is no more than a wish: the operator moves on.
func (w *window[T]) stop() {
	if w.trail != nil && !w.trail.anew {
		w.trail = nil
	}
}

// kin is how far the rows that are loaded are from the one at the cursor: where that
// one is gone, the nearest takes its place.
func (w *window[T]) kin() map[string]int {
	out := make(map[string]int, len(w.rows))
	for i, r := range w.rows {
		d := 2 * (i - w.sel)
		if d < 0 {
			d = 1 - d // of two, the one behind
		}
		out[w.id(r)] = d
	}
	return out
}

// resetNear begins a list anew and keeps the cursor with its row, wherever that
// stands now, or with the nearest one that is still there.
func (w *window[T]) resetNear(f fetcher[T], kin map[string]int, once bool) tea.Cmd {
	if len(kin) == 0 {
		return w.reset(f)
	}
	w.fetch = f
	return w.follow(&trail[T]{anew: true, once: once, kin: func(r T) (int, bool) {
		d, ok := kin[w.id(r)]
		return d, ok
	}})
}

// held is a window as it was left.
type held[T any] struct {
	pages    []span[T]
	before   []from
	first    int64
	sel, top int
}

// hold keeps the rows and the place of the window; nil when there is nothing to keep.
func (w *window[T]) hold() *held[T] {
	if len(w.pages) == 0 || w.loading[arriveReset] {
		return nil
	}
	return &held[T]{w.pages, w.before, w.first, w.sel, w.top}
}

func (h *held[T]) rows(id func(T) string) map[string]int {
	out := map[string]int{}
	n := 0
	for _, p := range h.pages {
		for _, r := range p.rows {
			out[id(r)] = n
			n++
		}
	}
	return out
}

// take puts rows back as they were left, with the cursor on one of them when key is
// not empty, and asks whether they are still so.
func (w *window[T]) take(f fetcher[T], h *held[T], key string) tea.Cmd {
	line := w.sel - w.top
	w.fetch, w.trail = f, nil
	w.gen++
	w.early, w.again = 0, false
	w.loading, w.err, w.loaded = [arriveRefresh + 1]bool{}, nil, true
	w.pages, w.before, w.first = h.pages, h.before, h.first
	w.join()
	w.sel, w.top = h.sel, h.top
	if at, ok := h.rows(w.id)[key]; ok && at != h.sel {
		w.sel, w.top = at, at-line
	}
	w.clamp()
	return w.refresh()
}

// looking says how far a trail is.
func (w *window[T]) looking(esc safetext.Escaper) []safetext.Text {
	if w.trail == nil || w.trail.seen == 0 {
		return nil
	}
	return []safetext.Text{esc.Sprintf("looking: %s so far", prose.Plural(int64(w.trail.seen), "row"))}
}

// stopLooking is the key that ends a trail; nil while there is none.
func (w *window[T]) stopLooking(d *loop, then func() tea.Cmd) []act.Act {
	if w.trail == nil || w.trail.seen == 0 {
		return nil
	}
	return []act.Act{{Keys: []string{"esc"}, Name: "stop looking", Doc: "stop looking for the row; the cursor goes to the nearest that was found", Do: func() tea.Cmd {
		d.say(paint.ToneInfo, d.esc.Sprintf("stopped after %s", prose.Plural(int64(w.trail.seen), "row")))
		return tea.Batch(w.leave(), then())
	}}}
}

// merged joins distances: rows of the first are nearer.
func merged(near, far map[string]int) map[string]int {
	out := maps.Clone(near)
	for k, d := range far {
		if _, ok := out[k]; !ok {
			out[k] = d + 1<<20
		}
	}
	return out
}
