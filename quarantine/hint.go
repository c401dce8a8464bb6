package quarantine

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hint is a set of cheap necessary conditions for the rules. A rule whose hint
// is absent cannot match, so its expression need not run; that keeps a scan of
// ordinary text at a few microseconds and never changes a verdict.
type hint uint16

const (
	needIgnore    hint = 1 << iota // "ignore", then white space
	needIgnoreAny                  // "ignore"
	needYouAreNow                  // "you are now", then "dan" or a word with a comma
	needRegard                     // "sregard" (the s may be U+017F), then white space
	needEnv                        // "cat", white space, ".env"
	needAWS                        // "aws" (the s may be U+017F), then white space
	needComment
	needCurl
	needKeys
	needCrontab
	needQuery
	needPath
)

// hintsOf surveys a text once. Letters are compared without case in ASCII only: of the letters in these words
// just s and k have a fold outside ASCII, so the words are cut to leave s out where it could be U+017F (bytes
// C5 BF).
func hintsOf(text string) hint {
	h := wordHints(text) | literalHints(text)
	if h&needIgnoreAny != 0 && strings.Contains(text, "<!--") && strings.Contains(text, "-->") {
		h |= needComment
	}
	return h
}

func literalHints(text string) hint {
	var h hint
	if strings.IndexByte(text, '_') >= 0 && strings.Contains(text, ".ssh/authorized_keys") { // first the sign that is rarer than the word's first letter
		h |= needKeys
	}
	if strings.IndexByte(text, '|') >= 0 && strings.Contains(text, "crontab") {
		h |= needCrontab
	}
	if strings.IndexByte(text, '$') < 0 {
		return h
	}
	if strings.Contains(text, "curl") {
		h |= needCurl
	}
	if strings.Contains(text, "://") {
		if strings.Contains(text, "=$") {
			h |= needQuery
		}
		if strings.Contains(text, "/$") {
			h |= needPath
		}
	}
	return h
}

// telling are pairs of letters and signs, in either case, that wordHints starts from: a rare one of each word. A byte's
// lower four bits say of which pairs it is the first, the upper four of which the second.
var telling = func() (t [256]uint8) {
	for n, pair := range [...][2]string{{"gG", "nNaA"}, {"yY", "oO"}, {".", "eE"}, {"wW", "sS\xc5"}} {
		for i := range len(pair[0]) {
			t[pair[0][i]] |= 1 << n
		}
		for i := range len(pair[1]) {
			t[pair[1][i]] |= 1 << (n + 4)
		}
	}
	return t
}()

// wordHints reads each byte once, and most of them take only the table.
func wordHints(text string) hint {
	var h hint
	before := uint8(0)
	for i := range len(text) {
		now := telling[text[i]]
		if now>>4&before != 0 {
			h |= wordAround(text, i-1)
		}
		before = now
	}
	return h
}

// wordAround finds a word by the rare letter or sign in it.
func wordAround(text string, i int) hint {
	switch lower(text[i]) {
	case 'g':
		return aroundG(text, i)
	case 'y':
		if youAreNow(text[i:]) {
			return needYouAreNow
		}
	case '.':
		if hasFold(text[i+1:], "env") && afterCat(text[:i]) {
			return needEnv
		}
	case 'w':
		if i > 0 && lower(text[i-1]) == 'a' {
			if rest, ok := cutS(text[i+1:]); ok && startsWithSpace(rest) {
				return needAWS
			}
		}
	}
	return 0
}

// aroundG finds "ignore" and "sregard" by their g.
func aroundG(text string, i int) hint {
	if i >= 1 && lower(text[i-1]) == 'i' && hasFold(text[i+1:], "nore") {
		if startsWithSpace(text[i+5:]) {
			return needIgnore | needIgnoreAny
		}
		return needIgnoreAny
	}
	if i >= 3 && hasFold(text[i-2:i], "re") && hasFold(text[i+1:], "ard") && startsWithSpace(text[i+4:]) {
		if c := text[i-3]; lower(c) == 's' || c == 0xBF {
			return needRegard
		}
	}
	return 0
}

func youAreNow(text string) bool {
	for _, word := range [...]string{"you", "are", "now"} {
		if !hasFold(text, word) || !startsWithSpace(text[3:]) {
			return false
		}
		text = strings.TrimLeft(text[3:], spaces)
	}
	if hasFold(text, "dan") {
		return true
	}
	name := strings.IndexFunc(text, func(r rune) bool { return r < utf8.RuneSelf && !unicode.IsLetter(r) })
	return name > 0 && text[name] == ','
}

// afterCat reports that before ends in "cat" and white space.
func afterCat(before string) bool {
	command := strings.TrimRight(before, spaces)
	return len(command) < len(before) && len(command) >= 3 && hasFold(command[len(command)-3:], "cat")
}

// cutS cuts an s, in either case or as U+017F, from the front.
func cutS(text string) (rest string, ok bool) {
	if text == "" {
		return "", false
	}
	if lower(text[0]) == 's' {
		return text[1:], true
	}
	return strings.CutPrefix(text, "\u017f")
}

// hasFold reports whether text begins with word, which is lower-case ASCII.
func hasFold(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

func startsWithSpace(text string) bool { return text != "" && isSpace(text[0]) }

// spaces is RE2's \s.
const spaces = " \t\n\f\r"

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'
}
