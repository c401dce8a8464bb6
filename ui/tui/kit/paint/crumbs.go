package paint

import (
	"slices"

	"memdesk/internal/safetext"
)

func (s *Styles) CrumbsWidth(crumbs []safetext.Text) int {
	n := (len(crumbs) - 1) * s.Glyphs.Crumb.Width()
	for _, c := range crumbs {
		n += s.Width(c)
	}
	return n
}

// Elide leaves out breadcrumbs in the middle until the rest fits: the pane and the current place
// say most. A place that is too long alone is cut in its middle, so that its name stays whole.
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
