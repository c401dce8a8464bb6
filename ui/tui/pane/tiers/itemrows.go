package tiers

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

type itemRow = record.Row[item]

// The columns of the list; the title takes what the others leave.
const (
	colTitle = iota
	colID
	colTier
	colOrigin
	colSize
	colAge
	colFlags
)

var itemColumns = []record.Column{
	colTitle: {Title: "TITLE"}, colID: {Title: "ID", Dim: true}, colTier: {Title: "TIER", Dim: true}, colOrigin: {Title: "ORIGIN", Dim: true},
	colSize: {Title: "SIZE", Right: true, Dim: true}, colAge: {Title: "AGE", Right: true, Dim: true, Age: true}, colFlags: {Title: "FLAGS"},
}

func newItemRow(esc safetext.Escaper, store string, h model.Header) itemRow {
	r := itemRow{Key: model.Ref{Store: store, ID: h.ID}.String(), Raw: item{store, flagWords(esc, h), h}, At: h.Modified, Tones: []paint.Tone{colFlags: paint.ToneWarn}, Cells: []safetext.Text{
		colTitle: esc.LineMax(desk.FirstWords(h.Title), prose.MaxTitle), colID: esc.LineMax(h.ID, prose.MaxTitle), colTier: esc.Line(h.Tier),
		colSize: safetext.Const(prose.Size(h.Bytes)), colAge: safetext.Const("?"), colFlags: {},
	}}
	if h.Title == "" || h.Title == h.ID {
		r.Cells[colTitle], r.Cells[colID] = r.Cells[colID], safetext.Text{}
	}
	if h.Has(model.FlagBlocked) {
		r.Tones[colFlags] = paint.ToneBad
	}
	return r
}

func flagWords(esc safetext.Escaper, h model.Header) safetext.Text {
	words := make([]string, len(h.Flags))
	for i, f := range h.Flags {
		words[i] = string(f)
	}
	return esc.Line(strings.Join(words, " "))
}

// cells has the writer of an item, and before its flags its part in a conflict as far as pane 5 has looked.
func (l *items) cells(r *itemRow) {
	ref, flags := r.Raw.ref(), r.Raw.flags
	if part := l.d.Part(ref); part != "" {
		flags = l.d.Esc.Line(strings.TrimSpace(string(part) + " " + flags.String()))
	}
	r.Cells[colOrigin], r.Cells[colFlags] = l.who.Cell(ref), flags
}

// cut leaves out the beginning of an id, whose end names the item.
func (l *items) cut(it item, column int, t safetext.Text, width int) safetext.Text {
	if column != colID || len(it.ID) > prose.MaxTitle {
		return t
	}
	return l.d.St.Tail(t, it.ID, "", width-1)
}

// share gives the title what the other columns leave, and the id a part of that.
func (l *items) share(fit list.Fit, room int) (widths []int, cuts bool) {
	tier, origin := list.Column{Most: 11, Least: 9}, pane.Origin // the detail says who wrote the item
	if l.At.Tier != "" {
		tier = list.Column{}
	}
	if l.d.Origins == nil {
		origin = list.Column{}
	}
	columns, order := []list.Column{tier, origin, {Most: 10, Least: 9}, {Most: 5, Least: 5}, {Most: 18, Least: 8}, {Least: 32}}, []int{colTier, colOrigin, colSize, colAge, colFlags, colTitle}
	var by list.Fit
	for _, column := range order[:min(len(fit), len(order))] {
		by = append(by, fit[column])
	}
	rest := room
	widths = make([]int, len(itemColumns))
	for i, of := range by.Widths(room, columns) {
		widths[order[i]] = of
		rest -= of
	}
	if id := fit.Width(colID, rest*9/20); rest >= 56 && id > 0 {
		widths[colID] = max(id, rest-fit.Width(colTitle, rest))
	}
	widths[colTitle] = rest - widths[colID]
	return widths, by.Cuts(room, columns)
}

// sign has the heading say which order the list is in.
func (l *items) sign() {
	of := map[model.Order]struct {
		column int
		down   bool
	}{model.OrderID: {colID, false}, model.OrderLargest: {colSize, true}, model.OrderNewest: {colAge, false}, model.OrderOldest: {colAge, true}}
	by, known := of[l.ordered()]
	l.Sign(by.column, by.down, known)
}

// briefBelow is the height of a preview that has no room for metadata.
const briefBelow = 16

func (l *items) Render(width, height int) ([]string, *tea.Position) {
	l.sign()
	l.Fitted() // a conflict may have become known
	return l.List.Render(width, height)
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
	if l.Hidden && !l.Full {
		out = append(out, withHidden)
	}
	switch {
	case strings.HasPrefix(l.Query, "!"):
		out = append(out, esc.Sprintf("/%s (in titles and ids)", esc.Line(l.Query)))
	case l.Query != "":
		out = append(out, esc.Sprintf("/%s", esc.Line(l.Query)))
	}
	out = append(append(out, l.Marks.Crumb(esc)...), l.Window.Looking(esc)...)
	if l.Full {
		out = append(out, esc.Line(l.refHere().ID))
	}
	return out
}

func (l *items) Position() (safetext.Text, bool) {
	if l.Full {
		return l.ItemPage.Position()
	}
	return l.d.Aged(l.place(), l.Pulse), l.Window.Busy()
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
