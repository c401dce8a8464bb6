// Package paint holds the palette, the signs and the row. It accepts safe text only.
package paint

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
)

// Paint is a style as the bytes around a text: asking a style engine for each cell exceeds the budget.
type Paint struct {
	On, Off string
	bare    bool // its blanks look like any other
}

// newPaint takes the sequences that lipgloss writes around a text.
func newPaint(s lipgloss.Style) Paint {
	on, off, _ := strings.Cut(s.Render("x"), "x")
	_, plain := s.GetBackground().(lipgloss.NoColor)
	return Paint{on, off, plain && !s.GetUnderline() && !s.GetReverse()}
}

// glyphs are the program's own signs; in ASCII mode they are all ASCII.
type glyphs struct {
	Vertical, Horizontal safetext.Text
	tee                  safetext.Text // where a line leaves a border downwards
	Crumb, Dot, Point    safetext.Text
	Continued            safetext.Text // before a continued row
	section              safetext.Text
	Up, Down             safetext.Text          // there is more, above and below
	Corners              [4]string              // of a box
	Full, Rest           string                 // of a gauge
	Parts                [4]string              // of a gauge's cell: a fifth to four fifths
	State                [4]string              // before a state, by its tone
	Fold                 map[bool]safetext.Text // before a foldable row: whether it is open
	Guide                [3]string              // of a tree: past a branch, to a branch, to the last one
}

// Looks says how the screen may be painted, from options and environment.
type Looks struct {
	Colour, Ascii, Bare bool
	Theme               string
}

// MinWidth is the narrowest terminal drawn, in columns; from WideFrom on, a detail is beside its list.
const (
	MinWidth = 60
	WideFrom = 100
)

// Styles are the signs, which commands use too and which never change, and the one palette, which is the update
// loop's. Every coloured state has a word or a sign too.
type Styles struct {
	Esc      safetext.Escaper
	Glyphs   glyphs
	Clusters bool // the renderer measures grapheme clusters, because the terminal does
	paints
}

type paints struct {
	Plain, Dim, Strong   Paint
	Title, Heading       Paint
	Active, bar          Paint
	Good, Warn, Bad      Paint
	Key, Hint, Input     Paint
	match, Escape        Paint
	removed              Paint // in a comparison, beside Good
	addedWord            Paint
	removedWord          Paint
	Alarm                Paint // production
	shade                Paint // the screen behind a box
	Selected, selectedIn Paint // the row under the cursor: in the pane that has the focus, and elsewhere
}

func New(l Looks, dark bool) *Styles {
	return &Styles{Esc: safetext.Escaper{ASCII: l.Ascii}, Glyphs: newGlyphs(l.Ascii), paints: newPaints(l, dark)}
}

// Repaint takes over another theme or background; commands under way read the signs meanwhile.
func (s *Styles) Repaint(l Looks, dark bool) { s.paints = newPaints(l, dark) }

// newPaints builds the palette: without colour bold, faint, underline and reverse; with bare (--plain) nothing.
func newPaints(l Looks, dark bool) (s paints) {
	n := lipgloss.NewStyle
	switch {
	case l.Bare:
		return s
	case !l.Colour:
		s.Dim, s.Strong = newPaint(n().Faint(true)), newPaint(n().Bold(true))
		s.Title, s.Heading = s.Strong, newPaint(n().Bold(true).Underline(true))
		s.Active, s.bar = newPaint(n().Reverse(true)), Paint{}
		s.Warn, s.Bad = s.Strong, newPaint(n().Bold(true))
		s.Key, s.Hint, s.Input = s.Strong, s.Dim, newPaint(n().Underline(true))
		s.match, s.Escape = newPaint(n().Bold(true).Underline(true)), newPaint(n().Underline(true))
		s.removed, s.addedWord, s.removedWord = s.Bad, s.match, s.match
		s.Selected, s.selectedIn = newPaint(n().Reverse(true)), newPaint(n().Bold(true))
		s.Alarm, s.shade = newPaint(n().Reverse(true).Bold(true)), s.Dim
		return s
	}
	p := PaletteOf(l.Theme, dark)
	fg := func(c color.Color) lipgloss.Style { return n().Foreground(c) }
	s.Dim, s.Strong = newPaint(fg(p.Dim)), newPaint(n().Bold(true))
	s.Title, s.Heading = newPaint(fg(p.Accent).Bold(true)), newPaint(fg(p.Dim).Bold(true))
	s.Active = newPaint(n().Foreground(p.SelFg).Background(p.SelBg).Bold(true))
	s.bar = newPaint(n().Foreground(p.BarFg).Background(p.BarBg))
	s.Good, s.Warn, s.Bad = newPaint(fg(p.Good)), newPaint(fg(p.Warn)), newPaint(fg(p.Bad).Bold(true))
	s.Key, s.Hint, s.Input = newPaint(fg(p.Accent).Bold(true)), newPaint(fg(p.Dim)), s.bar
	s.match, s.Escape = newPaint(fg(p.Match).Bold(true).Underline(true)), newPaint(fg(p.Escape))
	s.removed = newPaint(fg(p.Bad))
	s.addedWord, s.removedWord = newPaint(fg(p.Good).Reverse(true)), newPaint(fg(p.Bad).Reverse(true))
	s.Selected = newPaint(n().Foreground(p.SelFg).Background(p.SelBg))
	s.selectedIn = newPaint(n().Foreground(p.BarFg).Background(p.BarBg))
	if l.Theme == ThemeHighContrast { // the background alone would not show this row
		s.selectedIn = newPaint(n().Foreground(p.BarFg).Background(p.BarBg).Underline(true))
	}
	s.Alarm, s.shade = newPaint(n().Foreground(p.AlarmFg).Background(p.AlarmBg).Bold(true)), newPaint(fg(p.Shade))
	return s
}

// Shaded is a finished line of the screen behind a box.
func (s *Styles) Shaded(line string) string { return s.shade.On + ansi.Strip(line) + s.shade.Off }

func newGlyphs(ascii bool) glyphs {
	if ascii {
		c := safetext.Const
		return glyphs{c("|"), c("-"), c("+"), c(" > "), c(" - "), c(">"), c("+ "), c("-- "), c("^"), c("v"), [4]string{"+", "+", "+", "+"}, "#", "-", [4]string{"-", "-", "#", "#"}, [4]string{"-", "!", "x", "+"}, map[bool]safetext.Text{false: c("+ "), true: c("- ")}, [3]string{"| ", "|-", "`-"}}
	}
	c := safetext.Const
	return glyphs{c("│"), c("─"), c("┬"), c(" › "), c(" · "), c("▌"), c("↳ "), c("── "), c("↑"), c("↓"), [4]string{"╭", "╮", "╰", "╯"}, "▆", "▁", [4]string{"▂", "▃", "▄", "▅"}, [4]string{"·", "▲", "✖", "●"}, map[bool]safetext.Text{false: c("▸ "), true: c("▾ ")}, [3]string{"│ ", "├ ", "└ "}}
}
