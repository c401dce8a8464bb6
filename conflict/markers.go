package conflict

import (
	"strings"
)

// Markers counts the conflict blocks that a merge left inside a text. In lines of JSON every line that begins
// with seven of < = > is one, since no JSON value does; elsewhere the ordered triple at the line's start,
// outside fenced code, because seven = alone underline a heading (conflict-names.md, In-file markers).
func Markers(id, text string) int {
	if !strings.Contains(text, "<<<<<<<") && !strings.Contains(text, ">>>>>>>") && !strings.Contains(text, "=======") {
		return 0
	}
	if name := strings.ToLower(id); strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		return markedJSON(text)
	}
	return markedText(text)
}

func markedJSON(text string) int {
	blocks, stray := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "<<<<<<<"):
			blocks++
		case strings.HasPrefix(line, "======="), strings.HasPrefix(line, ">>>>>>>"):
			stray = 1
		}
	}
	return max(blocks, stray)
}

func markedText(text string) int {
	blocks, state := 0, 0
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if state == 0 {
			if mark := fenceOf(line); mark != "" {
				switch {
				case fence == "":
					fence = mark
				case mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(line, " "+mark[:1]) == "":
					fence = ""
				}
				continue
			}
			if fence != "" {
				continue
			}
		}
		switch {
		case opens(line, '<'):
			state = 1
		case state == 1 && line == "=======":
			state = 2
		case state == 2 && opens(line, '>'):
			blocks++
			state = 0
		}
	}
	return blocks
}

// opens is a line of exactly seven c, then a space.
func opens(line string, c byte) bool {
	return len(line) > 7 && line[7] == ' ' && strings.Trim(line[:7], string(c)) == ""
}

// fenceOf is the run of backticks or tildes that opens or closes a code block.
func fenceOf(line string) string {
	s := strings.TrimLeft(line, " ")
	if len(line)-len(s) > 3 || s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	if n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return ""
	}
	return s[:n]
}
