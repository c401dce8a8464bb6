package tui

import (
	"slices"
	"strings"
	"unicode"
)

// look is what a part of a body is, as far as that is painted. Every look has a
// sign in the text too.
type look int

const (
	lookPlain look = iota
	lookMark       // matched by a rule, changed in a line
	lookAdded
	lookRemoved
	lookPlace // the head of a hunk
	lookHeading
	lookCode
	lookStrong
	lookLink
	lookDim
	lookFound // what is looked for
	lookHere  // and where the search stands
)

// stretch is a part of a text that has a look of its own.
type stretch struct {
	start, end int
	look       look
}

// paintOf gives the palette's paint for a look.
func (s *styles) paintOf(l look) paint {
	switch l {
	case lookMark:
		return s.match
	case lookAdded:
		return s.good
	case lookRemoved:
		return s.bad
	case lookPlace, lookHeading:
		return s.title
	case lookCode, lookLink:
		return s.key
	case lookStrong:
		return s.strong
	case lookDim:
		return s.dim
	case lookFound:
		return s.match
	case lookHere:
		return s.selected
	}
	return paint{}
}

// diffLook tells what a line of a unified diff is by its first character.
func diffLook(raw string, cont bool) look {
	switch {
	case cont || raw == "":
		return lookPlain
	case strings.HasPrefix(raw, "+++ "), strings.HasPrefix(raw, "--- "):
		return lookStrong
	case raw[0] == '+':
		return lookAdded
	case raw[0] == '-':
		return lookRemoved
	case raw[0] == '@', raw[0] == '#':
		return lookPlace
	case raw[0] == '\\':
		return lookDim
	}
	return lookPlain
}

// marksIn are the marks that touch a part of the body, cut to it.
func (t *text) marksIn(start, end int) []mark {
	i, _ := slices.BinarySearchFunc(t.marks, start, func(m mark, at int) int {
		if m.end <= at {
			return -1
		}
		return 1
	})
	var out []mark
	for ; i < len(t.marks) && t.marks[i].start < end; i++ {
		if m := (mark{max(t.marks[i].start, start), min(t.marks[i].end, end)}); m.start < m.end {
			out = append(out, m)
		}
	}
	return out
}

// indexFences finds out for each block whether it begins inside of fenced code.
// It reads the body once, so it belongs in a command.
func (t *text) indexFences() {
	inside := false
	for at := 0; at < len(t.body); at += blockBytes {
		t.fences = append(t.fences, inside)
		inside = inside != (t.fencesIn(at, min(at+blockBytes, len(t.body)))%2 == 1)
	}
}

// fencesIn counts the lines that open or close fenced code and begin in a part of
// the body.
func (t *text) fencesIn(start, end int) int {
	n := 0
	for at := start; at < end; {
		i := strings.Index(t.body[at:min(end+len(fenceSign)-1, len(t.body))], fenceSign)
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

// fenceSign opens and closes code.
const fenceSign = "```"

// lineBegins reports whether there are at most three blanks between at and the
// start of its line.
func (t *text) lineBegins(at int) bool {
	for n := 0; n <= 3; n++ {
		switch {
		case at-n == 0 || t.body[at-n-1] == '\n':
			return true
		case t.body[at-n-1] != ' ':
			return false
		}
	}
	return false
}

// fenced reports whether the line at off stands inside of fenced code.
func (t *text) fenced(off int) bool {
	if len(t.fences) == 0 {
		return false
	}
	b := min(off/blockBytes, len(t.fences)-1)
	return t.fences[b] != (t.fencesIn(b*blockBytes, off)%2 == 1)
}

// markdownLine draws one line of markdown. It works line by line, so that a window
// of a text of any size costs the same; what it does not know stays as it is.
func markdownLine(raw string, inCode, ascii bool) (string, look, []stretch) {
	body := strings.TrimLeft(raw, " ")
	indent := raw[:len(raw)-len(body)]
	switch {
	case strings.HasPrefix(body, fenceSign) && len(indent) <= 3:
		return raw, lookDim, nil
	case inCode:
		return "    " + raw, lookCode, nil
	case strings.HasPrefix(body, "#"):
		if title := strings.TrimLeft(body, "#"); len(body)-len(title) <= 6 && strings.HasPrefix(title, " ") {
			if !ascii { // there the look alone would tell a heading, and it may have none
				body = strings.TrimLeft(title, " ")
			}
			text, runs := inline(indent + body)
			return text, lookHeading, runs
		}
	case rule(body):
		return strings.Repeat("-", 40), lookDim, nil
	case strings.HasPrefix(body, "> "), body == ">":
		text, runs := inline(raw)
		return text, lookDim, runs
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
			runs[i].start += len(lead)
			runs[i].end += len(lead)
		}
		return lead + text, lookPlain, runs
	}
	text, runs := inline(raw)
	return text, lookPlain, runs
}

// rule tells a line of at least three equal signs.
func rule(body string) bool {
	s := strings.ReplaceAll(body, " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// inline draws code, emphasis and links inside of a line. A link shows its target
// as text: nothing of a store becomes a hyperlink of the terminal.
func inline(s string) (string, []stretch) {
	var b strings.Builder
	var runs []stretch
	put := func(text string, l look) {
		if l != lookPlain {
			runs = append(runs, stretch{b.Len(), b.Len() + len(text), l})
		}
		b.WriteString(text)
	}
	for at := 0; at < len(s); {
		text, l, n := token(s[at:], at > 0 && word(s[at-1]))
		put(text, l)
		at += n
		if l == lookLink { // the target follows
			if to, width, ok := linkTarget(s[at:]); ok {
				put(" ("+to+")", lookDim)
				at += width
			}
		}
	}
	return b.String(), runs
}

// token is the next part of a line with its look, and how much of the line it
// takes.
func token(s string, inWord bool) (text string, l look, n int) {
	switch {
	case s[0] == '\\' && len(s) > 1 && strings.IndexByte("\\`*_[]()#", s[1]) >= 0:
		return s[:2], lookPlain, 2
	case s[0] == '`':
		if end := strings.IndexByte(s[1:], '`'); end > 0 {
			return s[1 : end+1], lookCode, end + 2
		}
	case strings.HasPrefix(s, "**"), strings.HasPrefix(s, "__") && !inWord:
		if end := strings.Index(s[2:], s[:2]); end > 0 && s[2] != ' ' {
			return s[2 : end+2], lookStrong, end + 4
		}
		return s[:2], lookPlain, 2
	case s[0] == '*' && !inWord, s[0] == '_' && !inWord:
		if end := strings.IndexByte(s[1:], s[0]); end > 0 && s[1] != ' ' && s[end] != ' ' {
			return s[1 : end+1], lookStrong, end + 2
		}
	case s[0] == '[':
		if end := strings.IndexByte(s, ']'); end > 1 {
			if _, _, ok := linkTarget(s[end+1:]); ok {
				return s[1:end], lookLink, end + 1
			}
		}
	}
	n = 1
	for n < len(s) && strings.IndexByte("\\`*_[", s[n]) < 0 {
		n++
	}
	return s[:n], lookPlain, n
}

// linkTarget is what stands in parentheses at the start of s.
func linkTarget(s string) (string, int, bool) {
	if !strings.HasPrefix(s, "(") {
		return "", 0, false
	}
	end := strings.IndexByte(s, ')')
	return s[1:max(end, 1)], end + 1, end > 0
}

func word(c byte) bool { return unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) || c >= 0x80 }
