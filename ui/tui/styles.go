package tui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"memdesk/internal/safetext"
)

// paint is one style of the palette, kept as the bytes around a text: a frame
// has hundreds of cells, and asking a style engine for each costs the budget.
type paint struct {
	on, off string
	bare    bool // a blank of it looks like any other
}

// newPaint takes the sequences that lipgloss writes around a text.
func newPaint(s lipgloss.Style) paint {
	on, off, _ := strings.Cut(s.Render("x"), "x")
	_, plain := s.GetBackground().(lipgloss.NoColor)
	return paint{on, off, plain && !s.GetUnderline() && !s.GetReverse()}
}

// glyphs are the program's own signs; in ASCII mode they are all ASCII.
type glyphs struct {
	vertical, horizontal safetext.Text
	crumb, dot, point    safetext.Text
	continued            safetext.Text // before a row that goes on from the row above
	section              safetext.Text
	up, down             safetext.Text // there is more, above and below
}

// styles is the one palette. Meaning is never by colour alone: every state that
// has a colour has a word or a sign too.
type styles struct {
	esc      safetext.Escaper
	glyphs   glyphs
	clusters bool // the renderer measures grapheme clusters, because the terminal does

	plain, dim, strong   paint
	title, heading       paint
	active, bar          paint
	good, warn, bad      paint
	key, hint, input     paint
	match, escape        paint
	alarm                paint // production
	selected, selectedIn paint // the row under the cursor: in the pane that has the focus, and elsewhere
}

// newStyles builds the palette: without colour only bold, faint, underline and
// reverse are used, with bare (--plain) nothing at all.
func newStyles(l looks, dark bool) *styles {
	s := &styles{esc: safetext.Escaper{ASCII: l.ascii}, glyphs: newGlyphs(l.ascii)}
	if l.spoken {
		s.esc.Words = spokenWords
	}
	n := lipgloss.NewStyle
	switch {
	case l.bare:
		return s
	case !l.colour:
		s.dim, s.strong = newPaint(n().Faint(true)), newPaint(n().Bold(true))
		s.title, s.heading = s.strong, newPaint(n().Bold(true).Underline(true))
		s.active, s.bar = newPaint(n().Reverse(true)), paint{}
		s.warn, s.bad = s.strong, newPaint(n().Bold(true))
		s.key, s.hint = s.strong, s.dim
		s.match, s.escape = newPaint(n().Bold(true).Underline(true)), newPaint(n().Underline(true))
		s.selected, s.selectedIn = newPaint(n().Reverse(true)), newPaint(n().Bold(true))
		s.alarm = newPaint(n().Reverse(true).Bold(true))
		return s
	}
	p := paletteOf(l.theme, dark)
	fg := func(c color.Color) lipgloss.Style { return n().Foreground(c) }
	s.dim, s.strong = newPaint(fg(p.dim)), newPaint(n().Bold(true))
	s.title, s.heading = newPaint(fg(p.accent).Bold(true)), newPaint(fg(p.dim).Bold(true))
	s.active = newPaint(n().Foreground(p.selFg).Background(p.selBg).Bold(true))
	s.bar = newPaint(n().Foreground(p.barFg).Background(p.barBg))
	s.good, s.warn, s.bad = newPaint(fg(p.good)), newPaint(fg(p.warn)), newPaint(fg(p.bad).Bold(true))
	s.key, s.hint, s.input = newPaint(fg(p.accent).Bold(true)), newPaint(fg(p.dim)), paint{}
	s.match, s.escape = newPaint(fg(p.match).Bold(true).Underline(true)), newPaint(fg(p.escape))
	s.selected = newPaint(n().Foreground(p.selFg).Background(p.selBg))
	s.selectedIn = newPaint(n().Foreground(p.barFg).Background(p.barBg))
	if l.theme == ThemeHighContrast { // the background alone would not tell this row
		s.selectedIn = newPaint(n().Foreground(p.barFg).Background(p.barBg).Underline(true))
	}
	s.alarm = newPaint(n().Foreground(p.alarmFg).Background(p.alarmBg).Bold(true))
	return s
}

func newGlyphs(ascii bool) glyphs {
	if ascii {
		c := safetext.Const
		return glyphs{c("|"), c("-"), c(" > "), c(" - "), c(">"), c("+ "), c("-- "), c("^"), c("v")}
	}
	c := safetext.Const
	return glyphs{c("│"), c("─"), c(" › "), c(" · "), c("▌"), c("↳ "), c("── "), c("↑"), c("↓")}
}
