// Package title makes the title that a list shows for a text that has none of its
// own.
package title

import "strings"

// Runes is the longest title, in characters.
const Runes = 120

// looked is how much of a text, in bytes, is looked at for a heading.
const looked = 4096

// Line is the first line that is not blank, cut to Runes.
func Line(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return Cut(line)
		}
	}
	return ""
}

// Heading is the first heading of a Markdown text, outside of code blocks, else the
// first line that says anything, cut to Runes.
func Heading(text string) string {
	if len(text) > looked {
		text = strings.ToValidUTF8(text[:looked], "") // the cut may divide a character
	}
	first, fence := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch mark := fenceOf(line); {
		case fence == "" && mark != "":
			fence = mark
			continue
		case fence != "" && strings.HasPrefix(mark, fence) && mark == line:
			fence = ""
			continue
		}
		if h := strings.TrimSpace(strings.TrimLeft(line, "#")); fence == "" && h != "" && strings.HasPrefix(line, "#") {
			return Cut(h)
		}
		if first == "" && line != "---" {
			first = line
		}
	}
	return Cut(first)
}

// fenceOf is the mark at a line's start that begins or ends a code block: three or more of ` or ~.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if mark := line[:len(line)-len(strings.TrimLeft(line, c))]; len(mark) >= 3 {
			return mark
		}
	}
	return ""
}

// Cut keeps the first Runes characters; where more was there, the last of them is …
func Cut(s string) string {
	n, keep := 0, 0
	for i := range s {
		if n == Runes-1 {
			keep = i
		}
		if n == Runes {
			return s[:keep] + "…"
		}
		n++
	}
	return s
}
