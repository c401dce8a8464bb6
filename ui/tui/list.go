package tui

import (
	"cmp"
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
)

// from is where a page starts: a cursor of the list, or its last page.
type from struct {
	cursor string
	end    bool
	limit  int // rows of the page when it was let go; 0: as many as a page has now
}

// span is one page as the list holds it.
type span[T any] struct {
	at         from // asked for again on refresh
	limit      int  // that it was asked for with
	rows       []T
	next, prev string
	total      model.Count
	problems   []string // what could not be looked at: the list is not all there is
}

// fetcher loads one page. It runs in a command, off the update loop.
type fetcher[T any] func(ctx context.Context, at from, limit int) (span[T], error)

// keptPages bounds the window: what is further away is let go and fetched again
// when the operator returns to it.
const keptPages = 3

type arrival int

const (
	arriveReset arrival = iota // the list begins anew at its first or last page
	arriveNext
	arrivePrev
	arriveRefresh
)

// fetched is the answer to one fetch.
type fetched[T any] struct {
	gen   int
	how   arrival
	pages []span[T]
	err   error
}

// window is a cursor over a list that lives in a store: it holds a few pages
// around the selection, fetches ahead and drops answers to questions that are no
// longer asked. A key costs the same at a thousand and at a million items.
type window[T any] struct {
	ask   func(func(context.Context) any) tea.Cmd // runs a fetch and delivers its answer
	id    func(T) string
	fetch fetcher[T] // of the current query; never nil after reset

	forward bool   // the source only goes forward: pages before are found by the way there
	before  []from // of a forward source: where the pages that were let go start

	pages   []span[T]
	rows    []T   // of all pages, in order
	first   int64 // place of rows[0] in the whole list; -1 when it cannot be told
	sel     int   // in rows
	top     int   // first visible of rows
	height  int   // visible rows
	leap    bool  // scroll by half a screen: something stands beside the list
	perPage int   // rows per page

	gen       int
	trail     *trail[T] // to a row that is not loaded; nil: none
	early     int       // moves that came before the first rows
	seek      string    // id of the row that the cursor goes to when the list begins anew
	seekFirst int64     // place of that row's page in the whole list
	loading   [arriveRefresh + 1]bool
	quiet     bool  // the refresh under way is by the clock: the screen does not say that it loads
	again     bool  // a refresh was asked for while an answer was under way that may not know of the change
	err       error // of the last fetch; the rows are then what was known before
	retry     bool  // a key was pressed since: ask again for what could not be had
	loaded    bool  // at least one page has come since the window was made
}

func newWindow[T any](ask func(func(context.Context) any) tea.Cmd, id func(T) string) *window[T] {
	return &window[T]{ask: ask, id: id, height: 1, perPage: model.DefaultPage}
}

// reset begins a list anew. The old rows stay until the new ones come, so that
// the screen does not jump.
func (w *window[T]) reset(f fetcher[T]) tea.Cmd {
	w.fetch = f
	return w.restart(from{})
}

func (w *window[T]) restart(at from) tea.Cmd {
	w.trail = nil
	w.gen++
	w.early, w.again = 0, false
	w.loading = [arriveRefresh + 1]bool{arriveReset: true}
	return w.request(arriveReset, at, 1)
}

// request fetches count pages from at onwards.
func (w *window[T]) request(how arrival, at from, pages int) tea.Cmd {
	gen, fetch, limit := w.gen, w.fetch, cmp.Or(at.limit, w.perPage)
	w.loading[how] = true
	return w.ask(func(ctx context.Context) any {
		out := fetched[T]{gen: gen, how: how}
		for range pages {
			p, err := fetch(ctx, at, limit)
			if err != nil {
				out.err = err
				return out
			}
			p.at, p.limit = at, limit
			out.pages = append(out.pages, p)
			if p.next == "" {
				break
			}
			at = from{cursor: p.next}
		}
		return out
	})
}

// refresh asks for the loaded pages again and keeps the selection by its id. While
// an answer is under way it is asked for after that one has come.
func (w *window[T]) refresh() tea.Cmd {
	switch {
	case w.fetch == nil:
		return nil
	case w.loading[arriveRefresh] || w.loading[arriveReset] || w.trail != nil && w.trail.anew:
		w.again = true
		return nil
	case len(w.pages) == 0:
		return w.restart(from{})
	}
	w.gen++ // a page that is under way belongs to the list as it was
	w.loading = [arriveRefresh + 1]bool{}
	return w.request(arriveRefresh, w.pages[0].at, len(w.pages))
}

// arrive takes an answer; stale ones change nothing.
func (w *window[T]) arrive(m fetched[T]) tea.Cmd {
	if m.gen != w.gen {
		return nil
	}
	w.loading[m.how] = false
	w.err, w.retry, w.quiet = m.err, false, w.quiet && m.how != arriveRefresh
	again := w.again
	w.again = false
	if m.err != nil {
		return nil
	}
	w.loaded = true
	switch m.how {
	case arriveReset:
		w.begin(m.pages)
		w.sel += w.early
		w.early = 0
	case arriveNext:
		w.append(m.pages)
	case arrivePrev:
		w.prepend(m.pages)
	case arriveRefresh:
		w.replace(m.pages)
	}
	w.clamp()
	if again {
		return w.refresh()
	}
	return w.ahead()
}

func (w *window[T]) begin(pages []span[T]) {
	w.pages, w.before = pages, nil
	w.join()
	w.place()
	w.sel, w.top = 0, 0
	if w.seek != "" {
		w.sel = max(slices.IndexFunc(w.rows, func(r T) bool { return w.id(r) == w.seek }), 0)
		w.first, w.seek = w.seekFirst, ""
	}
	if len(pages) > 0 && pages[0].at.end {
		w.sel = max(len(w.rows)-1, 0)
	}
}

// hasBefore reports whether there are rows before the window, and where they are.
func (w *window[T]) hasBefore() bool {
	return len(w.before) > 0 || len(w.pages) > 0 && w.pages[0].prev != ""
}

func (w *window[T]) pageBefore() from {
	if n := len(w.before); n > 0 {
		return w.before[n-1]
	}
	return from{cursor: w.pages[0].prev}
}

// place finds out where the window stands in the whole list, as far as the pages
// can tell.
func (w *window[T]) place() {
	w.first = -1
	if len(w.pages) == 0 {
		return
	}
	last := w.pages[len(w.pages)-1]
	switch {
	case !w.hasBefore():
		w.first = 0
	case last.next == "" && !last.total.AtLeast && !last.total.Unknown:
		w.first = max(last.total.N-int64(len(w.rows)), 0)
	}
}

func (w *window[T]) append(pages []span[T]) {
	w.pages = append(w.pages, pages...)
	for len(w.pages) > keptPages {
		gone := len(w.pages[0].rows)
		if gone > w.top || w.sel-gone < w.near() { // seen, or asked for again at once
			break
		}
		if w.forward {
			at := w.pages[0].at
			at.limit = w.pages[0].limit // a resize changes how many a page has
			w.before = append(w.before, at)
		}
		w.pages = w.pages[1:]
		w.sel -= gone
		w.top -= gone
		if w.first >= 0 {
			w.first += int64(gone)
		}
	}
	w.join()
}

func (w *window[T]) prepend(pages []span[T]) {
	came := 0
	for _, p := range pages {
		came += len(p.rows)
	}
	w.pages = append(append([]span[T]{}, pages...), w.pages...)
	w.before = w.before[:max(len(w.before)-1, 0)]
	w.sel += came
	w.top += came
	for len(w.pages) > keptPages {
		last := len(w.pages) - 1
		rest := 0
		for _, p := range w.pages[:last] {
			rest += len(p.rows)
		}
		if w.top+w.height > rest || rest-w.sel <= w.near() {
			break
		}
		w.pages = w.pages[:last]
	}
	w.join()
	switch {
	case !w.hasBefore():
		w.first = 0
	case w.first >= int64(came):
		w.first -= int64(came)
	default: // the list has grown at its start meanwhile
		w.first = -1
	}
}

func (w *window[T]) replace(pages []span[T]) {
	old, at, top := w.rows, w.sel, w.top
	known := w.first
	w.pages = pages
	w.join()
	w.place()
	if w.first < 0 {
		w.first = known
	}
	if len(old) == 0 {
		return
	}
	// The selected item, or else the nearest one before it that is still there.
	places := make(map[string]int, len(w.rows))
	for i, r := range w.rows {
		places[w.id(r)] = i
	}
	for i := min(at, len(old)-1); i >= 0; i-- {
		if p, ok := places[w.id(old[i])]; ok {
			if i < at && p+1 < len(w.rows) {
				p++ // the one that took its place
			}
			w.sel = p
			w.top = top + p - at
			return
		}
	}
	w.sel = 0
}

func (w *window[T]) join() {
	n := 0
	for _, p := range w.pages {
		n += len(p.rows)
	}
	w.rows = make([]T, 0, n)
	for _, p := range w.pages {
		w.rows = append(w.rows, p.rows...)
	}
}

// clamp keeps the selection inside the rows and inside the screen.
func (w *window[T]) clamp() {
	w.sel = max(min(w.sel, len(w.rows)-1), 0)
	w.top = scrolled(w.top, w.sel, len(w.rows), w.height, w.leap)
}

// scrolled is the first visible row such that sel is on the screen and no line
// stays empty while there are rows to fill it. A list that leaps puts a selection
// that has left the screen into its middle: a terminal can shift whole lines only,
// so beside another text each step over the edge would be drawn row by row.
func scrolled(top, sel, rows, height int, leap bool) int {
	switch {
	case leap && (sel < top || sel >= top+height):
		top = sel - height/2
	case sel < top:
		top = sel
	case sel >= top+height:
		top = sel - height + 1
	}
	return max(min(top, rows-height), 0)
}

// near is how close to an end of the window the next page is asked for.
func (w *window[T]) near() int { return w.perPage/2 + w.height }

// ahead fetches the neighbour pages before the operator gets there.
func (w *window[T]) ahead() tea.Cmd {
	if len(w.pages) == 0 || w.loading[arriveReset] || w.loading[arriveRefresh] || w.err != nil && !w.retry {
		return nil
	}
	near := w.near()
	var cmds []tea.Cmd
	last := w.pages[len(w.pages)-1]
	if len(w.rows)-w.sel <= near && last.next != "" && !w.loading[arriveNext] {
		cmds = append(cmds, w.request(arriveNext, from{cursor: last.next}, 1))
	}
	if w.sel < near && w.hasBefore() && !w.loading[arrivePrev] {
		cmds = append(cmds, w.request(arrivePrev, w.pageBefore(), 1))
	}
	return tea.Batch(cmds...)
}

// resize tells the window how many rows are visible, and whether something stands
// beside them.
func (w *window[T]) resize(height int, beside bool) {
	height, w.leap = max(height, 1), beside
	if height == w.height {
		return
	}
	w.height = height
	w.perPage = min(max(model.DefaultPage, 2*height), model.MaxPage)
	w.clamp()
}

func (w *window[T]) Move(by int) tea.Cmd {
	w.retry = true
	w.stop()
	if w.loading[arriveReset] { // keys that come before the rows are obeyed with them
		w.early += by
		return nil
	}
	w.sel += by
	w.clamp()
	return w.ahead()
}

func (w *window[T]) Page(by float64) tea.Cmd {
	n := act.Steps(by, w.height)
	w.top = max(min(w.top+n, len(w.rows)-w.height), 0)
	return w.Move(n)
}

func (w *window[T]) Home() tea.Cmd {
	if !w.hasBefore() {
		return w.Move(-len(w.rows))
	}
	return w.restart(from{})
}

func (w *window[T]) End() tea.Cmd {
	if len(w.pages) == 0 || w.pages[len(w.pages)-1].next == "" || w.forward {
		return w.Move(len(w.rows))
	}
	return w.restart(from{end: true})
}

// current is the selected row.
func (w *window[T]) current() (T, bool) {
	if w.sel < len(w.rows) {
		return w.rows[w.sel], true
	}
	var none T
	return none, false
}

// trouble says that the rows are old and why.
func (w *window[T]) trouble(esc safetext.Escaper) safetext.Text {
	if w.err == nil {
		return w.problems(esc)
	}
	if len(w.rows) == 0 {
		return safetext.Text{}
	}
	return esc.Sprintf("!! the list is as it was, the store does not answer: %s", prose.Reason(esc, w.err))
}

// problems say that the list is not all there is.
func (w *window[T]) problems(esc safetext.Escaper) safetext.Text {
	var all []string
	for _, p := range w.pages {
		for _, what := range p.problems {
			if !slices.Contains(all, what) {
				all = append(all, what)
			}
		}
	}
	switch len(all) {
	case 0:
		return safetext.Text{}
	case 1:
		return esc.Sprintf("!! not looked at: %s", esc.LineMax(all[0], prose.MaxReason))
	}
	return esc.Sprintf("!! not looked at: %s (and %s)", esc.LineMax(all[0], prose.MaxReason), prose.Plural(int64(len(all)-1), "more problem"))
}

// busy reports whether something is under way that will change what is shown.
// nothing says why there is no row at the cursor: a list that has not come yet is
// not empty.
func (w *window[T]) nothing() string {
	if !w.loaded && w.err == nil {
		return "the list is still loading: press it again when it stands there"
	}
	return "the list is empty"
}

func (w *window[T]) busy() bool {
	return w.loading[arriveReset] || w.loading[arriveRefresh] && !w.quiet ||
		w.loading[arriveNext] && w.sel == len(w.rows)-1 || w.loading[arrivePrev] && w.sel == 0
}

// total is the size of the whole list: what the store said, or better, what has
// been seen when the window reaches to the end.
func (w *window[T]) total() model.Count {
	if len(w.pages) == 0 {
		return model.Count{Unknown: true}
	}
	last := w.pages[len(w.pages)-1]
	if last.next == "" && w.first >= 0 {
		return model.Count{N: w.first + int64(len(w.rows))}
	}
	total := last.total
	seen := max(w.first, 0) + int64(len(w.rows))
	if total.Unknown || total.N < seen {
		return model.Count{N: seen, AtLeast: true}
	}
	return total
}

// position says where the selection stands, as far as that is known.
func (w *window[T]) position() safetext.Text {
	total := w.total()
	switch {
	case len(w.rows) == 0 && !w.loaded:
		return safetext.Text{}
	case len(w.rows) == 0:
		return safetext.Const("0 of 0")
	case w.first >= 0:
		return safetext.Sprintf("%s of %s", safetext.Const(prose.Group(w.first+int64(w.sel)+1)), safetext.Const(prose.Count(total)))
	case w.pages[len(w.pages)-1].next == "":
		return safetext.Sprintf("%s before the end of %s", safetext.Const(prose.Group(int64(len(w.rows)-1-w.sel))), safetext.Const(prose.Count(total)))
	}
	return safetext.Sprintf("somewhere in %s", safetext.Const(prose.Count(total)))
}
