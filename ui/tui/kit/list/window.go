// Package list moves through a list in a store: pages around the cursor, the way to a row, marks, filters.
package list

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
)

// From is where a page starts: a cursor of the list, or its last page.
type From struct {
	Cursor string
	End    bool
	Limit  int // rows of the page when it was dropped; 0: the current page size
}

// Span is one page as the list holds it.
type Span[T any] struct {
	At         From // asked for again on refresh
	limit      int  // of its request
	Rows       []T
	Next, Prev string
	Total      model.Count
	Problems   []string // what could not be read: the list is incomplete
	Said       Said
}

// Said is a source's note about the whole list; calm: it is no warning.
type Said struct {
	Text safetext.Text
	Calm bool
}

// Words are the note for the ear.
func (s Said) Words(esc safetext.Escaper) safetext.Text {
	if s.Calm {
		return s.Text
	}
	return esc.Sprintf("Notice: %s", s.Text)
}

// Fetcher loads one page. It runs in a command, off the update loop.
type Fetcher[T any] func(ctx context.Context, at From, limit int) (Span[T], error)

// keptPages bounds the window: pages further away are dropped, and fetched again on return.
const keptPages = 3

type arrival int

const (
	ArriveReset arrival = iota // the list begins anew at its first or last page
	arriveNext
	arrivePrev
	ArriveRefresh
)

type Fetched[T any] struct {
	Gen   int
	How   arrival
	Pages []Span[T]
	Took  time.Duration // of the source alone: the answer may have waited while an editor had the terminal
	Err   error
}

// Window is a cursor over a list in a store: it holds a few pages around the selection, fetches
// ahead and drops outdated answers. A key costs the same at a thousand and at a million items.
type Window[T any] struct {
	Ask   func(func(context.Context) any) tea.Cmd // runs a fetch and delivers its answer
	ID    func(T) string
	Fetch Fetcher[T] // of the current query; never nil after reset

	Forward bool   // the source only goes forward: earlier pages are found by the way there
	before  []From // of a forward source: starts of the dropped pages

	Pages   []Span[T]
	Rows    []T   // of all pages, in order
	first   int64 // position of Rows[0] in the whole list; -1 when unknown
	Sel     int   // in rows
	Top     int   // first visible of rows
	Height  int   // visible rows
	Leap    bool  // scroll by half a screen: there is a detail beside the list
	PerPage int   // rows per page

	Gen     int
	Trail   *Trail[T] // to a row that is not loaded; nil: none
	early   int       // moves before the first rows came
	Loading [ArriveRefresh + 1]bool
	Quiet   bool  // the running refresh is automatic: the screen does not say that it loads
	again   bool  // a refresh was asked for during a fetch whose answer may be older than the change
	Err     error // of the last fetch; the rows are then the older ones
	retry   bool  // a key was pressed since: try the failed fetch again
	Loaded  bool  // a row has come, or the end: a page that a filter left empty is neither
}

func NewWindow[T any](ask func(func(context.Context) any) tea.Cmd, id func(T) string) *Window[T] {
	return &Window[T]{Ask: ask, ID: id, Height: 1, PerPage: model.DefaultPage}
}

// Bare reports a list without rows that was read, or could not be.
func (w *Window[T]) Bare() bool { return len(w.Rows) == 0 && (w.Loaded || w.Err != nil) }

// Reset begins a list anew. The old rows stay until the new ones come: the screen does not jump.
func (w *Window[T]) Reset(f Fetcher[T]) tea.Cmd {
	w.Fetch = f
	return w.Restart(From{})
}

func (w *Window[T]) Restart(at From) tea.Cmd {
	w.Trail = nil
	w.outdate(true)
	return w.request(ArriveReset, at, 1)
}

// outdate drops the answers under way; resetting: the list begins anew.
func (w *Window[T]) outdate(resetting bool) {
	w.Gen++
	w.early, w.again = 0, false
	w.Loading = [ArriveRefresh + 1]bool{ArriveReset: resetting}
}

// request fetches count pages from at onwards.
func (w *Window[T]) request(how arrival, at From, pages int) tea.Cmd {
	gen, fetch, limits := w.Gen, w.Fetch, make([]int, pages)
	for i := range limits {
		limits[i] = cmp.Or(at.Limit, w.PerPage)
		if how == ArriveRefresh { // the way to a row read larger pages
			limits[i] = w.Pages[i].limit
		}
	}
	w.Loading[how] = true
	return w.Ask(func(ctx context.Context) any {
		out, began := Fetched[T]{Gen: gen, How: how}, time.Now()
		for _, limit := range limits {
			p, err := fetch(ctx, at, limit)
			out.Took = time.Since(began)
			if err != nil {
				out.Err = err
				return out
			}
			p.At, p.limit = at, limit
			out.Pages = append(out.Pages, p)
			if p.Next == "" {
				break
			}
			at = From{Cursor: p.Next}
		}
		return out
	})
}

// Refresh fetches the loaded pages again, after a fetch under way, and keeps the selection by its id.
func (w *Window[T]) Refresh() tea.Cmd {
	switch {
	case w.Fetch == nil:
		return nil
	case w.Loading[ArriveRefresh] || w.Loading[ArriveReset] || w.Trail != nil && w.Trail.Anew:
		w.again = true
		return nil
	case len(w.Pages) == 0:
		return w.Restart(From{})
	}
	w.Gen++ // a page being fetched belongs to the old list
	w.Loading = [ArriveRefresh + 1]bool{}
	return w.request(ArriveRefresh, w.Pages[0].At, len(w.Pages))
}

// Arrive takes an answer; stale ones change nothing.
func (w *Window[T]) Arrive(m Fetched[T]) tea.Cmd {
	if m.Gen != w.Gen {
		return nil
	}
	w.Loading[m.How] = false
	w.Err, w.retry, w.Quiet = m.Err, false, w.Quiet && m.How != ArriveRefresh
	again := w.again
	w.again = false
	if m.Err != nil {
		return nil
	}
	switch m.How {
	case ArriveReset:
		w.begin(m.Pages)
		w.Sel += w.early
		w.early = 0
	case arriveNext:
		w.append(m.Pages)
	case arrivePrev:
		w.prepend(m.Pages)
	case ArriveRefresh:
		w.replace(m.Pages)
	}
	w.Loaded = len(w.Rows) > 0 || len(w.Pages) == 0 || w.Pages[len(w.Pages)-1].Next == ""
	w.clamp()
	if again {
		return w.Refresh()
	}
	return w.ahead()
}

// Renews reports whether an answer is about all rows shown; a neighbour page leaves the others as old as they are.
func (w *Window[T]) Renews(m Fetched[T]) bool {
	return m.Gen == w.Gen && (m.How == ArriveReset || m.How == ArriveRefresh)
}

// Drop ends an automatic refresh of a frozen list, if m is its answer and nobody has asked for it since.
func (w *Window[T]) Drop(m Fetched[T]) bool {
	if m.Gen != w.Gen || m.How != ArriveRefresh || !w.Quiet || w.again {
		return false
	}
	w.Loading[ArriveRefresh], w.Quiet = false, false
	return true
}

func (w *Window[T]) begin(pages []Span[T]) {
	w.Pages, w.before = pages, nil
	w.join()
	w.place()
	w.Sel, w.Top = 0, 0
	if len(pages) > 0 && pages[0].At.End {
		w.Sel = max(len(w.Rows)-1, 0)
	}
}

// hasBefore reports whether there are rows before the window, and where they are.
func (w *Window[T]) hasBefore() bool {
	return len(w.before) > 0 || len(w.Pages) > 0 && w.Pages[0].Prev != ""
}

func (w *Window[T]) pageBefore() From {
	if n := len(w.before); n > 0 {
		return w.before[n-1]
	}
	return From{Cursor: w.Pages[0].Prev}
}

// place computes the window's position in the whole list, as far as the pages tell it.
func (w *Window[T]) place() {
	w.first = -1
	if len(w.Pages) == 0 {
		return
	}
	last := w.Pages[len(w.Pages)-1]
	switch {
	case !w.hasBefore():
		w.first = 0
	case last.Next == "" && !last.Total.AtLeast && !last.Total.Unknown:
		w.first = max(last.Total.N-int64(len(w.Rows)), 0)
	}
}

func (w *Window[T]) append(pages []Span[T]) {
	w.Pages = append(w.Pages, pages...)
	for len(w.Pages) > keptPages {
		gone := len(w.Pages[0].Rows)
		if gone > w.Top || w.Sel-gone < w.near() { // visible, or about to be fetched again
			break
		}
		if w.Forward {
			at := w.Pages[0].At
			at.Limit = w.Pages[0].limit // a resize changes the page size
			w.before = append(w.before, at)
		}
		w.Pages = w.Pages[1:]
		w.Sel -= gone
		w.Top -= gone
		if w.first >= 0 {
			w.first += int64(gone)
		}
	}
	w.join()
}

func rowsOf[T any](pages []Span[T]) (n int) {
	for _, p := range pages {
		n += len(p.Rows)
	}
	return n
}

func (w *Window[T]) prepend(pages []Span[T]) {
	came := rowsOf(pages)
	w.Pages = slices.Concat(pages, w.Pages)
	w.before = w.before[:max(len(w.before)-1, 0)]
	w.Sel += came
	w.Top += came
	for len(w.Pages) > keptPages {
		last := len(w.Pages) - 1
		rest := rowsOf(w.Pages[:last])
		if w.Top+w.Height > rest || rest-w.Sel <= w.near() {
			break
		}
		w.Pages = w.Pages[:last]
	}
	w.join()
	switch {
	case !w.hasBefore():
		w.first = 0
	case w.first >= int64(came):
		w.first -= int64(came)
	default: // the list has grown at its start
		w.first = -1
	}
}

func (w *Window[T]) replace(pages []Span[T]) {
	old, at, top := w.Rows, w.Sel, w.Top
	known := w.first
	w.Pages = pages
	w.join()
	w.place()
	if w.first < 0 {
		w.first = known
	}
	if len(old) == 0 {
		return
	}
	// The selected item, or the nearest remaining one before it.
	places := make(map[string]int, len(w.Rows))
	for i, r := range w.Rows {
		places[w.ID(r)] = i
	}
	for i := min(at, len(old)-1); i >= 0; i-- {
		if p, ok := places[w.ID(old[i])]; ok {
			if i < at && p+1 < len(w.Rows) {
				p++ // its replacement
			}
			w.Sel = p
			w.Top = top + p - at
			return
		}
	}
	w.Sel = 0
}

func (w *Window[T]) join() {
	w.Rows = make([]T, 0, rowsOf(w.Pages))
	for _, p := range w.Pages {
		w.Rows = append(w.Rows, p.Rows...)
	}
}

// clamp keeps the selection inside the rows and on the screen.
func (w *Window[T]) clamp() {
	w.Sel = max(min(w.Sel, len(w.Rows)-1), 0)
	w.Top = scrolled(w.Top, w.Sel, len(w.Rows), w.Height, w.Leap)
}

// scrolled is the first visible row that keeps sel on the screen and leaves no line empty while
// there are rows. A leaping list centres a selection that has left the screen: a terminal can shift
// only whole lines, so beside a detail each further step would be drawn row by row.
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

// near is the distance in rows from an end of the window at which the next page is fetched.
func (w *Window[T]) near() int { return w.PerPage/2 + w.Height }

// ahead prefetches the neighbour pages.
func (w *Window[T]) ahead() tea.Cmd {
	if len(w.Pages) == 0 || w.Loading[ArriveReset] || w.Loading[ArriveRefresh] || w.Err != nil && !w.retry {
		return nil
	}
	near := w.near()
	var cmds []tea.Cmd
	last := w.Pages[len(w.Pages)-1]
	if len(w.Rows)-w.Sel <= near && last.Next != "" && !w.Loading[arriveNext] {
		cmds = append(cmds, w.request(arriveNext, From{Cursor: last.Next}, 1))
	}
	if w.Sel < near && w.hasBefore() && !w.Loading[arrivePrev] {
		cmds = append(cmds, w.request(arrivePrev, w.pageBefore(), 1))
	}
	return tea.Batch(cmds...)
}

// Resize sets the number of visible rows, and whether there is a detail beside them.
func (w *Window[T]) Resize(height int, beside bool) {
	height, w.Leap = max(height, 1), beside
	if height == w.Height {
		return
	}
	w.Height = height
	w.PerPage = min(max(model.DefaultPage, 2*height), model.MaxPage)
	w.clamp()
}

func (w *Window[T]) Move(by int) tea.Cmd {
	w.retry = true
	w.stop()
	if w.Loading[ArriveReset] { // keys that come before the rows wait for them
		w.early += by
		return nil
	}
	w.Sel += by
	w.clamp()
	return w.ahead()
}

func (w *Window[T]) Page(by float64) tea.Cmd {
	n := act.Steps(by, w.Height)
	w.Top = max(min(w.Top+n, len(w.Rows)-w.Height), 0)
	return w.Move(n)
}

// Scroll moves the rows on the screen, not the selection; behind the last row too, until the next move or answer.
func (w *Window[T]) Scroll(by int) { w.Top += by }

func (w *Window[T]) Home() tea.Cmd {
	if !w.hasBefore() {
		return w.Move(-len(w.Rows))
	}
	return w.Restart(From{})
}

func (w *Window[T]) End() tea.Cmd {
	if len(w.Pages) == 0 || w.Pages[len(w.Pages)-1].Next == "" || w.Forward {
		return w.Move(len(w.Rows))
	}
	return w.Restart(From{End: true})
}

func (w *Window[T]) Current() (T, bool) {
	if w.Sel < len(w.Rows) {
		return w.Rows[w.Sel], true
	}
	var none T
	return none, false
}

// Alone says that the row at the cursor is known to be the only one; empty: it may have neighbours.
func (w *Window[T]) Alone() string {
	if n := w.Total(); n.N == 1 && !n.AtLeast && !n.Unknown {
		return "there is only this one"
	}
	return ""
}

// Trouble says that the rows are old, and why.
func (w *Window[T]) Trouble(esc safetext.Escaper) safetext.Text {
	if w.Err == nil {
		return w.problems(esc)
	}
	if len(w.Rows) == 0 {
		return safetext.Text{}
	}
	return esc.Sprintf("the list is as it was, the store does not answer: %s", prose.Reason(esc, w.Err))
}

// problems says that the list is incomplete.
func (w *Window[T]) problems(esc safetext.Escaper) safetext.Text {
	var all []string
	for _, p := range w.Pages {
		all = append(all, p.Problems...)
	}
	switch first, more := Problems(all, 1); {
	case len(first) == 0:
		return safetext.Text{}
	case more == 0:
		return esc.Sprintf("not looked at: %s", esc.LineMax(first[0], prose.MaxReason))
	default:
		return esc.Sprintf("not looked at: %s (and %s)", esc.LineMax(first[0], prose.MaxReason), prose.Plural(more, "more problem"))
	}
}

// Problems are the first of some problems, and how many others there are; pages repeat them.
func Problems(all []string, most int) (first []string, more int) {
	seen := make(map[string]bool, len(all))
	for _, what := range all {
		if seen[what] {
			continue
		}
		if seen[what] = true; len(first) < most {
			first = append(first, what)
		}
	}
	return first, len(seen) - len(first)
}

// Nothing says why there is no row at the cursor: a list that is still loading is not empty.
func (w *Window[T]) Nothing() string {
	if !w.Loaded && w.Err == nil {
		return "the list is still loading: press it again when it stands there"
	}
	return "the list is empty"
}

// Busy reports whether a fetch will change the rows on the screen.
func (w *Window[T]) Busy() bool {
	return w.Loading[ArriveReset] || w.Loading[ArriveRefresh] && !w.Quiet ||
		w.Loading[arriveNext] && w.Sel >= len(w.Rows)-1 || w.Loading[arrivePrev] && w.Sel == 0
}

// Total is the size of the list: as the store counted it, or as seen when the window reaches the end.
func (w *Window[T]) Total() model.Count {
	if len(w.Pages) == 0 {
		return model.Count{Unknown: true}
	}
	last := w.Pages[len(w.Pages)-1]
	if last.Next == "" && w.first >= 0 {
		return model.Count{N: w.first + int64(len(w.Rows))}
	}
	total := last.Total
	seen := max(w.first, 0) + int64(len(w.Rows))
	if total.Unknown || total.N < seen {
		return model.Count{N: seen, AtLeast: true}
	}
	return total
}

// Position is the position of the selection, as far as known.
func (w *Window[T]) Position() safetext.Text {
	total := w.Total()
	switch {
	case len(w.Rows) == 0 && !w.Loaded:
		return safetext.Text{}
	case len(w.Rows) == 0:
		return safetext.Const("none")
	case w.first >= 0:
		return safetext.Sprintf("%s of %s", safetext.Const(prose.Group(w.first+int64(w.Sel)+1)), safetext.Const(prose.Count(total)))
	case w.Pages[len(w.Pages)-1].Next == "":
		return safetext.Sprintf("%s before the end of %s", safetext.Const(prose.Group(len(w.Rows)-1-w.Sel)), safetext.Const(prose.Count(total)))
	}
	return safetext.Sprintf("somewhere in %s", safetext.Const(prose.Count(total)))
}

// EachRow reads all pages of a list, and returns what they say about the whole: its problems and warnings.
func EachRow[T any](ctx context.Context, esc safetext.Escaper, fetch Fetcher[T], do func(T) error) (missing []safetext.Text, err error) {
	var problems []string
	var said Said
	for at := (From{}); ; {
		page, err := fetch(ctx, at, model.MaxPage)
		if err != nil {
			return nil, err
		}
		for _, r := range page.Rows {
			if err := do(r); err != nil {
				return nil, err
			}
		}
		problems = append(problems, page.Problems...)
		if !page.Said.Calm && !page.Said.Text.IsEmpty() {
			said = page.Said
		}
		if page.Next == "" {
			break
		}
		at = From{Cursor: page.Next}
	}
	if !said.Text.IsEmpty() {
		missing = append(missing, said.Words(esc))
	}
	first, more := Problems(problems, 3)
	for _, what := range first {
		missing = append(missing, esc.Sprintf("not looked at: %s", esc.LineMax(what, prose.MaxReason)))
	}
	if more > 0 {
		missing = append(missing, esc.Sprintf("and %s", prose.Plural(more, "more problem")))
	}
	return missing, nil
}
