// Package record is a pane over a source of records: a windowed list, a filter, an order, marks and
// a detail. A Kind says what a list shows.
//
// The type of the records stays inside the package that lists them: others see a desk.Listing. A field or a
// method that names List[T] has all of List compiled again in every package that uses its type; a function
// has it compiled once.
package record

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

type detailed struct {
	key  string
	text *text.Page
	nth  int // of the questions for a detail
}

// looked says which record the detail shows, and how.
type looked struct {
	shown     string // key of the record in the detail
	asked     string // key of the record that was last asked for; empty: its detail is out of date
	asks      int    // questions for a detail so far
	again     bool   // the detail is fetched again, and keeps its place
	Full      bool   // the detail fills the pane
	laidFull  bool   // the detail is laid out for the whole screen
	laidLines int    // it is laid out for so many lines
	facts     bool   // it shows all fields of the row
}

// List is a pane over a source: a windowed list, a filter, a detail.
type List[T any] struct {
	*list.Browser[Row[T], Row[T]]
	D      *desk.Desk
	Kind   Kind[T]
	Detail *text.Pager
	looked
	notice  list.Said
	Pick    string // key of the record for the cursor, once it is there
	Entered bool
	rest    list.Rest
	sorted  sorting
	pulse   desk.Pulse
	size    model.Count // of the list without a filter, when last seen
	read    []Row[T]    // the last page read out
	queue   Page[T]     // what its source gave beyond that
	told    any         // the shape of that page
	fit     list.Fit    // of the columns
	refit   bool        // see Refit
	halves  desk.Halves
	width   int
	height  int
}

func New[T any](d *desk.Desk, kind Kind[T]) *List[T] {
	p := &List[T]{D: d, Kind: kind}
	p.Browser = list.NewBrowser(&d.Loop, kind.Pane, func(r Row[T]) string { return r.Key }, func(r Row[T]) Row[T] { return Row[T]{Key: r.Key, Raw: r.Raw} })
	p.Hint = kind.Hint
	p.Fetcher, p.Moved = p.fetcher, p.follow
	if kind.Check != nil {
		p.Check = kind.Check
	}
	p.Window.Forward = true
	p.Detail, p.rest = text.New(d.St, p.Window.Ask), list.NewRest(&d.Loop, kind.Pane)
	if kind.Heading != nil {
		p.Marks.Heading = func(r Row[T]) bool { return kind.Heading(r.Raw) }
	}
	return p
}

// Open shows a new list in place of the pane; esc goes back.
func Open[T any](d *desk.Desk, title string, kind Kind[T]) tea.Cmd {
	return d.Frame.Beside(title, false, func(address int) desk.Listing { return Of(d, kind, address) })
}

// Of makes a list with an address of its own, so that an answer for a closed list reaches no other.
func Of[T any](d *desk.Desk, kind Kind[T], address int) desk.Listing {
	kind.Pane = address
	return New(d, kind)
}

// Here is the row at the cursor; the zero value where there is none.
func (p *List[T]) Here() T {
	r, _ := p.Window.Current()
	return r.Raw
}

func (p *List[T]) StoreHere() string {
	r, ok := p.Window.Current()
	if !ok || p.Kind.Store == nil {
		return ""
	}
	return p.Kind.Store(r.Raw)
}

func (p *List[T]) Trouble() safetext.Text { return p.Window.Trouble(p.D.Esc) }

func (p *List[T]) Unavailable() string { return p.Kind.Missing }

func (p *List[T]) Enter() tea.Cmd {
	if p.Entered && p.D.AutoRefresh.Frozen && p.follows() {
		return p.Watch()
	}
	if p.Entered {
		p.halves.Anew()
		return tea.Batch(p.Layout(), p.Window.Refresh(), p.Watch())
	}
	p.Entered = true
	if p.Window.Loading[list.ArriveReset] { // a filter has asked for it
		return p.Watch()
	}
	if p.Kind.Near != nil {
		p.Window.Fetch = p.fetcher()
		cmd := p.Window.Follow(&list.Trail[Row[T]]{Anew: true, Near: p.Kind.Near})
		p.Window.Trail.Line = p.Kind.Line
		return tea.Batch(cmd, p.Watch())
	}
	return tea.Batch(p.Window.Reset(p.fetcher()), p.Watch())
}

// Find puts the cursor on a row of the whole list.
func (p *List[T]) Find(want func(T) bool) tea.Cmd {
	var cmd tea.Cmd
	if p.Full {
		cmd = p.Back()
	}
	if at := slices.IndexFunc(p.Window.Rows, func(r Row[T]) bool { return want(r.Raw) }); at >= 0 && !p.Window.Loading[list.ArriveReset] {
		return tea.Batch(cmd, p.Move(at-p.Window.Sel))
	}
	p.Query, p.Unfiltered = "", nil
	p.Filter = text.Input{}
	p.Window.Fetch = p.fetcher()
	return tea.Batch(cmd, p.Marks.Filtered(""), p.Window.Follow(&list.Trail[Row[T]]{Anew: true, Word: p.D.Esc.Sprintf("the %s", p.Kind.Noun), Near: func(r Row[T]) (int, bool) { return 0, want(r.Raw) }}))
}

func (p *List[T]) Visible() bool { return p.D.Frame == nil || p.D.Frame.Shows(p.Kind.Pane) }

func (p *List[T]) fetcher() list.Fetcher[Row[T]] {
	filter, not := strings.CutPrefix(p.Query, "!")
	fetch := p.sortedFetch(p.Kind.Fetch)
	return func(ctx context.Context, at list.From, limit int) (Page[T], error) {
		return fetch(ctx, operator.PageQuery{Filter: strings.TrimSpace(filter), Not: not, Cursor: at.Cursor, Limit: limit})
	}
}

func (p *List[T]) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case list.Trailed[Row[T]]:
		return p.trailed(msg)
	case list.Fetched[Row[T]]:
		if p.D.AutoRefresh.Frozen && p.Window.Drop(msg) {
			p.pulse.Failed(p.D.Time.Clock.Now())
			return nil
		}
		if msg.Gen == p.Window.Gen {
			p.anew()
			p.notice = list.Said{}
			if len(msg.Pages) > 0 {
				p.notice = msg.Pages[0].Said
			}
		}
		was, _ := p.Window.Current()
		cmd := p.arrived(msg)
		if now, _ := p.Window.Current(); p.Full && now.Key != was.Key { // the page must not show another row
			p.D.Frame.News(paint.ToneWarn, p.D.Esc.Sprintf("the %s that filled the screen has left the list", safetext.Const(p.Kind.Noun)))
			cmd = tea.Batch(cmd, p.Back())
		}
		p.Kind.fitted(&p.fit, p.Window.Rows)
		if at := slices.IndexFunc(p.Window.Rows, func(r Row[T]) bool { return r.Key == p.Pick }); at >= 0 && p.Pick != "" {
			if p.Pick = ""; !p.Full { // a page keeps its row
				cmd = tea.Batch(cmd, p.Window.Move(at-p.Window.Sel))
			}
		}
		return tea.Batch(cmd, p.Layout(), p.follow())
	case detailed:
		if msg.nth != p.asks { // of the row as it was
			return nil
		}
		if r, _ := p.Window.Current(); msg.key == p.asked && r.Key != msg.key {
			p.asked = "" // the cursor has moved: its new row is fetched when it rests
			return nil
		}
		if msg.key == p.asked {
			again := p.again && p.shown == msg.key
			if p.shown, p.again = msg.key, false; again {
				return p.Detail.Update(msg.text)
			}
			return p.Detail.Show(msg.text, 0, text.SearchWords(p.Query))
		}
	case list.FilterDue:
		return p.Due(msg)
	case list.RestDue:
		if p.rest.Over(msg) {
			return p.Show()
		}
	case text.LaidOut:
		p.Detail.Arrive(msg)
	case liveTick:
		return p.ticked()
	case liveStamp:
		return p.grown(msg)
	case list.Walked[Row[T]]:
		return p.Marks.Walked(&p.D.Loop, msg)
	}
	return nil
}

// follow fetches the detail where the cursor rests; at once for the first one, and on the whole screen.
func (p *List[T]) follow() tea.Cmd {
	r, ok := p.Window.Current()
	switch {
	case !ok || p.shown == "" || p.Full:
		return p.Show()
	case r.Key == p.asked && r.Key == p.shown:
		return nil
	}
	return p.rest.Moved()
}

// Outdate has the detail read again when it is shown the next time.
func (p *List[T]) Outdate() { p.asked = "" }

func (p *List[T]) Show() tea.Cmd {
	r, ok := p.Window.Current()
	if !ok {
		p.asked, p.shown = "", ""
		p.Detail.Clear()
		return nil
	}
	if r.Key == p.asked {
		return nil
	}
	p.asked = r.Key
	if p.Kind.Lay != nil {
		p.Kind.Lay(p)
	}
	detail := p.Kind.Detail
	if p.facts {
		detail = p.Kind.Facts
	}
	p.asks++
	nth := p.asks
	return p.Window.Ask(func(ctx context.Context) any { return detailed{r.Key, detail(ctx, r.Raw), nth} })
}

func (p *List[T]) Resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	return p.Layout()
}

func (p *List[T]) Layout() tea.Cmd {
	if p.Kind.Lay != nil && p.Full != p.laidFull { // the detail may depend on the room
		p.laidFull, p.asked = p.Full, ""
	}
	if p.Full {
		cmd := p.Detail.Resize(p.width-2, p.height)
		return tea.Batch(p.Show(), cmd)
	}
	p.split()
	f := p.halves
	p.Window.Resize(f.ListHeight-1, f.Beside)
	cmd := p.Detail.Resize(f.DetailWidth, f.DetailHeight)
	if p.Kind.Lay != nil && p.laidLines != f.DetailHeight {
		p.laidLines, p.asked = f.DetailHeight, ""
	}
	if p.asked == "" && p.shown != "" {
		return tea.Batch(cmd, p.Show())
	}
	return cmd
}

func (p *List[T]) OnScreen() *text.Pager {
	if p.Full {
		return p.Detail
	}
	return nil
}

func (p *List[T]) Crumbs() []safetext.Text {
	var out []safetext.Text
	if !p.Kind.About.IsEmpty() {
		out = append(out, p.Kind.About)
	}
	if p.Query != "" {
		out = append(out, p.D.Esc.Sprintf("/%s", p.Query))
	}
	if r, ok := p.Window.Current(); ok && p.Full {
		name := r.Cells[0]
		if p.Kind.Crumb != nil {
			name = p.Kind.Crumb(r.Raw)
		}
		if store := p.StoreHere(); store != "" && store != name.String() {
			out = append(out, p.D.Esc.Line(store))
		}
		out = append(out, name)
	}
	return append(append(out, p.Marks.Crumb(p.D.Esc)...), p.Window.Looking(p.D.Esc)...)
}

func (p *List[T]) Position() (safetext.Text, bool) {
	if p.Full {
		row := p.Window.Position()
		if above, below := p.Detail.Beyond(); above || below {
			row = p.D.Esc.Sprintf("%s, %s", row, p.Detail.Position())
		}
		return row, p.Detail.Busy
	}
	at := p.Window.Position()
	if p.follows() && !at.IsEmpty() {
		at = p.D.Aged(at, p.pulse)
	}
	return at, p.Window.Busy()
}

func (p *List[T]) Typing() *text.Input {
	if p.Full {
		return nil
	}
	return p.Browser.Typing()
}

func (p *List[T]) Outermost() bool { return !p.Full && p.Query == "" }

// Back goes from the whole screen to the list, with its detail at the first line, or takes the filter off.
func (p *List[T]) Back() tea.Cmd {
	switch {
	case p.Full:
		p.Full = false
		return tea.Batch(p.Detail.EndSearch(), p.Layout(), p.Detail.Home())
	case p.Query != "":
		return p.Apply("")
	}
	return nil
}

func (p *List[T]) Refresh() tea.Cmd {
	p.asked, p.again = "", true
	if p.Window.Fetch == nil {
		return nil
	}
	cmd := p.Window.Refresh()
	if p.Marks.Uncounted() != "" {
		cmd = tea.Batch(cmd, p.Marks.Filtered(p.Query))
	}
	return cmd
}

// Refit takes the widths of the columns from the rows that arrive next, and from none before: what these had is not shown.
func (p *List[T]) Refit() { p.refit = true }

func (p *List[T]) anew() {
	if p.refit {
		p.fit, p.refit = nil, false
	}
}

func (p *List[T]) trailed(m list.Trailed[Row[T]]) tea.Cmd {
	if m.Trail == p.Window.Trail && m.Trail.Anew && m.Trail.Seen == 0 && m.Err == nil {
		p.anew()
		p.notice = m.Page.Said
	}
	cmd, _ := p.Trailed(m)
	p.Kind.fitted(&p.fit, p.Window.Rows)
	return tea.Batch(cmd, p.Layout(), p.follow())
}

// End goes to the last row read: a source is read from its start.
func (p *List[T]) End() tea.Cmd {
	cmd := p.Browser.End()
	if n := len(p.Window.Pages); n > 0 && p.Window.Pages[n-1].Next != "" {
		p.D.Tell("this is as far as the list was read; End again goes on")
	}
	return cmd
}

func (p *List[T]) Listed() (desk.Visible, bool) {
	if p.Full {
		return desk.Visible{}, false
	}
	return desk.WindowListed(p.Window, p.halves, 1+len(p.noticeLines()), cmp.Or(p.Kind.Aside, p.Kind.Noun), p.Move)
}
