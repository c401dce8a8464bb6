// Package words splits text into the words that search looks up: runs of letters and digits, lower
// case, without diacritics, as SQLite's unicode61 does. It knows no language.
package words

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Tokens are the words of a text in their order.
func Tokens(text string) []string {
	return strings.FieldsFunc(fold(text), func(r rune) bool { return !Rune(r) })
}

// Rune reports whether a character is part of a word.
func Rune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// Terms are the parts of a query that an index can look up: those between blanks that hold a letter or
// digit. There are none in text of punctuation. Scripts written without blanks give none either,
// because the index holds their runs as one word.
func Terms(query string) []string {
	var out []string
	for _, t := range strings.FieldsFunc(query, func(r rune) bool { return unicode.IsSpace(r) || r == 0 }) {
		if unspaced(t) {
			return nil
		}
		if strings.ContainsFunc(t, Rune) {
			out = append(out, t)
		}
	}
	return out
}

func unspaced(t string) bool {
	return strings.ContainsFunc(t, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
}

func fold(text string) string {
	ascii := true
	for i := 0; i < len(text) && ascii; i++ {
		ascii = text[i] < 0x80
	}
	if ascii {
		return strings.ToLower(text)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
}
