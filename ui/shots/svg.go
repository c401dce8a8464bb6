package main

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"regexp"
	"strings"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// The picture's cell, in SVG units.
const cellW, cellH = 8.4, 18.0

const (
	paper = "#16191E"
	ink   = "#D8DEE6"
)

// steady lists the texts that differ between two runs, with replacements of equal length: the time a
// store took, ids and hashes, the free disk space.
var steady = []struct {
	what    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(` *\b\d+ ms\b`), "1 ms"},
	{regexp.MustCompile(`. 1 check: median 1 ms, slowest \d+`), "▁ 1 check: median 1 ms, slowest 1"}, // the unit is on the next line
	{regexp.MustCompile(`\ber-\d{8}-[0-9a-f]{8}\b`), "er-20260521-5c0ffee5"},
	{regexp.MustCompile(`\b[0-9a-f]{11,}\b`), "9f3c41d07a5be2866d1f08c4b7e359a2d64b90f1c82e7a35"},
	{regexp.MustCompile(`\b\d+\.\d GB\b`), "71.4 GB"},
}

// answered is a time in a sentence, of varying length.
var answered = regexp.MustCompile(`(\bhits?,|\bwas \w+,) \d+ ms`)

func steadied(s string) string {
	for _, c := range steady {
		s = c.what.ReplaceAllStringFunc(s, func(old string) string {
			n := utf8.RuneCountInString(old)
			return fmt.Sprintf("%*s", n, string([]rune(c.instead)[:min(utf8.RuneCountInString(c.instead), n)]))
		})
	}
	return s
}

// draw returns the screen as SVG: runs of cells with one style.
func draw(e *vt.Emulator) string {
	var b strings.Builder
	w, h := float64(e.Width())*cellW+24, float64(e.Height())*cellH+24
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", w, h)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" rx="8" fill="%s"/>`+"\n", w, h, paper)
	for y := range e.Height() {
		row(&b, e, y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

type stretch struct {
	text  string
	x, n  int
	style uv.Style
}

func row(b *strings.Builder, e *vt.Emulator, y int) {
	var runs []stretch
	for x := 0; x < e.Width(); {
		c := e.CellAt(x, y)
		text, style, n := " ", uv.Style{}, 1
		if c != nil && c.Content != "" {
			text, style, n = c.Content, c.Style, max(c.Width, 1)
		} else if c != nil {
			style = c.Style
		}
		if last := len(runs) - 1; last >= 0 && runs[last].style.Equal(&style) {
			runs[last].text += text
			runs[last].n += n
		} else {
			runs = append(runs, stretch{text, x, n, style})
		}
		x += n
	}
	top := 12 + float64(y)*cellH
	for _, r := range runs {
		if short := answered.ReplaceAllString(r.text, "$1 1 ms"); short != r.text {
			r.n += utf8.RuneCountInString(short) - utf8.RuneCountInString(r.text)
			r.text = short
		}
		fg, bg := paint(r.style.Fg, ink), paint(r.style.Bg, "")
		if r.style.Attrs&uv.AttrReverse != 0 {
			fg, bg = cmp.Or(bg, paper), fg
		}
		left, wide := 12+float64(r.x)*cellW, float64(r.n)*cellW
		if bg != "" {
			fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, wide, cellH, bg)
		}
		text := steadied(r.text)
		if strings.TrimSpace(text) == "" {
			continue
		}
		extra := ""
		if r.style.Attrs&uv.AttrBold != 0 {
			extra += ` font-weight="bold"`
		}
		if r.style.Underline != uv.UnderlineNone {
			extra += ` text-decoration="underline"`
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
			left, top+cellH*0.75, wide, fg, extra, html.EscapeString(text))
	}
}

func paint(c color.Color, none string) string {
	if c == nil {
		return none
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8)
}
