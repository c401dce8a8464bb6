package desk

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// Halves say how list and detail share a pane.
type Halves struct {
	Beside                    bool
	alone                     bool // the list has the whole pane
	ListWidth, ListHeight     int
	DetailWidth, DetailHeight int
}

// A detail beside a list is wide enough for one text, or for two of them beside each other: there the list keeps
// leastBeside.
const (
	oneText     = 80
	WideDetail  = 100
	leastBeside = 90
)

// leastRows is how many rows a list above its detail keeps, however few it has.
const leastRows = 3

// Split puts the detail beside the list in wide terminals, below it in narrow ones and in plain mode. There a list
// of few rows leaves its room to the detail; rows is 0 where their number is not known, or changes while one types.
func (d *Desk) Split(width, height, rows int) Halves { return d.SplitTexts(false, width, height, rows) }

// SplitTexts is Split for a detail that shows two texts, or one.
func (d *Desk) SplitTexts(two bool, width, height, rows int) Halves {
	if d.Wide { // the detail keeps a size, so that it is ready at once
		return Halves{alone: true, ListWidth: width, ListHeight: height, DetailWidth: width - 2, DetailHeight: 3}
	}
	if width >= paint.WideFrom && !d.Plain {
		left := width * 11 / 20
		switch rest := width - WideDetail - 3; {
		case !two:
			left = max(left, width-oneText-3)
		case rest >= leastBeside:
			left = min(left, rest)
		}
		if d.Share > 0 {
			left = (width*d.Share + 999) / 1000
		}
		return Halves{Beside: true, ListWidth: left - 1, ListHeight: height, DetailWidth: width - left - 3, DetailHeight: height}
	}
	list := height - max(height*2/5, 3) - 1
	if rows > 0 {
		list = min(list, max(rows, leastRows)+1)
	}
	return Halves{ListWidth: width, ListHeight: list, DetailWidth: width - 2, DetailHeight: height - list - 1}
}

// Join composes the two halves; a sign between them says that the detail goes on.
func (d *Desk) Join(f Halves, list []string, text *text.Pager, name safetext.Text) []string {
	st := d.St
	list = st.FillTo(list, f.ListWidth, f.ListHeight)
	if f.alone {
		return list
	}
	detail := text.Render(f.DetailWidth, f.DetailHeight)
	above, below := text.Beyond()
	if !f.Beside {
		switch {
		case above && below:
			name = st.Esc.Sprintf("%s, more: J K", name)
		case below:
			name = st.Esc.Sprintf("%s, more: J", name)
		case above:
			name = st.Esc.Sprintf("%s, more: K", name)
		}
		out := append(list, st.Rule(name, f.ListWidth))
		for _, line := range st.FillTo(detail, f.DetailWidth, f.DetailHeight) {
			out = append(out, " "+line+" ")
		}
		return out
	}
	detail = st.FillTo(detail, f.DetailWidth, f.DetailHeight)
	for i, line := range detail {
		detail[i] = " " + line + " "
	}
	return st.Beside(list, detail, above, below)
}

// Found marks the matches of a filter in the cells of a row; nil where nothing is marked.
func (d *Desk) Found(query string) func(string) []safetext.Span {
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

// Visible is a list on the screen, for the mouse and for a question over it.
type Visible struct {
	First       int // screen line of the first visible row
	Top, Sel, N int
	Height      int
	Width       int    // columns of the list; to its right is the detail
	Aside       string // title of the detail
	Move        func(by int) tea.Cmd
}

// Beyond are the signs of rows above and below the visible ones.
func (v Visible) Beyond(st *paint.Styles) safetext.Text {
	above, below := v.Top > 0, v.Top+v.Height < v.N
	switch {
	case above && below:
		return st.Esc.Sprintf(" %s%s", st.Glyphs.Up, st.Glyphs.Down)
	case above:
		return st.Esc.Sprintf(" %s", st.Glyphs.Up)
	case below:
		return st.Esc.Sprintf(" %s", st.Glyphs.Down)
	}
	return safetext.Text{}
}

// Titles of the details.
const (
	PlaceAside = "details"
	ItemAside  = "preview"
	HitAside   = "hit"
)

func TableListed(t *list.Table, d *Desk, width, height, first int, aside string) (Visible, bool) {
	f := d.Split(width, height-first+1, 0)
	return Visible{First: first, Top: t.Top, Sel: t.Sel, N: t.N, Height: t.Height, Width: f.ListWidth, Aside: aside, Move: t.Move}, true
}

func WindowListed[T any](w *list.Window[T], f Halves, first int, aside string, move func(int) tea.Cmd) (Visible, bool) {
	return Visible{First: first, Top: w.Top, Sel: w.Sel, N: len(w.Rows), Height: w.Height, Width: f.ListWidth, Aside: aside, Move: move}, true
}
