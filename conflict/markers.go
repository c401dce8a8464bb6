package conflict

import (
	"iter"
	"slices"
	"strings"

	"memdesk/conflict/merge"
	"memdesk/model"
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
	n := 0
	for range blocks(text) {
		n++
	}
	return n
}

// span is a line of a text, by its bytes, with its end.
type span struct{ from, to int }

// block is the marker lines of one conflict; older is empty where no ancestor stands between.
type block struct{ open, older, middle, shut span }

// blocks finds the conflicts that a merge left inside a text.
func blocks(text string) iter.Seq[block] {
	return func(yield func(block) bool) {
		at, state, fence := 0, 0, ""
		var b block
		for whole := range strings.Lines(text) {
			here := span{at, at + len(whole)}
			at = here.to
			line := strings.TrimSuffix(strings.TrimSuffix(whole, "\n"), "\r")
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
				b, state = block{open: here}, 1
			case state == 1 && (opens(line, '|') || line == "|||||||"):
				b.older = here
			case state == 1 && line == "=======":
				b.middle, state = here, 2
			case state == 2 && opens(line, '>'):
				if b.shut, state = here, 0; !yield(b) {
					return
				}
			}
		}
	}
}

// Inside splits a text at the conflicts that a merge left in it; sides are the names beside the markers of each
// hunk. It fails where a marker is left over, because nobody can tell then where a side ends.
func Inside(id, text string) (hunks []merge.Hunk, sides map[int][2]string, err error) {
	sides = map[int][2]string{}
	at := 0
	same := func(to int) {
		if lines := merge.Lines(text[at:to]); len(lines) > 0 {
			hunks = append(hunks, merge.Hunk{Left: lines, Right: lines})
		}
	}
	for b := range blocks(text) {
		same(b.open.from)
		h := merge.Hunk{Kind: merge.Conflict, Left: merge.Lines(text[b.open.to:b.middle.from]), Right: merge.Lines(text[b.middle.to:b.shut.from])}
		if b.older != (span{}) {
			h.Left = merge.Lines(text[b.open.to:b.older.from])
			h.Ancestor = append([]string{}, merge.Lines(text[b.older.to:b.middle.from])...) // an empty one is known too
		}
		sides[len(hunks)] = [2]string{strings.TrimSpace(text[b.open.from+8 : b.open.to]), strings.TrimSpace(text[b.shut.from+8 : b.shut.to])}
		hunks = append(hunks, h)
		at = b.shut.to
	}
	same(len(text))
	for _, h := range hunks {
		for _, line := range slices.Concat(h.Ancestor, h.Left, h.Right) {
			line = strings.TrimRight(line, "\r\n")
			if opens(line, '<') || opens(line, '>') || h.Open() && (line == "=======" || strings.HasPrefix(line, "|||||||")) {
				return nil, nil, model.Errorf(model.InvalidInput, "conflicts", "markers are left over beside whole ones")
			}
		}
	}
	choices := map[int]merge.Side{}
	for i := range sides {
		choices[i] = merge.TakeBoth
	}
	if both, _ := merge.Text(hunks, choices); len(sides) == 0 || Markers(id, both) > 0 {
		return nil, nil, model.Errorf(model.InvalidInput, "conflicts", "the markers enclose no two sides")
	}
	return hunks, sides, nil
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
