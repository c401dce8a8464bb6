package desk

import (
	"cmp"
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
	stand
}

// stand says whether a list stands above its detail in a wide pane, and for what that was decided.
type stand struct {
	above       bool
	width, rows int // width 0: it is decided anew as soon as the rows are known
}

// Anew has the place of the list decided anew: nobody looks at it yet.
func (s *stand) Anew() { s.width = 0 }

// Asks are what a list and its detail ask of their pane.
type Asks struct {
	Width, Height int
	Rows          int            // of the list; 0: not known, or changing while one types
	Two           bool           // the detail sets two texts beside each other where it has room
	Empty         bool           // there is no row, so no detail
	Beside        int            // in a narrower pane the list stands above its detail, unless the line was dragged; 0: any width will do
	Cuts          func(int) bool // reports whether a cell is cut in a list of so many columns; nil: the list stays beside
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

// Split shares a pane anew: beside each other in wide terminals, the list above its detail in narrow ones, in plain mode,
// and where a short list shows more so. Above its detail a list of few rows leaves its room to the detail.
func (d *Desk) Split(was Halves, a Asks) Halves {
	if d.Wide || a.Empty { // the detail keeps a size, so that it is ready at once
		return Halves{alone: true, ListWidth: a.Width, ListHeight: a.Height, DetailWidth: a.Width - 2, DetailHeight: 3, stand: was.stand}
	}
	rows := a.Rows
	if a.Width >= paint.WideFrom && !d.Plain {
		left := a.Width * 11 / 20
		switch rest := a.Width - WideDetail - 3; {
		case !a.Two:
			left = max(left, a.Width-oneText-3)
		case rest >= leastBeside:
			left = min(left, rest)
		}
		if d.Share > 0 {
			left = (a.Width*d.Share + 999) / 1000
		}
		out := Halves{Beside: true, ListWidth: left - 1, ListHeight: a.Height, DetailWidth: a.Width - left - 3, DetailHeight: a.Height}
		out.stand = was.again(a, out)
		if !out.above || d.Share > 0 {
			return out
		}
		was, rows = out, out.rows
	}
	list := a.Height - max(a.Height*2/5, 3) - 1
	if rows > 0 {
		list = min(list, max(rows, leastRows)+1)
	}
	return Halves{ListWidth: a.Width, ListHeight: list, DetailWidth: a.Width - 2, DetailHeight: a.Height - list - 1, stand: was.stand}
}

// again decides where the list stands, by its first rows and at another width: rows that come while one looks move nothing.
func (s stand) again(a Asks, beside Halves) stand {
	if a.Width < a.Beside {
		s.above, s.width, s.rows = true, a.Width, cmp.Or(a.Rows, s.rows)
		return s
	}
	if a.Rows == 0 {
		s.width = 0
		return s
	}
	if a.Width != s.width {
		wants := a.Two && beside.DetailWidth < WideDetail && a.Width >= WideDetail+2
		s.above = a.Rows <= a.Height/3 && a.Cuts != nil && (wants || a.Cuts(beside.ListWidth))
	}
	s.width, s.rows = a.Width, a.Rows
	return s
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
	Scroll      func(by int) // without the selection, until the next move
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
)

func WindowListed[T any](w *list.Window[T], f Halves, first int, aside string, move func(int) tea.Cmd) (Visible, bool) {
	return Visible{First: first, Top: w.Top, Sel: w.Sel, N: len(w.Rows), Height: w.Height, Width: f.ListWidth, Aside: aside, Move: move, Scroll: w.Scroll}, true
}
