package tiers

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// ItemRow is an item in the list, escaped when its page arrived.
type ItemRow struct {
	Header    model.Header
	title, id safetext.Text
	tier      safetext.Text
	size      safetext.Text
	flags     safetext.Text
}

// rawID is what the id column shows, before escaping.
func (r ItemRow) rawID() string {
	if r.id.IsEmpty() || len(r.Header.ID) > prose.MaxTitle {
		return ""
	}
	return r.Header.ID
}

func newItemRow(esc safetext.Escaper, h model.Header) ItemRow {
	r := ItemRow{
		Header: h,
		id:     esc.LineMax(h.ID, prose.MaxTitle), tier: esc.Line(h.Tier),
		title: esc.LineMax(desk.FirstWords(h.Title), prose.MaxTitle),
		size:  safetext.Const(prose.Size(h.Bytes)),
	}
	if h.Title == "" || h.Title == h.ID {
		r.title, r.id = r.id, safetext.Text{}
	}
	words := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		words[i] = string(f)
	}
	r.flags = esc.Line(strings.Join(words, " "))
	return r
}

// The columns that share the list with the id.
const (
	colTier = iota
	colOrigin
	colSize
	colAge
	colFlags
	colTitle // takes what is left
	colID
)

var itemTitles = [...]string{"TIER", "ORIGIN", "SIZE", "AGE", "FLAGS", "TITLE", "ID"}

// fitted notes the widths of the rows that have arrived.
func (l *items) fitted() {
	for _, r := range l.Window.Rows {
		who := l.who.Width(l.refOf(r))
		for i, width := range []int{r.tier.Width(), who, r.size.Width(), 4, l.flags(r).Width(), r.title.Width(), r.id.Width()} {
			l.fit.See(i, width, len(itemTitles[i])+1) // and the sign of an order
		}
	}
}

// flags are those of a row, and its part in a conflict as far as pane 5 has looked.
func (l *items) flags(r ItemRow) safetext.Text {
	switch part := l.d.Part(l.refOf(r)); {
	case part == "":
		return r.flags
	case r.flags.IsEmpty():
		return l.d.Esc.Const(string(part))
	default:
		return l.d.Esc.Sprintf("%s %s", l.d.Esc.Const(string(part)), r.flags)
	}
}

// columns are those that share the list with the id.
func (l *items) columns() []list.Column {
	tier, origin := list.Column{Most: 11, Least: 9}, pane.Origin // the detail says who wrote the item
	if l.At.Tier != "" {
		tier = list.Column{}
	}
	if l.d.Origins == nil {
		origin = list.Column{}
	}
	return []list.Column{tier, origin, {Most: 10, Least: 9}, {Most: 5, Least: 5}, {Most: 18, Least: 8}, {Least: 32}}
}

// briefBelow is the height of a preview that has no room for metadata.
const briefBelow = 16

func (l *items) Resize(width, height int) tea.Cmd {
	l.width, l.height = width, height
	return l.layout()
}

// layout shares the pane between list and preview anew, or gives it to the page.
func (l *items) layout() tea.Cmd {
	l.halves = l.d.Split(l.halves, desk.Asks{Width: l.width, Height: l.height, Rows: l.Steady(), Empty: l.Window.Bare(), Cuts: func(room int) bool {
		return l.fit[:min(len(l.fit), colID)].Cuts(room-2, l.columns())
	}})
	f := l.halves
	l.Window.Resize(f.ListHeight-1, f.Beside)
	l.reader.Pager.Brief = !l.ItemPage.On && f.DetailHeight < briefBelow
	if l.ItemPage.On {
		return l.reader.Pager.Resize(l.width-2, l.height)
	}
	return l.reader.Pager.Resize(f.DetailWidth, f.DetailHeight)
}

// widths are the columns for a list; the id has what the titles leave.
func (l *items) widths(width int) (w [colID + 1]int) {
	rest := width - 2
	for i, of := range l.fit.Widths(rest, l.columns()) {
		w[i] = of
		rest -= of
	}
	if id := l.fit.Width(colID, rest*9/20); rest >= 56 && id > 0 {
		w[colID] = max(id, rest-l.fit.Width(colTitle, rest))
	}
	w[colTitle] = rest - w[colID]
	return w
}

func (l *items) Render(width, height int) ([]string, *tea.Position) {
	if l.ItemPage.On {
		return l.reader.Pager.Framed(width, height), nil
	}
	f := l.halves
	st := l.d.St
	l.fitted() // a conflict may have become known
	c := l.widths(f.ListWidth)
	list := make([]string, 0, f.ListHeight)
	h := st.Row(f.ListWidth).Blank(1)
	cursor := l.Browser.Render(h)
	if cursor == nil {
		l.heading(h, c)
	}
	list = append(list, h.End())
	rows, found := l.Window.Rows, l.d.Found(l.words())
	for i := l.Window.Top; i < min(len(rows), l.Window.Top+l.Window.Height); i++ {
		list = append(list, l.row(rows[i], i == l.Window.Sel, f.ListWidth, c, found))
	}
	list = append(list, l.emptiness(f.ListWidth)...)
	return l.d.Join(f, list, l.reader.Pager, safetext.Const(desk.ItemAside)), cursor
}

func (l *items) heading(h *paint.Row, c [colID + 1]int) {
	st := l.d.St
	title := func(column int, up, down model.Order) safetext.Text { return l.titled(itemTitles[column], up, down) }
	h.Blank(1).Col(st.Heading, title(colTitle, "", ""), c[colTitle]).Col(st.Heading, title(colID, model.OrderID, ""), c[colID])
	h.Col(st.Heading, title(colTier, "", ""), c[colTier]).Col(st.Heading, title(colOrigin, "", ""), c[colOrigin])
	h.Number(st.Heading, title(colSize, "", model.OrderLargest), c[colSize]-1)
	h.Number(st.Heading, title(colAge, model.OrderNewest, model.OrderOldest), c[colAge]).Blank(1).Col(st.Heading, title(colFlags, "", ""), c[colFlags])
}

// titled is the title of a column, with a sign where the list is in one of its orders.
func (l *items) titled(title string, up, down model.Order) safetext.Text {
	by := l.ordered()
	return l.d.St.Sorted(title, by != "" && by == up, by != "" && by == down)
}

func (l *items) row(it ItemRow, at bool, width int, c [colID + 1]int, found func(string) []safetext.Span) string {
	st := l.d.St
	r := st.Highlighted(width, at, !l.Filter.Focus)
	st.Mark(r, l.Marks.Has(it.Header.ID))
	r.Find = found
	r.Col(st.Plain, it.title, c[colTitle]).Col(st.Dim, st.Tail(it.id, it.rawID(), "", c[colID]-1), c[colID])
	r.Col(st.Dim, it.tier, c[colTier]).Col(st.Dim, l.who.Cell(l.refOf(it)), c[colOrigin])
	r.Number(st.Dim, it.size, c[colSize]-1)
	r.Number(st.Dim, safetext.Const(l.d.Time.Age(it.Header.Modified)), c[colAge]).Blank(1)
	flags := st.Warn
	if it.Header.Has(model.FlagBlocked) {
		flags = st.Bad
	}
	return r.Put(flags, l.flags(it)).End()
}

// emptiness says why there are no rows, what failed, and what to do.
func (l *items) emptiness(width int) []string {
	st := l.d.St
	line := text.Advice(st.Esc, "No items here, hidden ones included. `esc` goes back.")
	switch {
	case errors.Is(l.Window.Err, model.InvalidInput) && l.Query != "" && len(l.Window.Rows) == 0:
		line = text.Advice(st.Esc, "%s. `esc` shows all items, `/` changes the filter.", prose.Reason(st.Esc, l.Window.Err)).As(text.Warn)
	case l.Window.Err != nil && len(l.Window.Rows) == 0:
		why := st.Badge(paint.ToneBad, st.Esc.Sprintf("the store does not list: %s", prose.Reason(st.Esc, l.Window.Err)))
		line = text.Advice(st.Esc, "%s. `ctrl+r` asks again, `esc` goes back.", why).As(text.Bad)
	case len(l.Window.Rows) > 0 || !l.Window.Loaded:
		return nil
	case !l.Window.Trouble(st.Esc).IsEmpty():
		line = text.Advice(st.Esc, "Nothing was found, but not everything could be looked at. `ctrl+r` asks again.").As(text.Warn)
	case l.Query != "":
		line = text.Advice(st.Esc, "Nothing matches %q. `esc` shows all items, `/` changes the filter.", l.Query)
	case !l.Hidden:
		line = text.Advice(st.Esc, "No items here. `a` also looks at hidden, archived and bookkeeping ones; `esc` goes back.")
	}
	return text.Paragraph(st, line, width)
}

// withHidden stands before filter and marks: for lack of room the last breadcrumb stays.
var withHidden = safetext.Const("with hidden")

func (l *items) Crumbs() []safetext.Text {
	esc := l.d.Esc
	out := []safetext.Text{esc.Line(l.At.Store)}
	if l.At.Scope != "" {
		out = append(out, esc.Line(l.At.Scope))
	}
	if l.At.Tier != "" {
		out = append(out, esc.Line(l.At.Tier))
	} else {
		out = append(out, esc.Const("all tiers"))
	}
	if l.Hidden && !l.ItemPage.On {
		out = append(out, withHidden)
	}
	switch {
	case strings.HasPrefix(l.Query, "!"):
		out = append(out, esc.Sprintf("/%s (in titles and ids)", esc.Line(l.Query)))
	case l.Query != "":
		out = append(out, esc.Sprintf("/%s", esc.Line(l.Query)))
	}
	out = append(append(out, l.Marks.Crumb(esc)...), l.Window.Looking(esc)...)
	if l.ItemPage.On {
		out = append(out, esc.Line(l.reader.Want.Ref.ID))
	}
	return out
}

func (l *items) Position() (safetext.Text, bool) {
	if l.ItemPage.On {
		return l.ItemPage.Position()
	}
	return l.d.Aged(l.place(), l.pulse), l.Window.Busy()
}

// place is the place in the list, and how many more items the tree counts: hidden ones.
func (l *items) place() safetext.Text {
	at, total := l.Window.Position(), l.Window.Total()
	if l.Hidden || l.Query != "" || !l.Window.Loaded || l.Window.Err != nil || total.Unknown || total.AtLeast {
		return at
	}
	if n, ok := l.p.Overview.counted(l.At); ok && n > total.N {
		return l.d.Esc.Sprintf("%s, a shows %s more", at, prose.Group(n-total.N))
	}
	return at
}

func (l *items) Trouble() safetext.Text {
	if l.ItemPage.On {
		return safetext.Text{}
	}
	return l.Window.Trouble(l.d.Esc)
}

func (l *items) Typing() *text.Input {
	if l.ItemPage.On {
		return nil
	}
	return l.Browser.Typing()
}

func (l *items) OnScreen() *text.Pager { return l.ItemPage.OnScreen() }

func (l *items) Listed() (desk.Visible, bool) {
	if l.ItemPage.On {
		return desk.Visible{}, false
	}
	return desk.WindowListed(l.Window, l.halves, 1, desk.ItemAside, l.Move)
}
