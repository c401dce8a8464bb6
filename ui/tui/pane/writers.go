package pane

import (
	"context"
	"maps"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
)

// Origin is the column ORIGIN of a list of items: it shrinks before it goes.
var Origin = list.Column{Most: OriginWidth, Least: 7, Support: true}

// OriginWidth is the most that it has.
const OriginWidth = 14

// keptWriters bounds the writers that a list remembers.
const keptWriters = 4096

// Writers are the writers of the visible rows, fetched beside the list, which never waits for them.
type Writers struct {
	d     *desk.Desk
	ask   func(func(context.Context) any) tea.Cmd
	known map[model.Ref]safetext.Text
	gen   int
	busy  bool
}

// WritersCame are the writers of some items.
type WritersCame struct {
	gen int
	who map[model.Ref]safetext.Text
}

func NewWriters(d *desk.Desk, pane int) *Writers {
	return &Writers{d: d, ask: d.Asker(pane), known: map[model.Ref]safetext.Text{}}
}

// Want asks for the unknown writers of the items on the screen.
func (w *Writers) Want(store func(i int) string, n int, header func(i int) model.Header) tea.Cmd {
	if w.d.Origins == nil || w.busy {
		return nil
	}
	asked := map[model.Ref]model.Header{}
	for i := range n {
		h := header(i)
		ref := model.Ref{Store: store(i), ID: h.ID}
		if _, known := w.known[ref]; !known && h.ID != "" {
			asked[ref] = h
		}
	}
	if len(asked) == 0 {
		return nil
	}
	w.busy = true
	d, gen := w.d, w.gen
	return w.ask(func(ctx context.Context) any {
		out := WritersCame{gen, map[model.Ref]safetext.Text{}}
		for ref, h := range asked {
			out.who[ref] = d.Esc.Const(desk.Nobody)
			if s, err := d.Fleet.Store(ref.Store); err == nil {
				if w := d.Origins.WriterOf(ctx, s, h); w != nil {
					out.who[ref] = desk.WriterCell(d.Esc, w.Row)
				}
			}
		}
		return out
	})
}

func (w *Writers) Take(m WritersCame) {
	w.busy = false
	if m.gen != w.gen {
		return
	}
	if len(w.known) > keptWriters {
		clear(w.known)
	}
	maps.Copy(w.known, m.who)
}

// Anew forgets all writers: items were written since.
func (w *Writers) Anew() {
	w.gen++
	clear(w.known)
}

// Cell is the writer of an item for its row; empty before the answer.
func (w *Writers) Cell(ref model.Ref) safetext.Text { return w.known[ref] }

// Width is what the cell asks for: an unknown writer asks for no column.
func (w *Writers) Width(ref model.Ref) int {
	if who := w.known[ref]; who.String() != desk.Nobody {
		return who.Width()
	}
	return 0
}
