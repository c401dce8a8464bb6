package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// noticed is a page with what its source says about the whole list.
type noticed[T any] struct {
	page   fetched[record[T]]
	trail  *trailed[record[T]] // instead of page
	notice said
}

// detailed is the detail of a record.
type detailed struct {
	key  string
	text *text.Page
}

// looked is which record the detail is of, and how it is shown.
type looked struct {
	shown string // key of the record in the detail
	asked string // key of the record that was last asked for
	again bool   // the detail is asked for anew, and keeps its place
	full  bool   // the detail fills the pane
	wide  bool   // it was laid out for the whole screen
	known bool   // it is all that is known of the row
}

// records is a pane over a source: a windowed list, a filter, a detail.
type records[T any] struct {
	d      *desk
	kind   recordKind[T]
	ask    func(func(context.Context) any) tea.Cmd
	list   *window[record[T]]
	whole  *held[record[T]] // the list as it was before it was filtered
	jump   jump
	detail *text.Pager
	looked
	filter  text.Input
	live    livefilter
	query   string
	notice  said
	pick    string // key of the record that the cursor goes to when it is there
	open    bool
	marks   *marks[record[T], record[T]]
	rest    rest
	sorted  sorting
	stamp   string // of the source, when it grows by itself
	pulse   pulse
	waiting model.Count // rows of the whole list, when it was last seen
	read    []record[T] // of the page that was read out last
	width   int
	height  int
}

func newRecords[T any](d *desk, kind recordKind[T]) *records[T] {
	p := &records[T]{d: d, kind: kind, ask: d.asker(kind.pane)}
	p.list = newWindow(p.ask, func(r record[T]) string { return r.key })
	p.list.forward = true
	p.detail, p.rest = text.New(d.st, p.ask), newRest(&d.loop, kind.pane)
	p.marks = newMarks(func() *window[record[T]] { return p.list }, func(r record[T]) record[T] { return record[T]{key: r.key, raw: r.raw} })
	return p
}

// openSide shows a list of its own in place of the pane; esc goes back there.
func openSide[T any](d *desk, title string, kind recordKind[T]) tea.Cmd {
	return d.frame.beside(title, false, listOf(d, kind))
}

// listOf makes a list. Each has an address of its own, so that an answer for one that was
// closed reaches no other.
func listOf[T any](d *desk, kind recordKind[T]) func(address int) listing {
	return func(address int) listing {
		kind.pane = address
		return newRecords(d, kind)
	}
}

// storeHere is the store of the row at the cursor.
func (p *records[T]) storeHere() string {
	r, ok := p.list.current()
	if !ok || p.kind.store == nil {
		return ""
	}
	return p.kind.store(r.raw)
}

func (p *records[T]) trouble() safetext.Text { return p.list.trouble(p.d.esc) }

func (p *records[T]) unavailable() string { return p.kind.missing }

func (p *records[T]) enter() tea.Cmd {
	if p.open && p.d.glances.frozen && p.follows() {
		return p.watch()
	}
	if p.open {
		return tea.Batch(p.list.refresh(), p.watch())
	}
	p.open = true
	if p.kind.near != nil {
		p.list.fetch = p.fetcher()
		cmd := p.list.follow(&trail[record[T]]{anew: true, kin: p.kind.near})
		p.list.trail.line = p.kind.line
		return tea.Batch(cmd, p.watch())
	}
	return tea.Batch(p.restart(nil, false), p.watch())
}

func (p *records[T]) visible() bool { return p.d.frame == nil || p.d.frame.shows(p.kind.pane) }

// restart asks for the list anew; the cursor goes to the row that is the nearest kin.
func (p *records[T]) restart(kin map[string]int, once bool) tea.Cmd {
	return p.list.resetNear(p.fetcher(), kin, once)
}

// fetcher reads pages of the list as it is filtered now, and what its source says.
func (p *records[T]) fetcher() fetcher[record[T]] {
	filter, not := strings.CutPrefix(p.query, "!")
	fetch := p.sortedFetch(p.kind.fetch)
	notices := make(chan said, 1)
	p.list.ask = func(f func(context.Context) any) tea.Cmd {
		return p.ask(func(ctx context.Context) any {
			answer := f(ctx)
			var out noticed[T]
			switch answer := answer.(type) {
			case fetched[record[T]]:
				out.page = answer
			case trailed[record[T]]:
				out.trail = &answer
			default:
				return answer // of a walk that marks
			}
			select {
			case out.notice = <-notices:
			default:
			}
			return out
		})
	}
	return func(ctx context.Context, at from, limit int) (span[record[T]], error) {
		s, notice, err := fetch(ctx, PageQuery{Filter: strings.TrimSpace(filter), Not: not, Cursor: at.cursor, Limit: limit})
		select {
		case notices <- notice:
		default:
		}
		return s, err
	}
}

func (p *records[T]) update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case noticed[T]:
		if msg.trail != nil {
			return p.trailed(*msg.trail, msg.notice)
		}
		if msg.page.gen == p.list.gen {
			p.notice = msg.notice
		}
		cmd := p.arrived(msg.page)
		if at := slices.IndexFunc(p.list.rows, func(r record[T]) bool { return r.key == p.pick }); at >= 0 && p.pick != "" {
			p.pick = ""
			cmd = tea.Batch(cmd, p.list.Move(at-p.list.sel))
		}
		return tea.Batch(cmd, p.layout(), p.follow())
	case detailed:
		if r, _ := p.list.current(); msg.key == p.asked && r.key != msg.key {
			p.asked = "" // the cursor has gone on: what is there is asked for when it rests
			return nil
		}
		if msg.key == p.asked {
			if again := p.again && p.shown == msg.key; again {
				p.again = false
				return p.detail.Update(msg.text, true)
			}
			p.shown, p.again = msg.key, false
			return p.detail.Show(msg.text, 0, text.SearchWords(p.query))
		}
	case filterDue:
		query, now := p.live.due(msg, &p.filter, p.query)
		if now && p.list.loading[arriveReset] { // one question at a time: a source may keep one walk only
			return p.live.typed(p.d.later(p.kind.pane))
		}
		if now && (p.kind.check == nil || p.kind.check(query) == nil) {
			return p.narrow(query)
		}
	case restDue:
		if p.rest.over(msg) {
			return p.show()
		}
	case text.LaidOut:
		p.detail.Arrive(msg)
	case liveTick:
		return p.ticked()
	case liveStamp:
		return p.grown(msg)
	case peeked[record[T]]:
		return p.marks.peeked(msg)
	case walked[record[T]]:
		return p.marks.walked(&p.d.loop, msg)
	}
	return nil
}

// follow asks for the detail of the record at the cursor once the cursor rests; for
// the first one, and on the whole screen, at once.
func (p *records[T]) follow() tea.Cmd {
	r, ok := p.list.current()
	switch {
	case !ok || p.shown == "" || p.full:
		return p.show()
	case r.key == p.asked && r.key == p.shown:
		return nil
	}
	return p.rest.moved()
}

// show asks for the detail of the record at the cursor.
func (p *records[T]) show() tea.Cmd {
	r, ok := p.list.current()
	if !ok {
		p.asked, p.shown = "", ""
		p.detail.Clear()
		return nil
	}
	if r.key == p.asked {
		return nil
	}
	p.asked = r.key
	if p.kind.lay != nil {
		p.kind.lay(p)
	}
	detail := p.kind.detail
	if p.known {
		detail = p.kind.facts
	}
	return p.ask(func(ctx context.Context) any { return detailed{r.key, detail(ctx, r.raw)} })
}

func (p *records[T]) resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	return p.layout()
}

func (p *records[T]) layout() tea.Cmd {
	if p.kind.lay != nil && p.full != p.wide { // what is shown may depend on the room
		p.wide, p.asked = p.full, ""
	}
	if p.full {
		cmd := p.detail.Resize(p.width-2, p.height)
		return tea.Batch(p.show(), cmd)
	}
	f := p.d.split(p.width, p.height-len(p.noticeLines()))
	p.list.resize(f.listHeight-1, f.beside)
	cmd := p.detail.Resize(f.detailWidth, f.detailHeight)
	if p.asked == "" && p.shown != "" {
		return tea.Batch(cmd, p.show())
	}
	return cmd
}

func (p *records[T]) onScreen() *text.Pager {
	if p.full {
		return p.detail
	}
	return nil
}

func (p *records[T]) crumbs() []safetext.Text {
	var out []safetext.Text
	if !p.kind.about.IsEmpty() {
		out = append(out, p.kind.about)
	}
	if p.query != "" {
		out = append(out, p.d.st.Esc.Sprintf("/%s", p.query))
	}
	switch r, ok := p.list.current(); {
	case !ok || !p.full:
	case p.kind.crumb != nil:
		out = append(out, p.kind.crumb(r.raw))
	default:
		out = append(out, r.cells[0])
	}
	return append(append(out, p.marks.crumb(p.d.esc)...), p.list.looking(p.d.esc)...)
}

func (p *records[T]) position() (safetext.Text, bool) {
	if p.full {
		return p.detail.Position(), p.detail.Busy
	}
	at := p.list.position()
	if p.follows() && !at.IsEmpty() {
		at = p.d.aged(at, p.pulse)
	}
	return at, p.list.busy()
}

func (p *records[T]) typing() *text.Input {
	switch {
	case p.full:
	case p.jump.in.Focus:
		return &p.jump.in
	case p.filter.Focus:
		return &p.filter
	}
	return nil
}

// typed: filter and jump follow the letters.
func (p *records[T]) typed() tea.Cmd {
	if p.jump.in.Focus {
		return p.jumped()
	}
	return p.live.typed(p.d.later(p.kind.pane))
}

func (p *records[T]) outermost() bool { return !p.full && p.query == "" }

func (p *records[T]) back() tea.Cmd {
	switch {
	case p.full:
		p.full = false
		return tea.Batch(p.detail.EndSearch(), p.layout())
	case p.query != "":
		return p.apply("")
	}
	return nil
}

func (p *records[T]) refresh() tea.Cmd {
	p.asked, p.again = "", true
	if p.list.fetch == nil {
		return nil
	}
	return p.list.refresh()
}

func (p *records[T]) apply(query string) tea.Cmd {
	if p.kind.check != nil {
		if err := p.kind.check(query); err != nil {
			p.d.say(paint.ToneWarn, prose.Reason(p.d.esc, err))
			return nil // the operator goes on typing
		}
	}
	p.filter.Focus = false
	p.filter.Set(query)
	return p.narrow(query)
}

// narrow puts a filter in force and leaves the input as it is.
func (p *records[T]) narrow(query string) tea.Cmd {
	was := p.query
	p.query = query
	p.marks.stop()
	kin := p.list.kin()
	p.list.fetch = p.fetcher()
	count := p.marks.filtered(query)
	return tea.Batch(p.refilter(was, query, kin), count)
}

// refilter shows the list under another filter.
func (p *records[T]) refilter(was, query string, kin map[string]int) tea.Cmd {
	switch whole := p.whole; {
	case query != "":
		if was == "" {
			p.whole = p.list.hold()
		}
		return p.restart(kin, true)
	case whole != nil:
		p.whole = nil
		row, ok := p.list.current()
		if _, there := whole.rows(p.list.id)[row.key]; there || !ok {
			return tea.Batch(p.list.take(p.fetcher(), whole, row.key), p.follow())
		}
	}
	return p.restart(kin, false)
}

// trailed takes a page of what is being looked for.
func (p *records[T]) trailed(m trailed[record[T]], notice said) tea.Cmd {
	if m.trail == p.list.trail && m.trail.anew && m.trail.seen == 0 && m.err == nil {
		p.notice = notice
	}
	cmd, over, found := p.list.trailed(m)
	if over {
		trailOver(&p.d.loop, m, found)
	}
	return tea.Batch(cmd, p.layout(), p.follow())
}

func (p *records[T]) Move(by int) tea.Cmd     { return tea.Batch(p.list.Move(by), p.follow()) }
func (p *records[T]) Page(by float64) tea.Cmd { return tea.Batch(p.list.Page(by), p.follow()) }
func (p *records[T]) Home() tea.Cmd           { return tea.Batch(p.list.Home(), p.follow()) }

// End goes as far as has been read: a source is read from its start.
func (p *records[T]) End() tea.Cmd {
	cmd := tea.Batch(p.list.End(), p.follow())
	if n := len(p.list.pages); n > 0 && p.list.pages[n-1].next != "" {
		p.d.say(paint.ToneInfo, p.d.st.Esc.Const("this is as far as the list was read; End again goes on"))
	}
	return cmd
}

func (p *records[T]) listed() (visible, bool) {
	if p.full {
		return visible{}, false
	}
	return windowListed(p.list, p.d, p.width, p.height, 1+len(p.noticeLines()), p.kind.noun, p.Move)
}
