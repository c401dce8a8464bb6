package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// nobody stands in the column ORIGIN where the writer is not known.
const nobody = "?"

// originWidth is the column ORIGIN.
const originWidth = 14

// keptWriters is how many writers a list remembers.
const keptWriters = 4096

// writers are who wrote the rows that are on the screen. They are asked for beside the
// list: it never waits for them.
type writers struct {
	d     *desk
	ask   func(func(context.Context) any) tea.Cmd
	known map[model.Ref]safetext.Text
	gen   int
	busy  bool
}

// writersCame are the writers of some items.
type writersCame struct {
	gen int
	who map[model.Ref]safetext.Text
}

func newWriters(d *desk, pane int) *writers {
	return &writers{d: d, ask: d.asker(pane), known: map[model.Ref]safetext.Text{}}
}

// want asks for those of the items on the screen that nobody has asked for.
func (w *writers) want(store func(i int) string, n int, header func(i int) model.Header) tea.Cmd {
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
		out := writersCame{gen, map[model.Ref]safetext.Text{}}
		for ref, h := range asked {
			out.who[ref] = d.esc.Const(nobody)
			if s, err := d.fleet.Store(ref.Store); err == nil {
				if r, _, ok := d.Origins.WriterOf(ctx, s, h); ok {
					out.who[ref] = writerCell(d.esc, r)
				}
			}
		}
		return out
	})
}

// take keeps an answer.
func (w *writers) take(m writersCame) {
	w.busy = false
	if m.gen != w.gen {
		return
	}
	if len(w.known) > keptWriters {
		clear(w.known)
	}
	for ref, who := range m.who {
		w.known[ref] = who
	}
}

// anew forgets all: items were written since.
func (w *writers) anew() {
	w.gen++
	clear(w.known)
}

// cell is the writer of an item for its row; nothing while nobody has answered.
func (w *writers) cell(ref model.Ref) (safetext.Text, paint.Paint) { return w.known[ref], w.d.st.Dim }

// writerCell is a writer in a narrow column: who, and the channel where the text came from
// somewhere else.
func writerCell(esc safetext.Escaper, r origin.Row) safetext.Text {
	who := esc.LineMax(r.Actor, prose.MaxTitle)
	if r.Actor == origin.Unknown || r.Actor == "" {
		if who = esc.Const(nobody); r.Session != "" {
			who = esc.LineMax(r.Session, prose.MaxTitle)
		}
	}
	switch r.Channel {
	case origin.Web, origin.Tool:
		return esc.Sprintf("%s, %s", who, esc.Const(r.Channel))
	}
	return who
}

// entryCell is the writer of what stands in the quarantine.
func entryCell(esc safetext.Escaper, r *operator.Written) safetext.Text {
	if r == nil {
		return esc.Const(nobody)
	}
	return writerCell(esc, r.Row)
}

// writerLines say who wrote an item, in its detail.
func (d *desk) writerLines(s model.Store, it model.Item) []text.Line {
	if d.Origins == nil {
		return nil
	}
	r, kept, ok := d.Origins.WriterOfItem(s, it)
	if !ok {
		return []text.Line{{Name: d.esc.Const("written by"), Value: d.esc.Const("nobody knows")}}
	}
	return []text.Line{{Name: d.esc.Const("written by"), Value: writerWords(d, operator.Written{Row: r, Kept: kept})}}
}

// writerWords are a writer as a detail has it.
func writerWords(d *desk, w operator.Written) safetext.Text {
	esc := d.esc
	out := esc.LineMax(w.Actor, prose.MaxTitle)
	if w.Client != "" {
		client := w.Client
		if w.Version != "" {
			client += "/" + w.Version
		}
		out = esc.Sprintf("%s with %s", out, esc.LineMax(client, prose.MaxTitle))
	}
	if w.Session != "" {
		out = esc.Sprintf("%s in session %s", out, esc.LineMax(w.Session, prose.MaxTitle))
	}
	out = esc.Sprintf("%s, %s, %s", out, esc.LineMax(w.Source(), prose.MaxTitle), esc.Line(w.Trust))
	if w.Kept == origin.InStore {
		return esc.Sprintf("%s; so its store says", out)
	}
	return esc.Sprintf("%s, %s", out, esc.Const(d.time.Ago(w.At)))
}
