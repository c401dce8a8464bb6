package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// line is one curve: a value for each size.
type line struct {
	Name string  `json:"name"`
	Peer bool    `json:"peer,omitempty"` // drawn dashed
	At   []point `json:"at"`             // by size
}

type point struct {
	Size  int     `json:"size"`
	Value float64 `json:"value"` // milliseconds or megabytes
	Load  float64 `json:"load"`  // of the machine
}

// slope is the exponent of the growth from the first to the last size: 0 is flat, 1 proportional.
func (l line) slope() float64 {
	if len(l.At) < 2 {
		return math.NaN()
	}
	a, b := l.At[0], l.At[len(l.At)-1]
	return math.Log(b.Value/a.Value) / math.Log(float64(b.Size)/float64(a.Size))
}

// The page of a chart, in pixels.
const (
	width, height          = 720, 400
	left, right, top, foot = 88, 210, 40, 50
)

var colours = []string{"#1b6ca8", "#c2571a", "#2e7d32", "#7b3fa0", "#8d6e00"}

// plot draws lines over logarithmic axes as SVG.
func plot(title, unit string, lines []line) string {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		for _, p := range l.At {
			x, y := math.Log10(float64(p.Size)), math.Log10(p.Value)
			lowX, highX, lowY, highY = min(lowX, x), max(highX, x), min(lowY, y), max(highY, y)
		}
	}
	lowY, highY = math.Floor(lowY), math.Ceil(highY)
	if highY == lowY {
		highY++
	}
	if highX == lowX {
		highX++
	}
	x := func(size int) float64 {
		return left + (math.Log10(float64(size))-lowX)/(highX-lowX)*(width-left-right)
	}
	y := func(v float64) float64 { return height - foot - (math.Log10(v)-lowY)/(highY-lowY)*(height-top-foot) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img" aria-label="%s">`+"\n", width, height, title)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/><text x="%d" y="22" font-size="15" fill="#222">%s</text>`+"\n", width, height, left, title)
	for e := lowY; e <= highY; e++ {
		at := y(math.Pow(10, e))
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end" fill="#444">%s %s</text>`+"\n", left, width-right, at, at, left-6, at+4, number(math.Pow(10, e)), unit)
	}
	for e := math.Ceil(lowX); e <= highX; e++ {
		at := x(int(math.Round(math.Pow(10, e))))
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle" fill="#444">%s</text>`+"\n", at, at, top, height-foot, at, height-foot+18, grouped(int(math.Round(math.Pow(10, e)))))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle" fill="#444">items, files or records</text>`+"\n", (left+width-right)/2, height-12)
	ends := make([]float64, 0, len(lines))
	for i, l := range lines {
		if len(l.At) == 0 {
			continue
		}
		colour, dash := colours[i/2%len(colours)], ""
		if l.Peer {
			dash = ` stroke-dasharray="5 4"`
		}
		var path []string
		for _, p := range l.At {
			path = append(path, fmt.Sprintf("%.1f,%.1f", x(p.Size), y(p.Value)))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x(p.Size), y(p.Value), colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(path, " "), colour, dash)
		end := y(l.At[len(l.At)-1].Value)
		for slices.ContainsFunc(ends, func(other float64) bool { return math.Abs(other-end) < 14 }) { // names do not lie on each other
			end += 3
		}
		ends = append(ends, end)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" fill="%s">%s</text>`+"\n", width-right+8, end+4, colour, l.Name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// number writes a value with its significant digits.
func number(v float64) string {
	switch {
	case v >= 100:
		return grouped(int(math.Round(v)))
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	}
	return fmt.Sprintf("%.2g", v)
}

func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
