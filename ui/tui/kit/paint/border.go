package paint

import (
	"slices"
	"strings"

	"memdesk/internal/safetext"
)

// Title is the text of the border above a pane.
type Title struct {
	Crumbs []safetext.Text // where the operator is, outermost first
	At     safetext.Text   // the position in the list or text
	Busy   bool            // something is being loaded
	Width  int
	// List is the width of the list beside a detail, 0 without one; Aside is the title of that detail.
	List  int
	Aside safetext.Text
}

// borderEnds are the columns of border, with a blank, before and after a title.
const borderEnds = 3

// Border draws the line above a pane; breadcrumbs without room over the list replace the detail's title.
func (s *Styles) Border(t Title) string {
	loading := s.Esc.Const("loading")
	need := borderEnds + s.CrumbsWidth(t.Crumbs) + 2 + max(t.At.Width(), loading.Width()) + borderEnds
	if t.List < need || t.List >= t.Width {
		return s.titled(t, t.Width)
	}
	aside := s.Row(t.Width-t.List).Put(s.Dim, s.Glyphs.tee)
	if !t.Aside.IsEmpty() {
		aside.Blank(1).Put(s.Heading, t.Aside).Blank(1)
	}
	return s.titled(t, t.List) + s.line(aside, aside.Left).End()
}

// titled is the border over the list. The sign of loading never moves breadcrumbs: it may replace the position.
func (s *Styles) titled(t Title, width int) string {
	loading := s.Esc.Const("loading")
	at, room := t.At, width-2*borderEnds-2
	end := min(max(at.Width(), loading.Width()), max(room/2, room-s.CrumbsWidth(t.Crumbs)))
	shown := s.Elide(t.Crumbs, room-end)
	if t.Busy {
		if both := s.Esc.Sprintf("%s  %s", loading, at); !at.IsEmpty() && s.CrumbsWidth(shown)+both.Width() <= room {
			at, end = both, both.Width()
		} else {
			at = loading
		}
	}
	at = s.trunc(at, end)
	head := s.Row(width-borderEnds).Put(s.Dim, s.Glyphs.section)
	last := len(shown) - 1
	for i, c := range shown {
		if i == last {
			head.Put(s.Title, s.trunc(c, max(head.Left-end-2, 1))) // the position keeps its room
			break
		}
		head.Put(s.Dim, c).Put(s.Dim, s.Glyphs.Crumb)
	}
	head.Blank(1)
	if at.IsEmpty() {
		return s.line(head, head.Left).End() + s.line(s.Row(borderEnds), borderEnds).End()
	}
	s.line(head, head.Left-s.Width(at)-1).Blank(1).Put(s.Plain, at)
	return head.End() + s.line(s.Row(borderEnds).Blank(1), borderEnds-1).End()
}

func (s *Styles) line(r *Row, n int) *Row {
	if n <= 0 {
		return r
	}
	return r.Put(s.Dim, s.Esc.Const(strings.Repeat(s.Glyphs.Horizontal.String(), n)))
}

func (s *Styles) CrumbsWidth(crumbs []safetext.Text) int {
	n := (len(crumbs) - 1) * s.Glyphs.Crumb.Width()
	for _, c := range crumbs {
		n += s.Width(c)
	}
	return n
}

// Elide leaves out breadcrumbs in the middle until the rest fits; a long place is cut in its own middle.
func (s *Styles) Elide(crumbs []safetext.Text, width int) []safetext.Text {
	last := len(crumbs) - 1
	if s.CrumbsWidth(crumbs) <= width || last < 1 {
		return crumbs
	}
	short := crumbs
	for drop := 1; drop < last && s.CrumbsWidth(short) > width; drop++ {
		short = append([]safetext.Text{crumbs[0], LeftOut(s.Esc)}, crumbs[1+drop:]...)
	}
	if over := s.CrumbsWidth(short) - width; over > 0 {
		short = slices.Clone(short)
		end := &short[len(short)-1]
		room := max(s.Width(*end)-over, 1)
		cut := s.Esc.TruncMiddle(*end, room)
		for n := room - 1; n > 0 && s.Width(cut) > room; n-- {
			cut = s.Esc.TruncMiddle(*end, n)
		}
		*end = cut
	}
	return short
}
