// Package snippet cuts the part of a text that a search hit is shown by, and
// folds letter case so that places in the folded text are places in the text.
package snippet

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/model"
)

// lead is how many characters of a snippet stand before the match.
const lead = 120

// mostWords is how many words of a query are looked for in a text.
const mostWords = 50

// Cut cuts at most model.SnippetRunes characters around the first place where
// the query, or else one of its first words, stands in the text, and tells its line.
// Line 0 means that no such place was found: the text matched by meaning.
func Cut(text, query string) (string, int) {
	runes := []rune(text) // an invalid byte becomes U+FFFD (R23)
	folded := foldRunes(runes)
	at := index(folded, strings.TrimSpace(query))
	if at < 0 {
		words := strings.FieldsFunc(query, NotWord)
		for _, word := range words[:min(mostWords, len(words))] {
			if i := index(folded, word); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
	}
	line := 0
	if at >= 0 {
		at, line = utf8.RuneCountInString(folded[:at]), 1
		for _, r := range runes[:at] {
			if r == '\n' {
				line++
			}
		}
	}
	from := 0
	if len(runes) > model.SnippetRunes {
		from = min(max(at-lead, 0), len(runes)-model.SnippetRunes)
	}
	return string(runes[from:min(from+model.SnippetRunes, len(runes))]), line
}

// First is the first n characters of a text.
func First(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Names lists the first n names, and counts the rest.
func Names(all []string, n int) string {
	list := strings.Join(all[:min(n, len(all))], ", ")
	if more := len(all) - n; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// NotWord reports whether a character separates words.
func NotWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// Fold maps a text so that two spellings which differ only in letter case become
// equal. Every character maps to exactly one, so places correspond.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return strings.Map(foldRune, s)
		}
	}
	return strings.ToLower(s)
}

func foldRune(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// foldRunes is Fold as valid UTF-8, in which a match of bytes is one of characters.
func foldRunes(in []rune) string {
	out := make([]rune, len(in))
	for i, r := range in {
		out[i] = foldRune(r)
	}
	return string(out)
}

// index finds a needle in a folded text; an empty one is nowhere.
func index(folded, needle string) int {
	if needle == "" {
		return -1
	}
	return strings.Index(folded, foldRunes([]rune(needle)))
}
