package text

import (
	"slices"
	"strings"
	"unicode"

	"memdesk/ui/tui/kit/paint"
)

// diffLooks are the looks of the first line of a unified diff, and of the words that changed in it.
func diffLooks(rest string) (whole, words paint.Look) {
	switch {
	case rest == "":
	case strings.HasPrefix(rest, "--- "), strings.HasPrefix(rest, "+++ "): // a changed line has a blank after its sign
		return paint.LookStrong, paint.LookMark
	case rest[0] == '+':
		return paint.LookAdded, paint.LookAddedWord
	case rest[0] == '-':
		return paint.LookRemoved, paint.LookRemovedWord
	case rest[0] == '@', rest[0] == '#':
		return paint.LookPlace, paint.LookMark
	case rest[0] == '\\':
		return paint.LookDim, paint.LookMark
	}
	return paint.LookPlain, paint.LookMark
}

// marksIn returns the marks that touch a part of the body, cut to it.
func (t *Page) marksIn(start, end int) []Mark {
	i, _ := slices.BinarySearchFunc(t.Marks, start, func(m Mark, at int) int {
		if m.End <= at {
			return -1
		}
		return 1
	})
	var out []Mark
	for ; i < len(t.Marks) && t.Marks[i].Start < end; i++ {
		if m := (Mark{max(t.Marks[i].Start, start), min(t.Marks[i].End, end)}); m.Start < m.End {
			out = append(out, m)
		}
	}
	return out
}

// indexFences notes for each block whether it begins inside fenced code. It reads the whole body, in a command.
func (t *Page) indexFences() {
	inside := false
	for at := 0; at < len(t.Body); at += blockBytes {
		t.fences = append(t.fences, inside)
		inside = inside != (t.fencesIn(at, min(at+blockBytes, len(t.Body)))%2 == 1)
	}
}

// fencesIn counts the lines that open or close fenced code and begin in a part of the body.
func (t *Page) fencesIn(start, end int) int {
	n := 0
	for at := start; at < end; {
		i := strings.Index(t.Body[at:min(end+len(fenceSign)-1, len(t.Body))], fenceSign)
		if i < 0 {
			break
		}
		at += i
		if t.lineBegins(at) {
			n++
		}
		at += len(fenceSign)
	}
	return n
}

const fenceSign = "```"

// lineBegins reports whether at most three blanks stand between at and the start of its line.
func (t *Page) lineBegins(at int) bool {
	for n := 0; n <= 3; n++ {
		switch {
		case at-n == 0 || t.Body[at-n-1] == '\n':
			return true
		case t.Body[at-n-1] != ' ':
			return false
		}
	}
	return false
}

// Fenced reports whether the line at off is inside fenced code.
func (t *Page) Fenced(off int) bool {
	if len(t.fences) == 0 {
		return false
	}
	b := min(off/blockBytes, len(t.fences)-1)
	return t.fences[b] != (t.fencesIn(b*blockBytes, off)%2 == 1)
}

// MarkdownLine draws one line of markdown, in a text of any size; unknown markup stays as it is.
func MarkdownLine(raw string, inCode, ascii bool) (string, paint.Look, []paint.Stretch) {
	body := strings.TrimLeft(raw, " ")
	indent := raw[:len(raw)-len(body)]
	switch {
	case strings.HasPrefix(body, fenceSign) && len(indent) <= 3:
		return raw, paint.LookDim, nil
	case inCode:
		return "    " + raw, paint.LookCode, nil
	case strings.HasPrefix(body, "#"):
		if title := strings.TrimLeft(body, "#"); len(body)-len(title) <= 6 && strings.HasPrefix(title, " ") {
			if !ascii { // in ASCII the look alone may be missing, so the sign stays
				body = strings.TrimLeft(title, " ")
			}
			text, runs := inline(indent + body)
			return text, paint.LookHeading, runs
		}
	case isRule(body):
		return strings.Repeat("-", 40), paint.LookDim, nil
	case strings.HasPrefix(body, "> "), body == ">":
		text, runs := inline(raw)
		return text, paint.LookDim, runs
	case len(body) > 2 && strings.ContainsRune("-*+", rune(body[0])) && body[1] == ' ':
		sign := "•"
		if ascii {
			sign = "*"
		}
		rest := body[2:]
		switch {
		case strings.HasPrefix(rest, "[ ] "):
			sign, rest = "[ ]", rest[4:]
		case strings.HasPrefix(rest, "[x] "), strings.HasPrefix(rest, "[X] "):
			sign, rest = "[x]", rest[4:]
		}
		lead := indent + sign + " "
		text, runs := inline(rest)
		for i := range runs {
			runs[i].Start += len(lead)
			runs[i].End += len(lead)
		}
		return lead + text, paint.LookPlain, runs
	}
	text, runs := inline(raw)
	return text, paint.LookPlain, runs
}

// isRule reports a thematic break: three or more of the same -, * or _.
func isRule(body string) bool {
	s := strings.ReplaceAll(body, " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// inline draws code, emphasis and links. A link shows its target as text: it never becomes one of the terminal.
func inline(s string) (string, []paint.Stretch) {
	var b strings.Builder
	var runs []paint.Stretch
	put := func(text string, l paint.Look) {
		if l != paint.LookPlain {
			runs = append(runs, paint.Stretch{Start: b.Len(), End: b.Len() + len(text), Look: l})
		}
		b.WriteString(text)
	}
	for at := 0; at < len(s); {
		text, l, n := token(s[at:], at > 0 && word(s[at-1]))
		put(text, l)
		at += n
		if l == paint.LookLink { // the target follows
			if to, width, ok := linkTarget(s[at:]); ok {
				put(" ("+to+")", paint.LookDim)
				at += width
			}
		}
	}
	return b.String(), runs
}

// token is the next part of a line with its look, and its length in the line.
func token(s string, inWord bool) (text string, l paint.Look, n int) {
	switch {
	case s[0] == '\\' && len(s) > 1 && strings.IndexByte("\\`*_[]()#", s[1]) >= 0:
		return s[:2], paint.LookPlain, 2
	case s[0] == '`':
		if end := strings.IndexByte(s[1:], '`'); end > 0 {
			return s[1 : end+1], paint.LookCode, end + 2
		}
	case strings.HasPrefix(s, "**"), strings.HasPrefix(s, "__") && !inWord:
		if end := strings.Index(s[2:], s[:2]); end > 0 && s[2] != ' ' {
			return s[2 : end+2], paint.LookStrong, end + 4
		}
		return s[:2], paint.LookPlain, 2
	case s[0] == '*' && !inWord, s[0] == '_' && !inWord:
		if end := strings.IndexByte(s[1:], s[0]); end > 0 && s[1] != ' ' && s[end] != ' ' {
			return s[1 : end+1], paint.LookStrong, end + 2
		}
	case s[0] == '[':
		if end := strings.IndexByte(s, ']'); end > 1 {
			if _, _, ok := linkTarget(s[end+1:]); ok {
				return s[1:end], paint.LookLink, end + 1
			}
		}
	}
	n = 1
	for n < len(s) && strings.IndexByte("\\`*_[", s[n]) < 0 {
		n++
	}
	return s[:n], paint.LookPlain, n
}

// linkTarget is the text in parentheses at the start of s.
func linkTarget(s string) (string, int, bool) {
	if !strings.HasPrefix(s, "(") {
		return "", 0, false
	}
	end := strings.IndexByte(s, ')')
	return s[1:max(end, 1)], end + 1, end > 0
}

func word(c byte) bool { return unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) || c >= 0x80 }
