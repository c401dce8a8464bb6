// Package frontmatter divides a text into its front matter and its body. Formats with a stricter rule read
// theirs themselves: AgentM's notes, and the documents of package model.
package frontmatter

import "strings"

// Split returns the lines between the fences of a text, and the body behind them. A fence is three hyphens on
// a line; a byte order mark before the first, and blanks and CR behind each, do not matter. Without two fences
// the whole text is the body.
func Split(text string) (lines, body string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "\n")
	if !fence(first) {
		return "", text
	}
	at := 0
	for line := range strings.Lines(rest) {
		if fence(line) {
			return rest[:at], rest[at+len(line):]
		}
		at += len(line)
	}
	return "", text
}

func fence(line string) bool { return strings.TrimRight(line, " \t\r\n") == "---" }

// Pair reads a `name: value` line. The name keeps its indent, so that a nested one differs; the value is
// without the blanks and the quotes around it.
func Pair(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok {
		return "", "", false
	}
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	return name, value, ok
}
