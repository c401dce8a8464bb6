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

// looked says how the detail of the row is shown.
type looked struct {
	Full      bool // the detail fills the pane
	laidFull  bool // the detail is laid out for the whole screen
	laidLines int  // it is laid out for so many lines
	facts     bool // it shows all fields of the row
}

// onPage is the row that fills the pane, or that at the cursor.
func (p *List[T]) onPage() (Row[T], bool) {
	if p.Full && p.Kind.Stays {
		return p.page, true
	}
	return p.Window.Current()
}

// OpenPage shows a row on the whole screen; that of a list whose pages stay may have no row in it yet.
func (p *List[T]) OpenPage(r Row[T]) tea.Cmd {
	p.Full, p.page = true, r
	cmd := p.Layout()
	if p.Kind.Brief > 0 {
		cmd = tea.Batch(cmd, p.Detail.Home())
	}
	return cmd
}

// fitting is the room that the rows ask for their columns.
type fitting struct {
	fit   list.Fit
	refit bool // see Refit
}

// Refit takes the widths of the columns from the rows that arrive next, and from none before: what these had is not shown.
func (w *fitting) Refit() { w.refit = true }

func (w *fitting) anew() {
	if w.refit {
		*w = fitting{}
	}
}

// List is a pane over a source: a windowed list, a filter, a detail.
type List[T any] struct {
	*list.Browser[Row[T]]
	D      *desk.Desk
	Kind   Kind[T]
	Detail *text.Reader
	looked
	page    Row[T] // that fills the pane, where pages stay
	notice  list.Said
	Pick    string // key of the record for the cursor, once it is there
	Entered bool
	sorted  sorting
	Pulse   desk.Pulse
	size    model.Count // of the list without a filter, when last seen
	fitting
	halves desk.Halves
	found  func(string) []safetext.Span // matches of the filter in a cell
	width  int
	height int
}

func New[T any](d *desk.Desk, kind Kind[T]) *List[T] {
	p := &List[T]{D: d, Kind: kind}
	p.Browser = list.NewBrowser(&d.Loop, kind.Pane, func(r Row[T]) string { return r.Key }, func(r Row[T]) Row[T] { return Row[T]{Key: r.Key, Raw: r.Raw} })
	p.Hint = kind.Hint
	p.Fetcher = p.fetcher
	p.Moved = func() tea.Cmd {
		p.page, _ = p.Window.Current()
		return p.follow()
	}
	if kind.Check != nil {
		p.Check = kind.Check
	}
	p.Window.Forward = true
	p.Detail = text.NewReader(text.New(d.St, p.Window.Ask), d.Later(kind.Pane))
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

// Here is the row on the page, or at the cursor; the zero value where there is none.
func (p *List[T]) Here() T {
	r, _ := p.onPage()
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
		p.Window.Fetch = p.Fetcher()
		cmd := p.Window.Follow(&list.Trail[Row[T]]{Anew: true, Near: p.Kind.Near})
		p.Window.Trail.Line = p.Kind.Line
		return tea.Batch(cmd, p.Watch())
	}
	return tea.Batch(p.Window.Reset(p.Fetcher()), p.Watch())
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
	p.Window.Fetch = p.Fetcher()
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
			p.Pulse.Failed(p.D.Time.Clock.Now())
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
		if now, _ := p.Window.Current(); p.Full && now.Key != was.Key && !p.Kind.Stays { // the page must not show another row
			p.D.Frame.News(paint.ToneWarn, p.D.Esc.Sprintf("the %s that filled the screen has left the list", safetext.Const(p.Kind.Noun)))
			cmd = tea.Batch(cmd, p.Back())
		}
		p.Fitted()
		if at := slices.IndexFunc(p.Window.Rows, func(r Row[T]) bool { return r.Key == p.Pick }); at >= 0 && p.Pick != "" {
			if p.Pick = ""; !p.Full { // a page keeps its row
				cmd = tea.Batch(cmd, p.Window.Move(at-p.Window.Sel))
			}
		}
		return tea.Batch(cmd, p.Layout(), p.follow())
	case list.FilterDue:
		return p.Due(msg)
	case liveTick:
		return p.ticked()
	case liveStamp:
		return p.grown(msg)
	case list.Walked[Row[T]]:
		return p.Marks.Walked(&p.D.Loop, msg)
	}
	return p.Detail.Update(msg)
}

// follow fetches the detail where the cursor rests; at once on the whole screen.
func (p *List[T]) follow() tea.Cmd {
	if r, ok := p.onPage(); ok && !p.Full {
		return p.Detail.Rest(p.wanted(r))
	}
	return p.Show()
}

// Outdate has the detail read again when it is shown the next time.
func (p *List[T]) Outdate() { p.Detail.Outdate(false) }

func (p *List[T]) Show() tea.Cmd {
	r, ok := p.onPage()
	if !ok {
		p.Detail.Clear()
		return nil
	}
	return p.Detail.Open(p.wanted(r))
}

// words are those of a filter that rows and details mark.
func (k *Kind[T]) words(filter string) string {
	if k.Words != nil {
		return k.Words(filter)
	}
	return filter
}

// wanted is the detail of a row.
func (p *List[T]) wanted(r Row[T]) text.Wanted {
	if p.Kind.Page != nil {
		return p.Kind.Page(r)
	}
	w := text.Wanted{Key: r.Key, Source: r.Key, Terms: text.SearchWords(p.Kind.words(p.Query))}
	if p.Kind.Store != nil {
		w.Source = p.Kind.Store(r.Raw)
	}
	if p.Kind.Lay != nil && !p.D.Spoken { // a text that is read out has no room
		p.Kind.Lay(p)
	}
	detail := p.Kind.Detail
	if p.facts {
		detail = p.Kind.Facts
	}
	w.Read = func(ctx context.Context) *text.Page { return detail(ctx, r.Raw) }
	return w
}

func (p *List[T]) Resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	return p.Layout()
}

func (p *List[T]) Layout() tea.Cmd {
	if (p.Kind.Lay != nil || p.Kind.Page != nil) && p.Full != p.laidFull { // another text, or the same in another room
		p.laidFull = p.Full
		p.Outdate()
	}
	p.Detail.Brief = false
	if p.Full {
		cmd := p.Detail.Resize(p.width-2, p.height)
		return tea.Batch(p.Show(), cmd)
	}
	p.split()
	f := p.halves
	p.Window.Resize(f.ListHeight-1, f.Beside)
	p.Detail.Brief = f.DetailHeight < p.Kind.Brief
	cmd := p.Detail.Resize(f.DetailWidth, f.DetailHeight)
	if p.Kind.Lay != nil && p.laidLines != f.DetailHeight {
		p.laidLines = f.DetailHeight
		p.Outdate()
	}
	if p.Detail.Stale() {
		return tea.Batch(cmd, p.Show())
	}
	return cmd
}

func (p *List[T]) OnScreen() *text.Pager {
	if p.Full {
		return p.Detail.Pager
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
		at = p.D.Aged(at, p.Pulse)
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
	p.Detail.Outdate(true)
	if p.Window.Fetch == nil {
		return nil
	}
	cmd := p.Window.Refresh()
	if p.Marks.Uncounted() != "" {
		cmd = tea.Batch(cmd, p.Marks.Filtered(p.Query))
	}
	return cmd
}

// Anew begins with another list in place of this one.
func (p *List[T]) Anew() {
	p.Browser.Anew()
	p.Pulse, p.fitting, p.halves = desk.Pulse{}, fitting{}, desk.Halves{}
}

func (p *List[T]) trailed(m list.Trailed[Row[T]]) tea.Cmd {
	if m.Trail == p.Window.Trail && m.Trail.Anew && m.Trail.Seen == 0 && m.Err == nil {
		p.anew()
		p.notice = m.Page.Said
	}
	cmd, _ := p.Trailed(m)
	p.Fitted()
	return tea.Batch(cmd, p.Layout(), p.follow())
}

// End goes to the last row read: a source is read from its start.
func (p *List[T]) End() tea.Cmd {
	cmd := p.Browser.End()
	if n := len(p.Window.Pages); n > 0 && p.Window.Forward && p.Window.Pages[n-1].Next != "" {
		p.D.Tell("this is as far as the list was read; End again goes on")
	}
	return cmd
}

func (p *List[T]) Listed() (desk.Visible, bool) {
	if p.Full {
		return desk.Visible{}, false
	}
	return desk.WindowListed(p.Window, p.halves, 1+len(p.head()), cmp.Or(p.Kind.Aside, p.Kind.Noun), p.Move)
}
