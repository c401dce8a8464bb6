package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/kit/text"
)

// split is how list and detail share the room of a pane.
type split struct {
	beside                    bool
	alone                     bool // the list has all of it
	listWidth, listHeight     int
	detailWidth, detailHeight int
}

// split puts the detail beside the list from wideFrom columns, below it in
// narrower terminals and in plain mode, which is linear.
func (d *desk) split(width, height int) split {
	if d.wide { // the detail keeps a size, to be there at once
		return split{alone: true, listWidth: width, listHeight: height, detailWidth: width - 2, detailHeight: 3}
	}
	if width >= wideFrom && !d.plain {
		left := width * 11 / 20
		if d.share > 0 {
			left = (width*d.share + 999) / 1000
		}
		return split{beside: true, listWidth: left, listHeight: height, detailWidth: width - left - 3, detailHeight: height}
	}
	below := max(height*2/5, 3)
	return split{listWidth: width, listHeight: height - below - 1, detailWidth: width - 2, detailHeight: below}
}

// join composes the two halves. What the detail has beyond its room is told by a sign
// between them, so that nobody takes a part for all.
func (d *desk) join(f split, list []string, text *text.Pager, name safetext.Text) []string {
	st := d.st
	list = st.FillTo(list, f.listWidth, f.listHeight)
	if f.alone {
		return list
	}
	detail := text.Render(st, f.detailWidth, f.detailHeight)
	above, below := text.Beyond()
	if !f.beside {
		switch {
		case above && below:
			name = st.Esc.Sprintf("%s, more: J K", name)
		case below:
			name = st.Esc.Sprintf("%s, more: J", name)
		case above:
			name = st.Esc.Sprintf("%s, more: K", name)
		}
		out := append(list, st.Rule(name, f.listWidth))
		for _, line := range st.FillTo(detail, f.detailWidth, f.detailHeight) {
			out = append(out, " "+line+" ")
		}
		return out
	}
	detail = st.FillTo(detail, f.detailWidth, f.detailHeight)
	for i, line := range detail {
		detail[i] = " " + line + " "
	}
	return st.Beside(list, detail, above, below)
}

// found marks what a filter matches in the cells of a row; nil where nothing is marked.
func (d *desk) found(query string) func(string) []safetext.Span {
	if query == "" || strings.HasPrefix(query, "!") {
		return nil
	}
	m := operator.NewMatch(query)
	return func(s string) []safetext.Span {
		var out []safetext.Span
		for _, at := range m.Spans(s) {
			out = append(out, safetext.Span{Start: at[0], End: at[1]})
		}
		return out
	}
}

// visible is a list on the screen, as the mouse and a question over it see it.
type visible struct {
	first       int // line of the pane with the first visible row
	top, sel, n int
	height      int
	width       int    // columns of the list; what is right of them is the detail
	aside       string // title of the detail
	move        func(by int) tea.Cmd
}

// Titles of the details.
const (
	storeAside = "store"
	placeAside = "details"
	itemAside  = "preview"
	hitAside   = "hit"
)

func (t *table) listed(d *desk, width, height, first int, aside string) (visible, bool) {
	f := d.split(width, height-first+1)
	return visible{first: first, top: t.top, sel: t.sel, n: t.n, height: t.height, width: f.listWidth, aside: aside, move: t.Move}, true
}

func windowListed[T any](w *window[T], d *desk, width, height, first int, aside string, move func(int) tea.Cmd) (visible, bool) {
	f := d.split(width, height-first+1)
	return visible{first: first, top: w.top, sel: w.sel, n: len(w.rows), height: w.height, width: f.listWidth, aside: aside, move: move}, true
}
