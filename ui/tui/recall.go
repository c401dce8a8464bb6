package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/recalled"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// recallAfter is the pause after the last keystroke before stores are asked.
const recallAfter = 150 * time.Millisecond

// recallDue says that the operator has stopped typing.
type recallDue struct{ gen int }

// recallOver says that every store has answered, or that the question was
// withdrawn.
type recallOver struct{ gen int }

// recall is the pane that tries a recall the way an agent would.
type recall struct {
	d       *bench
	ask     func(func(context.Context) any) tea.Cmd
	later   func(time.Duration, any) tea.Cmd
	input   text.Input
	query   string // that the answers belong to
	gen     int
	cancel  context.CancelFunc // of the question under way
	waiting []string           // stores that have not answered yet
	running bool
	answers []answered
	rows    []hitRow
	table   table
	moved   bool // the operator has chosen a row; else the first one is selected
	detail  *text.Pager
	shown   string
	rest    rest
	who     *writers
	reader  *reader
	reading bool // one item fills the pane
	width   int
	height  int
}

func newRecall(d *bench, at int) *recall {
	p := &recall{d: d, ask: d.asker(at), later: d.later(at), who: newWriters(d.desk, at), reader: newReader(d.desk, at)}
	p.detail, p.rest = text.New(d.st, p.ask), newRest(&d.loop, at)
	p.table.skip = func(i int) bool { return p.rows[i].heading }
	p.table.moved = func() tea.Cmd {
		p.moved = true
		return p.rest.moved()
	}
	return p
}

func (p *recall) enter() tea.Cmd { return nil }

// typed waits for the operator to pause; what is under way becomes stale.
func (p *recall) typed() tea.Cmd {
	p.gen++
	return p.later(recallAfter, recallDue{p.gen})
}

// start asks every store. Answers to an earlier question are dropped by their
// generation, and its work is cancelled.
func (p *recall) start() tea.Cmd {
	p.gen++
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
	p.query = strings.TrimSpace(p.input.Value())
	p.moved = false
	p.who.anew()
	if p.query == "" {
		p.answers, p.rows, p.waiting, p.running = nil, nil, nil, false
		p.table.set(0)
		return p.show()
	}
	ctx, cancel := context.WithCancel(p.d.ctx)
	p.cancel, p.running = cancel, true
	p.waiting = nil
	for _, m := range p.d.fleet.Members() {
		p.waiting = append(p.waiting, m.Name)
	}
	p.answers = nil // the rows stay until the first answer comes
	gen, words, esc, fleet := p.gen, text.SearchWords(p.query), p.d.st.Esc, p.d.fleet
	req := model.RecallRequest{Query: p.query, Limit: model.RecallLimit}
	return p.ask(func(context.Context) any {
		answers := fleet.Recall(ctx, req)
		var next func() any
		next = func() any {
			select {
			case a, ok := <-answers:
				if !ok {
					return recallOver{gen}
				}
				out := newAnswered(esc, gen, a, words)
				out.more = next
				return out
			case <-ctx.Done():
				return recallOver{gen}
			}
		}
		return next()
	})
}

func (p *recall) update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case recallDue:
		if msg.gen == p.gen {
			return p.start()
		}
	case answered:
		if msg.gen == p.gen {
			return tea.Batch(p.take(msg), p.ask(func(context.Context) any { return msg.more() }))
		}
	case recallOver:
		if msg.gen == p.gen {
			p.running = false
			p.cancel()
			return p.rebuild()
		}
	case writersCame:
		p.who.take(msg)
		return p.named()
	case readDue:
		return p.reader.due(msg)
	case restDue:
		if p.rest.over(msg) {
			return p.show()
		}
	case readDone:
		return p.reader.done(msg)
	case text.LaidOut:
		if msg.Text == p.reader.pager.Text {
			p.reader.pager.Arrive(msg)
		}
		if msg.Text == p.detail.Text {
			p.detail.Arrive(msg)
		}
	}
	return nil
}

func (p *recall) take(a answered) tea.Cmd {
	p.answers = append(p.answers, a)
	members := p.d.fleet.Members() // in their order, so that lines stay where they are looked for
	place := func(a answered) int {
		return slices.IndexFunc(members, func(m backends.Member) bool { return m.Name == a.answer.Store })
	}
	slices.SortStableFunc(p.answers, func(a, b answered) int { return place(a) - place(b) })
	p.waiting = slices.DeleteFunc(p.waiting, func(s string) bool { return s == a.answer.Store })
	return p.rebuild()
}

// rebuild fuses what has come and keeps the row that the operator has chosen.
func (p *recall) rebuild() tea.Cmd {
	at, line := "", p.table.sel-p.table.top
	if p.moved && p.table.sel < len(p.rows) {
		at = p.rows[p.table.sel].key()
	}
	p.rows = arrange(p.d.st.Esc, p.answers)
	p.table.sel, p.table.top = 0, 0
	if i := slices.IndexFunc(p.rows, func(h hitRow) bool { return at != "" && h.key() == at }); i >= 0 {
		p.table.sel, p.table.top = i, max(i-line, 0)
	}
	p.table.set(len(p.rows)) // before the layout, which draws the row at the cursor
	laid := p.layout()
	p.table.set(len(p.rows))
	return tea.Batch(laid, p.show(), p.named())
}

// named asks who wrote what was hit.
func (p *recall) named() tea.Cmd {
	return p.who.want(func(i int) string { return p.rows[i].store }, len(p.rows), func(i int) model.Header { return model.Header{ID: p.rows[i].hit.ID} })
}

func (p *recall) current() (hitRow, bool) {
	if p.table.sel < len(p.rows) && !p.rows[p.table.sel].heading {
		return p.rows[p.table.sel], true
	}
	return hitRow{}, false
}

// show lays out the hit at the cursor.
func (p *recall) show() tea.Cmd {
	h, ok := p.current()
	if !ok {
		p.shown = ""
		p.detail.Clear()
		return nil
	}
	key := p.query + "\x00" + h.key() + h.where.String()
	if key == p.shown {
		return nil
	}
	p.shown = key
	return p.detail.Show(text.NewPage(p.describe(h), h.hit.Snippet), 0, text.SearchWords(p.query))
}

func (p *recall) describe(h hitRow) []text.Line {
	esc := p.d.st.Esc
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	if h.withheld {
		return []text.Line{
			{Value: h.where, Kind: text.Title}, field("store", h.name),
			{Value: esc.Const("Quarantined: the scanner rejects it, so a recall names it to operators only and gives agents nothing of it. 4 Quarantine shows what matched."), Kind: text.Warn},
		}
	}
	return []text.Line{
		{Value: h.where, Kind: text.Title},
		{Value: esc.Sprintf("rank %d in %s, score %s (comparable inside this store only)", h.rank, h.name, h.score), Kind: text.Note},
		{Kind: text.Blank},
	}
}

func (p *recall) resize(width, height int) tea.Cmd {
	p.width, p.height = width, height
	return p.layout()
}

// statusLines is the room for what stores answered.
func (p *recall) statusLines() int {
	n := len(p.answers) + len(p.waiting)
	return min(n, max(p.height/6, 2))
}

func (p *recall) layout() tea.Cmd {
	if p.height == 0 {
		return nil
	}
	f := p.d.split(p.width, p.height-1-p.statusLines())
	p.table.resize(f.listHeight-1, f.beside)
	cmd := p.detail.Resize(f.detailWidth, f.detailHeight)
	return tea.Batch(cmd, p.reader.pager.Resize(p.width-2, p.height))
}

func (p *recall) render(width, height int) ([]string, *tea.Position) {
	st := p.d.st
	if p.reading {
		return p.reader.pager.Framed(st, width, height), nil
	}
	r := st.Row(width).Blank(1)
	col := p.input.Render(r, st.Esc.Const("/ "), st.Esc.Const("press / and type what an agent would ask its memory"))
	out := []string{r.End()}
	status := p.renderStatus(width)
	out = append(out, status...)
	f := p.d.split(width, height-len(out))
	out = append(out, p.d.join(f, p.renderList(f.listWidth), p.detail, safetext.Const(hitAside))...)
	if p.input.Focus {
		return out, &tea.Position{X: col + 1}
	}
	return out, nil
}

func (p *recall) crumbs() []safetext.Text {
	var out []safetext.Text
	if p.query != "" {
		out = append(out, p.d.st.Esc.Line(p.query))
	}
	if p.reading {
		out = append(out, p.d.st.Esc.Line(p.reader.want.ref.String()))
	}
	return out
}

func (p *recall) position() (safetext.Text, bool) {
	if p.reading {
		return p.reader.pager.Position(), p.reader.loading()
	}
	hits := 0
	for _, a := range p.answers {
		hits += len(a.hits)
	}
	switch {
	case p.query == "":
		return safetext.Text{}, false
	case p.table.sel < hits:
		return safetext.Sprintf("%d of %s", p.table.sel+1, prose.Plural(int64(hits), "hit")), p.running
	}
	return safetext.Const(prose.Plural(int64(hits), "hit")), p.running
}

func (p *recall) typing() *text.Input {
	if p.input.Focus && !p.reading {
		return &p.input
	}
	return nil
}

func (p *recall) outermost() bool { return !p.reading }

func (p *recall) back() tea.Cmd {
	p.reading = false
	return tea.Batch(p.reader.pager.EndSearch(), p.layout())
}

func (p *recall) onScreen() *text.Pager {
	if p.reading {
		return p.reader.pager
	}
	return nil
}

func (p *recall) refresh() tea.Cmd {
	if p.reading {
		return p.reader.open(p.reader.want, true)
	}
	return p.start()
}

func (p *recall) trouble() safetext.Text { return safetext.Text{} }
func (p *recall) unavailable() string    { return "" }

func (p *recall) bindings() []act.Act {
	switch {
	case p.reading:
		return p.page().bindings()
	case p.typing() != nil:
		leave := func() tea.Cmd {
			p.input.Focus = false
			if strings.TrimSpace(p.input.Value()) != p.query {
				return p.start()
			}
			return nil
		}
		return []act.Act{
			{Keys: []string{"enter"}, Name: "to the hits", Doc: "leave the input and go to the hits", Do: leave},
			{Keys: []string{"esc"}, Name: "back", Doc: "leave the input", Do: leave},
			{Keys: []string{"down"}, Show: "Down Up", Name: "choose", Doc: "the next hit", Do: func() tea.Cmd { return p.table.Move(1) }},
			{Keys: []string{"up"}, Show: "Up", Doc: "the hit before", Do: func() tea.Cmd { return p.table.Move(-1) }},
		}
	}
	return append(append([]act.Act{
		{Keys: []string{"/"}, Name: "query", Doc: "type a query; stores are asked as you type", Do: func() tea.Cmd {
			p.input.Focus = true
			return nil
		}},
		{Keys: []string{"enter", "right", "l"}, Show: "enter", Name: "read", Doc: "read the item of this hit, at its line", Why: p.noHit, Do: p.readHere},
		{Keys: []string{"y"}, Name: "copy ref", Doc: "copy the hit's reference to the clipboard of the terminal", Why: p.noHit, Do: p.copyRef},
		{Keys: []string{"Y"}, Doc: "copy the hit as one line of JSON", Why: p.noHit, Do: p.copyRow},
		act.Edit.Called("edit the item of this hit in $EDITOR; nothing is written before you have seen the difference").With(p.noEdit, p.editHere),
		p.d.takebacks.key(p.noHit, p.writerHere),
		act.Export.Called("export all hits to a file, CSV or JSON lines").With(act.Unless(p.noHit, p.d.noExport), p.exportHits),
	}, act.Aside(p.detail, "hit")...), act.Movement(&p.table, "hit")...)
}

// writerHere finds who wrote the item of the hit at the cursor.
func (p *recall) writerHere() func(context.Context) (writing, bool) {
	h, _ := p.current()
	return func(ctx context.Context) (writing, bool) {
		s, err := p.d.fleet.Store(h.store)
		if err != nil {
			return writing{}, false
		}
		r, _, ok := p.d.Origins.WriterOf(ctx, s, model.Header{ID: h.hit.ID})
		return writingOf(r), ok
	}
}

// page is the item of a hit on the whole screen.
func (p *recall) page() itemPage {
	return itemPage{d: p.d, reader: p.reader, of: "hit", place: "hits", step: p.neighbour, back: p.back, row: func() (datum, string) {
		h, ok := p.current()
		if !ok || p.refOf(h) != p.reader.want.ref {
			return datum{}, "this item is among the hits no more"
		}
		return hitDatum(h), ""
	}}
}

func (p *recall) refOf(h hitRow) model.Ref { return model.Ref{Store: h.store, ID: h.hit.ID} }

func (p *recall) noHit() string {
	h, ok := p.current()
	if !ok {
		return "there is no hit here: / asks"
	}
	return p.unreadable(h)
}

// unreadable says why the item of a hit cannot be shown.
func (p *recall) unreadable(h hitRow) string {
	if h.withheld {
		return "the source is quarantined: 4 Quarantine shows what matched"
	}
	s, err := p.d.fleet.Store(h.store)
	if err != nil || s.Browser == nil && !recalled.Only(s) {
		return "this store cannot show single items; the snippet is all there is"
	}
	return ""
}

func (p *recall) readHere() tea.Cmd {
	p.reading = true
	return tea.Batch(p.layout(), p.open())
}

// open shows the item of the hit at the cursor, at its line.
func (p *recall) open() tea.Cmd {
	h, _ := p.current()
	return p.reader.open(reading{ref: p.refOf(h), line: h.hit.Line, terms: text.SearchWords(p.query)}, true)
}

// neighbour goes to the next hit that can be read.
func (p *recall) neighbour(by int) tea.Cmd {
	for i := p.table.sel + by; i >= 0 && i < len(p.rows); i += by {
		if h := p.rows[i]; !h.heading && p.unreadable(h) == "" {
			return tea.Batch(p.table.Move(i-p.table.sel), p.open())
		}
	}
	word := "this is the last hit that can be read"
	if by < 0 {
		word = "this is the first hit"
	}
	p.d.say(paint.ToneInfo, p.d.esc.Const(word))
	return nil
}

func (p *recall) copyRef() tea.Cmd {
	h, _ := p.current()
	return p.d.copy(model.Ref{Store: h.store, ID: h.hit.ID})
}

func (p *recall) noEdit() string {
	h, ok := p.current()
	switch {
	case !ok:
		return p.noHit()
	case h.hit.ID == "":
		return "this hit names no item: agents do not get it"
	}
	return p.d.noEdit(h.store)
}

func (p *recall) editHere() tea.Cmd {
	h, _ := p.current()
	return p.d.edits.editItem(model.Ref{Store: h.store, ID: h.hit.ID})
}

func (p *recall) copyRow() tea.Cmd {
	h, _ := p.current()
	return p.d.copyRow(hitDatum(h).object())
}

func hitDatum(h hitRow) datum {
	var r datum
	r.add("store", h.store)
	r.add("id", model.EncodeID(h.hit.ID))
	r.add("source", h.hit.Source)
	r.add("line", h.hit.Line)
	r.add("score", h.hit.Score)
	r.add("snippet", h.hit.Snippet)
	r.add("quarantined", h.withheld)
	return r
}

// exportHits writes the hits that are on the screen: recall has no further pages.
func (p *recall) exportHits() tea.Cmd {
	rows := slices.Clone(p.rows)
	return p.d.exports.exportTable("recall", func(_ context.Context, write func(datum) error) error {
		for _, h := range rows {
			if h.heading {
				continue
			}
			if err := write(hitDatum(h)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *recall) listed() (visible, bool) {
	if p.reading {
		return visible{}, false
	}
	w, h := p.d.frame.room()
	return p.table.listed(p.d.desk, w, h, 2+len(p.renderStatus(w)), hitAside)
}
