package tui

import (
	"memdesk/internal/safetext"
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
