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
	if strings.Contains(text, ".ssh/authorized_keys") {
		h |= needKeys
	}
	if strings.Contains(text, "crontab") && strings.IndexByte(text, '|') >= 0 {
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

// telling are the rare letters and signs that wordHints starts from.
var telling = [256]bool{'g': true, 'G': true, 'y': true, 'Y': true, '.': true, 'w': true, 'W': true}

// wordHints reads each byte once. It starts from a rare letter or sign of each word, so that most bytes take
// only the table.
func wordHints(text string) hint {
	var h hint
	for i := 0; i < len(text); i++ {
		if !telling[text[i]] {
			continue
		}
		switch text[i] {
		case 'g', 'G':
			h |= aroundG(text, i)
		case 'y', 'Y':
			if youAreNow(text[i:]) {
				h |= needYouAreNow
			}
		case '.':
			if hasFold(text[i+1:], "env") && afterCat(text[:i]) {
				h |= needEnv
			}
		case 'w', 'W':
			if i > 0 && lower(text[i-1]) == 'a' {
				if rest, ok := cutS(text[i+1:]); ok && startsWithSpace(rest) {
					h |= needAWS
				}
			}
		}
	}
	return h
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
