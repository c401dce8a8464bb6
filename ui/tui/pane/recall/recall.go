package recall

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/recalled"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/change"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// recallAfter is the pause after the last keystroke before stores are asked.
const recallAfter = 150 * time.Millisecond

// recallDue says that the operator has stopped typing.
type recallDue struct{ gen int }

// recallOver says that every store has answered, or that the question was cancelled.
type recallOver struct{ gen int }

// question is what was asked.
type question struct {
	query string
	words string // of the query, without its terms
	wrong error  // why it could not be asked
}

// Pane is the pane that tries a recall as an agent would make it.
type Pane struct {
	*record.List[hit]
	d     *pane.Bench
	looks int      // how many questions an operator has asked: an act asks the last one again
	past  []string // the queries of this session, the newest last, in memory only: one may name a person
	question
	asking
	answers  []answered
	fit      list.Fit
	numbers  int  // the room of rank and score
	moved    bool // the operator has chosen a row; else the first is selected
	who      *pane.Writers
	ItemPage *pane.ItemPage // of a hit, over the hits
}

// asking is the question that the stores are being asked, or were asked last.
type asking struct {
	gen     int // its number: answers to another are dropped
	cancel  context.CancelFunc
	waiting []string // stores that have not answered yet
}

func New(d *pane.Bench, at int) *Pane {
	p := &Pane{d: d, who: pane.NewWriters(d.Desk, at)}
	p.List = record.New(d.Desk, record.Kind[hit]{
		Pane: at, Noun: "hit", Columns: hitColumns, Tell: tell,
		Traits: record.Traits[hit]{Stays: true, Head: p.head, Bare: p.emptiness, Page: p.page, Share: p.share, Cut: p.cut, Last: p.last},
	})
	p.ItemPage = &pane.ItemPage{D: d, Reader: p.Detail, Ref: p.ItemHere, Of: "hit", Place: "hits", Step: p.neighbour, Alone: p.alone, Back: p.Back, Row: p.rowOfPage}
	moved := p.Moved
	p.Moved = func() tea.Cmd {
		_, p.moved = p.Window.Current()
		return moved()
	}
	return p
}

func (p *Pane) Enter() tea.Cmd { return nil }

// Typed waits for a pause in typing; the running question becomes stale.
func (p *Pane) Typed() tea.Cmd {
	p.gen++
	return p.d.Later(p.Kind.Pane)(recallAfter, recallDue{p.gen})
}

// start asks every store, cancels the question before, and drops its answers by their generation.
func (p *Pane) start() tea.Cmd {
	p.gen++
	if p.cancel != nil {
		p.cancel()
		p.cancel = nil
	}
	p.query = strings.TrimSpace(p.Filter.Value())
	p.moved = false
	p.who.Anew()
	p.Partial, p.wrong = false, nil
	if p.query == "" {
		p.answers, p.Window.Rows, p.waiting = nil, nil, nil
		return p.Show()
	}
	q, only, err := p.parse()
	if err != nil {
		p.wrong, p.answers, p.waiting = err, nil, nil
		return p.rebuild()
	}
	ctx, cancel := context.WithCancel(p.d.Ctx)
	p.cancel, p.Partial, p.words = cancel, true, q.Words
	p.waiting = only
	p.answers = nil // the rows stay until the first answer comes
	gen, words, d, fleet := p.gen, text.SearchWords(q.Words), p.d.Desk, p.d.Fleet
	req := model.RecallRequest{Query: q.Words, Tier: q.Tier, Limit: model.RecallLimit}
	return p.Window.Ask(func(context.Context) any {
		answers := fleet.RecallBy(ctx, func(ctx context.Context, s model.Store) (model.RecallResult, error) {
			return q.Recall(ctx, s, req)
		}, only...)
		var next func() any
		next = func() any {
			select {
			case a, ok := <-answers:
				if !ok {
					return recallOver{gen}
				}
				out := newAnswered(d, gen, a, words)
				out.more = next
				return out
			case <-ctx.Done():
				return recallOver{gen}
			}
		}
		return next()
	})
}

// parse reads the query, and names the stores to ask.
func (p *Pane) parse() (q operator.Query, only []string, err error) {
	if q, err = operator.ParseQuery(p.query, p.d.Time.Clock.Now()); err != nil {
		return q, nil, err
	}
	q.Writers = p.d.Origins
	for _, m := range p.d.Fleet.Members() {
		_, has := m.Store.Tier(q.Tier)
		if (q.Store == "" || strings.EqualFold(q.Store, m.Name)) && (q.Tier == "" || has || len(m.Store.Tiers) == 0) {
			only = append(only, m.Name)
		}
	}
	switch {
	case len(only) == 0 && q.Tier != "":
		return q, nil, model.Errorf(model.InvalidInput, "recall", "no store that is asked has a tier %q", q.Tier)
	case len(only) == 0 && q.Store != "":
		return q, nil, model.Errorf(model.InvalidInput, "recall", "there is no store %q", q.Store)
	case q.Words == "":
		return q, nil, model.Errorf(model.InvalidInput, "recall", "write what to look for beside the terms")
	}
	return q, only, nil
}

func (p *Pane) Update(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case recallDue:
		if msg.gen == p.gen {
			return p.start()
		}
	case answered:
		if msg.gen == p.gen {
			return tea.Batch(p.take(msg), p.Window.Ask(func(context.Context) any { return msg.more() }))
		}
	case recallOver:
		if msg.gen == p.gen {
			p.Partial = false
			p.Pulse.Read(p.d.Time.Clock.Now())
			p.cancel()
			return p.rebuild()
		}
	case pane.WritersCame:
		p.who.Take(msg)
		p.measure()
		return tea.Batch(p.named(), p.Show())
	default:
		return p.List.Update(msg)
	}
	return nil
}

func (p *Pane) take(a answered) tea.Cmd {
	p.answers = append(p.answers, a)
	members := p.d.Fleet.Members() // in fleet order, so that lines keep their place
	place := func(a answered) int {
		return slices.IndexFunc(members, func(m backends.Member) bool { return m.Name == a.answer.Store })
	}
	slices.SortStableFunc(p.answers, func(a, b answered) int { return place(a) - place(b) })
	p.waiting = slices.DeleteFunc(p.waiting, func(s string) bool { return s == a.answer.Store })
	return p.rebuild()
}

// rebuild fuses the answers so far and keeps the chosen row.
func (p *Pane) rebuild() tea.Cmd {
	w := p.Window
	at, line := "", w.Sel-w.Top
	if r, ok := w.Current(); ok && p.moved {
		at = r.Key
	}
	w.Rows = arrange(p.answers)
	p.measure()
	w.Sel, w.Top = 0, 0
	if i := slices.IndexFunc(w.Rows, func(r hitRow) bool { return r.Key == at }); i >= 0 {
		w.Sel, w.Top = i, max(i-line, 0)
	}
	laid := p.Layout()
	w.Move(0)
	return tea.Batch(laid, p.Show(), p.named())
}

func (p *Pane) named() tea.Cmd {
	rows := p.Window.Rows
	return p.who.Want(func(i int) string { return rows[i].Raw.Store }, len(rows), func(i int) model.Header { return model.Header{ID: rows[i].Raw.Hit.ID} })
}

// page is the item of a hit at its line, or beside the hits an excerpt: all that its store gave of it.
func (p *Pane) page(r hitRow) text.Wanted {
	h, terms := r.Raw, text.SearchWords(p.words)
	if p.Full {
		return pane.Wanted(p.d.Desk, h.ref(), h.Hit.Line, terms)
	}
	page := text.NewPage(p.describe(h), h.Hit.Snippet)
	page.Kind = text.Excerpt
	return text.Wanted{Key: p.query + "\x00" + r.Key + strconv.Itoa(h.Rank) + h.Where.String() + p.who.Cell(h.ref()).String(), Terms: terms, Read: func(context.Context) *text.Page { return page }}
}

func (p *Pane) describe(h hit) []text.Line {
	esc := p.d.Esc
	if h.Withheld {
		return []text.Line{
			{Value: h.Where, Kind: text.Title}, desk.Field("store", h.Name),
			{Value: esc.Const("Quarantined: the scanner rejects it, so a recall names it to operators only and gives agents nothing of it. 4 Quarantine shows what matched."), Kind: text.Alert},
		}
	}
	dir, name := path.Split(h.Hit.Source)
	out := append([]text.Line{{Value: esc.LineMax(cmp.Or(name, h.Hit.Source), prose.MaxTitle), Kind: text.Title}}, text.Known(text.Line{Value: h.planted, Kind: text.Alert})...)
	place := esc.Sprintf("rank %d in %s, score %s", h.Rank, h.Name, h.score)
	if ref := h.ref(); p.who.Width(ref) > 0 {
		place = esc.Sprintf("%s, written by %s", place, p.who.Cell(ref))
	}
	if h.Hit.Line > 0 {
		place = esc.Sprintf("line %d, %s", h.Hit.Line, place)
	}
	if dir != "" && name != "" {
		place = esc.Sprintf("%s, %s", esc.LineMax(dir, prose.MaxTitle), place)
	}
	return append(out, text.Line{Value: place, Kind: text.Note}, text.Line{Kind: text.Blank})
}

func (p *Pane) Render(width, height int) ([]string, *tea.Position) {
	var cursor *tea.Position
	if p.Typing() != nil {
		cursor = &tea.Position{X: p.field(p.d.St.Row(width)) + 1}
	}
	if p.query != "" || p.Full {
		out, _ := p.List.Render(width, height)
		return out, cursor
	}
	out := append(p.head(width, height), text.Paragraph(p.d.St, p.emptiness(), width)...) // neither a list nor a detail
	if len(p.d.Fleet.Members()) > 0 {
		out = append(out, p.terms(width)...)
	}
	return out, cursor
}

// head is the query, and what is known of the answers.
func (p *Pane) head(width, height int) []string {
	r := p.d.St.Row(width)
	p.field(r)
	return append([]string{r.End()}, p.renderStatus(width, height)...)
}

// field draws the query.
func (p *Pane) field(r *paint.Row) (column int) {
	hint := p.d.Esc.Const("press / and type what an agent would ask its memory")
	if p.Filter.Focus {
		hint = p.d.Esc.Sprintf("words; %s", p.d.Esc.Const(operator.QueryTerms))
	}
	return p.Filter.Render(r.Blank(1), p.d.Esc.Const("/ "), hint)
}

func (p *Pane) Crumbs() []safetext.Text {
	var out []safetext.Text
	if p.query != "" {
		out = append(out, p.d.Esc.Line(p.query))
	}
	if p.Full {
		out = append(out, p.d.Esc.Line(p.ItemHere().String()))
	}
	return out
}

func (p *Pane) Position() (safetext.Text, bool) {
	if p.Full {
		return p.ItemPage.Position()
	}
	hits := 0
	for _, a := range p.answers {
		hits += len(a.hits)
	}
	switch {
	case p.query == "" || p.wrong != nil:
		return safetext.Text{}, false
	case p.Partial:
		return p.place(hits), true
	}
	return p.d.Aged(p.place(hits), p.Pulse), false
}

// place is the place among the hits; with a plus, a store has more of them.
func (p *Pane) place(hits int) safetext.Text {
	all := safetext.Const(prose.Plural(hits, "hit"))
	if hits > 0 && slices.ContainsFunc(p.answers, func(a answered) bool { return hasMore(a.answer.Result) }) {
		all = safetext.Const(prose.Group(hits) + "+ hits")
	}
	if p.Window.Sel < hits {
		return safetext.Sprintf("%d of %s", p.Window.Sel+1, all)
	}
	return all
}

// Beneath is nothing: a key of the hits has no answer of its own on a page.
func (p *Pane) Beneath() []act.Act { return nil }

func (p *Pane) Refresh() tea.Cmd {
	if p.Full {
		return p.ItemPage.Refresh()
	}
	return p.start()
}

func (p *Pane) Unavailable() string { return p.d.Closed(operator.ReadContent, "the texts of stores") }

func (p *Pane) Bindings() []act.Act {
	switch {
	case p.Full:
		return p.ItemPage.Bindings()
	case p.Typing() != nil:
		leave := func() tea.Cmd {
			p.Filter.Focus = false
			p.keep()
			if strings.TrimSpace(p.Filter.Value()) != p.query {
				return p.start()
			}
			return nil
		}
		return []act.Act{
			{Keys: []string{"enter"}, Name: "to the hits", Doc: "leave the input and go to the hits", Do: leave},
			{Keys: []string{"esc"}, Name: "back", Doc: "leave the input", Do: leave},
			{Keys: []string{"down"}, Show: "Down Up", Name: "choose", Doc: "the next hit", Do: func() tea.Cmd { return p.Move(1) }},
			{Keys: []string{"up"}, Show: "Up", Doc: "the hit before, or from the first one on the query before", Do: p.before},
		}
	}
	return slices.Concat([]act.Act{
		{Keys: []string{"/"}, Name: "query", Verb: act.Filter.Verb, Args: act.Filter.Args, Doc: "type a query; stores are asked as you type. These terms select by a field: " + operator.QueryTerms, Ask: p.Look, Do: func() tea.Cmd { p.Filter.Edit(p.Filter.Value()); return nil }},
		act.Open.Called("read the item of this hit, at its line").With(p.noHit, p.readHere),
		{Keys: []string{"y"}, Name: "copy ref", Doc: "copy the hit's reference to the clipboard of the terminal", Why: p.noHit, Do: func() tea.Cmd { return p.d.Copy(p.ItemHere()) }},
		{Keys: []string{"Y"}, Doc: "copy the hit as one line of JSON", Why: p.noHit, Do: func() tea.Cmd { return p.d.CopyRow(hitDatum(p.Here()).Object()) }},
		act.Edit.Called("edit the item of this hit in $EDITOR; nothing is written before you have seen the difference").With(p.noEdit, func() tea.Cmd { return p.d.Edits.EditItem(p.ItemHere()) }),
		act.Log.With(act.Unless(p.noHit, p.d.NoLog), func() tea.Cmd { return p.d.Log(p.ItemHere()) }),
		change.Takeback(p.d.Work, p.noHit, p.writerHere),
		act.Export.Whole().Called("export all hits to a file, CSV or JSON lines").With(act.Unless(p.noHit, p.d.NoExport), p.exportHits),
	}, act.Aside(p.Detail, "hit"), act.Movement(p, "hit"))
}

// writerHere finds who wrote the item of the hit at the cursor.
func (p *Pane) writerHere() change.Writer {
	h := p.Here()
	if p.who.Cell(h.ref()).String() == desk.Nobody {
		return nil
	}
	return func(ctx context.Context) change.Writing {
		s, err := p.d.Fleet.Store(h.Store)
		if err != nil {
			return change.Writing{}
		}
		return change.WritingOf(p.d.Origins.WriterOf(ctx, s, model.Header{ID: h.Hit.ID}))
	}
}

// rowOfPage is the hit whose item is on the page.
func (p *Pane) rowOfPage() (desk.Datum, string) {
	r, ok := p.Window.Current()
	if !ok || r.Raw.ref() != p.ItemHere() {
		return desk.Datum{}, "this item is among the hits no more"
	}
	return hitDatum(r.Raw), ""
}

func (h hit) ref() model.Ref { return model.Ref{Store: h.Store, ID: h.Hit.ID} }

func (p *Pane) noHit() string {
	r, ok := p.Window.Current()
	if !ok {
		return "there is no hit here: / asks"
	}
	return p.unreadable(r.Raw)
}

// unreadable says why the item of a hit cannot be shown.
func (p *Pane) unreadable(h hit) string {
	if h.Withheld {
		return "the source is quarantined: 4 Quarantine shows what matched"
	}
	s, err := p.d.Fleet.Store(h.Store)
	if err != nil || s.Browser == nil && !recalled.Only(s) {
		return "this store cannot show single items; the snippet is all there is"
	}
	return ""
}

func (p *Pane) readHere() tea.Cmd {
	r, _ := p.Window.Current()
	return p.OpenPage(r)
}

// neighbour goes to the next hit that can be read.
func (p *Pane) neighbour(by int) tea.Cmd {
	for i := p.Window.Sel + by; i >= 0 && i < len(p.Window.Rows); i += by {
		if p.unreadable(p.Window.Rows[i].Raw) == "" {
			return p.Move(i - p.Window.Sel)
		}
	}
	word := "this is the last hit that can be read"
	if by < 0 {
		word = "this is the first hit"
	}
	return p.d.Tell("%s", word)
}

// alone says that no other hit can be read; empty: another can.
func (p *Pane) alone() string {
	readable := 0
	for _, r := range p.Window.Rows {
		if p.unreadable(r.Raw) == "" {
			readable++
		}
	}
	return act.When(readable < 2, "there is only this one")
}

// ItemHere is the item at the cursor, or on the whole screen.
func (p *Pane) ItemHere() model.Ref { return p.Here().ref() }

func (p *Pane) noEdit() string {
	r, ok := p.Window.Current()
	switch {
	case !ok:
		return p.noHit()
	case r.Raw.Hit.ID == "":
		return "this hit names no item: agents do not get it"
	}
	return edit.NoEdit(p.d.Desk, r.Raw.Store, "") // the editor asks for its tier
}

func hitDatum(h hit) desk.Datum {
	return desk.DatumOf(
		"store", h.Store, "id", model.EncodeID(h.Hit.ID), "source", h.Hit.Source, "line", h.Hit.Line,
		"score", h.Hit.Score, "snippet", h.Hit.Snippet, "quarantined", h.Withheld,
	)
}

// exportHits writes the hits on the screen: recall has no further pages.
func (p *Pane) exportHits() tea.Cmd {
	rows := slices.Clone(p.Window.Rows)
	var missing []safetext.Text
	for _, s := range p.unanswered() {
		missing = append(missing, p.d.Esc.Sprintf("%s: %s", s.name, s.text))
	}
	return p.d.Exports.ExportTable("recall", func(_ context.Context, write func(desk.Datum) error) ([]safetext.Text, error) {
		for _, r := range rows {
			if err := write(hitDatum(r.Raw)); err != nil {
				return nil, err
			}
		}
		return missing, nil
	})
}

// keep puts what was typed behind the queries of this session.
func (p *Pane) keep() {
	query := strings.TrimSpace(p.Filter.Value())
	if p.past = slices.DeleteFunc(p.past, func(q string) bool { return q == query }); query != "" {
		p.past = append(p.past, query)
	}
}

// before goes to the hit before, or from the first one to the query before.
func (p *Pane) before() tea.Cmd {
	at := len(p.past)
	if query := p.Filter.Value(); query != "" {
		at = slices.Index(p.past, query)
	}
	if p.Window.Sel > 0 || at < 1 {
		return p.Move(-1)
	}
	p.Filter.Set(p.past[at-1])
	return p.Typed()
}

// Look queries every store.
func (p *Pane) Look(words string) tea.Cmd {
	back := p.Back() // a page may cover the hits
	p.looks++
	p.Filter.Set(words)
	p.keep()
	return tea.Batch(back, p.start())
}

func (p *Pane) Keep() backends.ViewConfig                   { return backends.ViewConfig{Filter: p.query} }
func (p *Pane) Bring(v backends.ViewConfig) (tea.Cmd, bool) { return p.Look(v.Filter), true }
func (p *Pane) CheckView(v backends.ViewConfig) (key string, err error) {
	if v.Order != "" {
		return "order", errors.New("a recall has one order: that of the ranks")
	}
	_, err = operator.ParseQuery(v.Filter, p.d.Time.Clock.Now())
	return "filter", err
}

// Refs are the hits that agents would get.
func (p *Pane) Refs() []model.Ref {
	var out []model.Ref
	for _, r := range p.Window.Rows {
		if !r.Raw.Withheld {
			out = append(out, r.Raw.ref())
		}
	}
	return out
}
