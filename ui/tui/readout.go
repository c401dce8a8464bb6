package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// listing is a list of records of one type, as everything that serves all lists uses
// it: the frame draws it, the linear mode reads it out.
type listing interface {
	pane
	readout
	// address is where answers for the list go.
	address() int
	// apply shows the list under a filter.
	apply(query string) tea.Cmd
	// reload asks again for the rows, not for the detail.
	reload() tea.Cmd
}

// readout reads a list page by page. Rows are counted from 0 on the page that was read
// last; nothing here is for more than one goroutine.
type readout interface {
	facts() listFacts
	// begin puts a filter in force and takes all marks away; InvalidInput when the list
	// does not take it, Unsupported when there is no list.
	begin(query string) error
	// readPage reads the page at a cursor.
	readPage(ctx context.Context, cursor string, limit int) (pageRead, error)
	// row is one row of it as a sentence.
	row(n int) safetext.Text
	// place puts the cursor on a row, and shows the list.
	place(n int)
	// renew reads one row anew where a row is not kept up to date by what acts on it.
	renew(ctx context.Context, n int) error
	// detailOf is the whole of a row, for the reader.
	detailOf(ctx context.Context, n int) *text.Page
	mark(n int)
	markAll() tea.Cmd
	unmark()
	marked() int
	// ownKeys are the keys of this kind of list only, acts the export beside them.
	ownKeys() []act.Act
	acts() []act.Act
}

// listFacts are what a list says of itself, whatever stands in it.
type listFacts struct {
	name, noun, empty string
	marking, exports  bool
}

// pageRead is a page that was read.
type pageRead struct {
	rows   int
	next   string
	total  model.Count
	notice said
}

func (p *records[T]) address() int    { return p.kind.pane }
func (p *records[T]) reload() tea.Cmd { return p.list.refresh() }

func (p *records[T]) facts() listFacts {
	out := listFacts{name: p.kind.name, noun: p.kind.noun, empty: p.kind.empty, marking: p.kind.marking, exports: p.kind.datum != nil}
	return out
}

func (p *records[T]) begin(query string) error {
	if p.kind.missing != "" {
		return model.Errorf(model.Unsupported, "", "%s", p.kind.missing)
	}
	if p.kind.check != nil {
		if err := p.kind.check(query); err != nil {
			return err
		}
	}
	p.query = query
	p.marks.clear()
	_ = p.restart(nil, false) // its question is asked by readPage
	return nil
}

func (p *records[T]) readPage(ctx context.Context, cursor string, limit int) (pageRead, error) {
	filter, not := strings.CutPrefix(p.query, "!")
	page, notice, err := p.kind.fetch(ctx, PageQuery{Filter: strings.TrimSpace(filter), Not: not, Cursor: cursor, Limit: limit})
	if err != nil {
		return pageRead{}, err
	}
	p.read = page.rows
	return pageRead{len(page.rows), page.next, page.total, notice}, nil
}

func (p *records[T]) row(n int) safetext.Text {
	esc, rec := p.d.esc, p.read[n]
	if p.kind.tell != nil {
		return p.kind.tell(esc, rec.raw)
	}
	var parts []safetext.Text
	for i, c := range rec.cells {
		if !c.IsEmpty() {
			parts = append(parts, esc.Sprintf("%s %s", strings.ToLower(p.kind.columns[i].title), c))
		}
	}
	return esc.Join(parts, ", ")
}

func (p *records[T]) place(n int) {
	p.list.rows, p.list.sel, p.list.loaded, p.full = p.read, n, true, false
}

func (p *records[T]) renew(ctx context.Context, n int) error {
	if p.kind.fresh == nil {
		return nil
	}
	now, err := p.kind.fresh(ctx, p.read[n].raw)
	if err == nil {
		p.read[n] = now
	}
	return err
}

func (p *records[T]) detailOf(ctx context.Context, n int) *text.Page {
	page := p.kind.detail(ctx, p.read[n].raw)
	if p.kind.facts != nil { // who listens cannot look behind a key
		page.Head = append(p.kind.facts(ctx, p.read[n].raw).Head, page.Head[1:]...)
	}
	return page
}

func (p *records[T]) mark(n int)       { p.marks.add(p.read[n]) }
func (p *records[T]) markAll() tea.Cmd { return p.marks.all(nil) }
func (p *records[T]) unmark()          { p.marks.clear() }
func (p *records[T]) marked() int      { return p.marks.n() }

func (p *records[T]) ownKeys() []act.Act {
	if p.kind.keys == nil {
		return nil
	}
	return p.kind.keys(p)
}

func (p *records[T]) acts() []act.Act {
	out := p.ownKeys()
	for _, k := range p.handing() {
		if k.Keys[0] == "x" {
			out = append(out, k)
		}
	}
	return out
}
