package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// render draws the question, which may be cut and says so, then fields and buttons, which never are.
func (d *Dialog) render(st *paint.Styles, width, height int) ([]string, *tea.Position) {
	answers, cursor := d.answers(st, width)
	gap := 1 // a blank line above them
	if height <= 12 {
		gap = 0
	}
	var out []string
	room := height - len(answers) - gap
	share := func() int {
		if d.Pager == nil {
			return room
		}
		return max(room/2, room-d.bodyRows()-1)
	}
	var pinned []string
	if len(paragraphs(st, d.Lines, width)) > share() { // a scrolling question keeps the line of the environment in sight
		pinned = paragraphs(st, slices.DeleteFunc(slices.Clone(d.Lines), func(l text.Line) bool { return !l.Pin }), width)
		room -= len(pinned)
	}
	out = append(out, d.question(st, width, max(share(), 1))...)
	if d.Pager != nil {
		left := max(height-len(out)-1-len(pinned)-len(answers)-gap, 1)
		d.Pager.Height = left
		d.aim(left)
		out = append(out, st.Rule(d.bodySign(st), width))
		out = append(out, d.Pager.Framed(width, min(left, max(d.bodyRows(), 1)))...)
	}
	out = append(out, pinned...)
	for range gap {
		out = append(out, st.Row(width).End())
	}
	if cursor != nil {
		cursor.Y += len(out)
	}
	return st.FillTo(append(out, answers...), width, height), cursor
}

func (d *Dialog) answers(st *paint.Styles, width int) (out []string, cursor *tea.Position) {
	at := d.here()
	line := func(s stop, label safetext.Text, in *text.Input) {
		r, prompt := st.Row(width), label
		if in.Focus = at == s && d.Armed; in.Focus { // the terminal's own cursor may be hidden
			r.Put(st.Selected, st.Esc.Concat(st.Glyphs.Point, label))
			prompt = safetext.Text{}
		} else {
			r.Blank(1)
		}
		col := in.Render(r, prompt, safetext.Text{}) + label.Width() - prompt.Width()
		if in.Focus {
			cursor = &tea.Position{X: col + 1, Y: len(out)}
		}
		r.Lit(st.Input, strings.Repeat(" ", max(r.Left-1, 0))) // the rest of the field
		out = append(out, r.End())
	}
	labels := d.labels(st)
	for i := range d.Fields {
		line(stop{onField, i}, labels[i], &d.Fields[i].Input)
		if wrong := d.Fields[i].Wrong; !wrong.IsEmpty() {
			out = append(out, st.Row(width).Blank(1+labels[i].Width()).Put(st.Bad, st.Badge(paint.ToneBad, wrong)).End())
		}
	}
	label := st.Esc.Const("reason (optional): ")
	if d.Must {
		label = st.Esc.Const("reason (required): ")
	}
	if !d.NoReason {
		line(stop{onReason, 0}, label, &d.Reason)
	}
	if !d.Name.IsEmpty() {
		line(stop{onName, 0}, st.Esc.Sprintf("type %s to confirm: ", d.Name), &d.typed)
	}
	return append(out, d.buttons(st, width)), cursor
}

// labels are the labels of the fields; in a form the inputs align below each other.
func (d *Dialog) labels(st *paint.Styles) []safetext.Text {
	out, widest := make([]safetext.Text, len(d.Fields)), 0
	for i, f := range d.Fields {
		out[i], widest = f.Label, max(widest, f.Label.Width())
	}
	for i := range out {
		if d.Form {
			out[i] = st.Esc.Pad(out[i], widest)
		}
	}
	return out
}

// fewRows is the number of rows from which a text can begin with its file heads.
const fewRows = 8

// aim starts a difference with few rows at its first change; the part above is a PgUp away.
func (d *Dialog) aim(room int) {
	p := d.Pager
	if d.aimed || p.Shown != p.Text || len(p.Rows) == 0 {
		return
	}
	d.aimed = true
	if room >= fewRows || len(p.Rows) <= room || p.Text.Kind != text.Diff || p.Top > 0 {
		return
	}
	at := firstChange(p.Text.Body)
	if i := slices.IndexFunc(p.Rows, func(r text.Wrapped) bool { return at >= 0 && r.At.Off >= at }); i > 0 {
		p.Top = i
		p.Clamp()
	}
}

// firstChange is the offset of the first added or removed line of a difference; -1: none.
func firstChange(body string) int {
	at := 0
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "+ ") {
			return at
		}
		at += len(line)
	}
	return -1
}

// bodySign says how much is off the screen, of the question first, as PgDn shows that first; empty: nothing.
func (d *Dialog) bodySign(st *paint.Styles) safetext.Text {
	if end := d.above + d.room; end < d.rows {
		return more(st, st.Esc.Sprintf("question %d to %d of %d", d.above+1, end, d.rows), false, true)
	}
	p := d.Pager
	whole := p.AtStart() && p.AtEnd()
	if p.Shown != p.Text || len(p.Rows) == 0 || whole && len(p.Rows) <= p.Height {
		return safetext.Text{}
	}
	where, end := p.Position(), min(p.Top+p.Height, len(p.Rows))
	if whole {
		where = st.Esc.Sprintf("%d to %d of %d", p.Top+1, end, len(p.Rows))
	}
	return more(st, where, p.Top > 0 || !p.AtStart(), !p.AtEnd() || p.Top+p.Height < len(p.Rows))
}

// more adds to a place the keys that go on from there.
func more(st *paint.Styles, where safetext.Text, above, below bool) safetext.Text {
	switch {
	case !below:
		return st.Esc.Sprintf("%s, the end: PgUp", where)
	case !above:
		return st.Esc.Sprintf("%s, more: PgDn", where)
	}
	return st.Esc.Sprintf("%s, more: PgDn, PgUp", where)
}

// bodyRows is the number of rows of the text that are laid out.
func (d *Dialog) bodyRows() int { return max(len(d.Pager.Rows), 1) }

func paragraphs(st *paint.Styles, lines []text.Line, width int) []string {
	var out []string
	for _, l := range lines {
		out = append(out, text.Paragraph(st, l, width)...)
	}
	return out
}

// question draws the lines in at most room rows. The rest scrolls, and warnings follow the first two.
func (d *Dialog) question(st *paint.Styles, width, room int) []string {
	out := paragraphs(st, d.Lines, width)
	d.above, d.rows, d.room = min(d.above, max(len(out)-1, 0)), len(out), room
	if len(out) <= room {
		d.above = 0
		return out
	}
	lines := slices.DeleteFunc(slices.Clone(d.Lines), func(l text.Line) bool { return l.Pin })
	rank := func(l text.Line) int {
		switch l.Kind {
		case text.Alert, text.Warn, text.Bad:
			return 0
		case text.Note:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(lines[min(len(lines), 2):], func(a, b text.Line) int { return rank(a) - rank(b) })
	out = paragraphs(st, lines, width)
	if d.rows = len(out); d.rows <= room || d.Pager != nil { // the rule of a text has the sign for more
		d.above = max(min(d.above, d.rows-room), 0)
		return out[d.above:min(d.above+room, d.rows)]
	}
	d.room = max(room-1, 1)
	d.above = min(d.above, d.rows-d.room)
	end := min(d.above+room-1, d.rows)
	sign := st.Esc.Const("there is more: PgDn, or a taller window")
	if room > 1 {
		sign = more(st, st.Esc.Sprintf("%d to %d of %d", d.above+1, end, d.rows), d.above > 0, end < d.rows)
	}
	return append(slices.Clone(out[d.above:end]), st.Row(width).Blank(1).Put(st.Warn, sign).End())
}

// scroll moves the question, and at its end the text under it.
func (d *Dialog) scroll(by int) tea.Cmd {
	last := max(d.rows-d.room, 0)
	at := max(min(d.above+by*max(d.room-1, 1), last), 0)
	switch {
	case d.Pager == nil, by > 0 && at != d.above, by < 0 && d.Pager.Top == 0 && d.Pager.AtStart():
		d.above = at
		return nil
	}
	return d.Pager.Page(float64(by))
}

// scrolls reports whether a part of the dialog is off the screen.
func (d *Dialog) scrolls() bool { return d.Pager != nil || d.rows > d.room }

// least is the columns without which a label or a button would be cut.
func (d *Dialog) least(st *paint.Styles) int {
	const input = 16 // columns to type in
	n := 1 + len(" Cancel ")
	for _, c := range d.Choices {
		n += 2 + len(c.Verb) + 2
	}
	for _, f := range d.Fields {
		n = max(n, f.Label.Width()+input)
	}
	return max(n, paint.MinWidth*3/4, st.Width(d.Name)+len("type  to confirm: ")+input)
}

// buttons draws brackets around the button at the cursor, so that it is plain without colour too.
func (d *Dialog) buttons(st *paint.Styles, width int) string {
	r := st.Row(width).Blank(1)
	button := func(s stop, word string) {
		if d.here() == s {
			r.Lit(st.Active, "["+word+"]")
		} else {
			r.Lit(st.Plain, " "+word+" ")
		}
		r.Blank(2)
	}
	button(stop{onCancel, 0}, "Cancel")
	for i, c := range d.Choices {
		button(stop{onChoice, i}, c.Verb)
	}
	switch {
	case d.Busy && d.stopping:
		r.Lit(st.Dim, "stopping")
	case d.Busy && d.Progress != nil:
		r.Put(st.Dim, st.Esc.Sprintf("%s; esc stops it", d.Progress()))
	case d.Busy && d.Stop != nil:
		r.Lit(st.Dim, "under way; esc stops it")
	case d.Busy:
		r.Lit(st.Dim, "under way")
	case !d.Armed:
		r.Lit(st.Dim, "a moment, then keys count")
	}
	return r.End()
}
