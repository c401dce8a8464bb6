package subject

import (
	"strings"
	"unicode/utf8"
)

// none stands for a byte that is no character.
const none = utf8.RuneError

// highWindows are the characters of the bytes from 0x80 to 0x9f in Windows-1252
// (Microsoft's cp1252 at unicode.org); every other byte is the character of its
// number. The package charmap of x/text knows the same, and forty tables more, which
// a program that names it keeps all.
var highWindows = [32]rune{
	'€', none, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', none, 'Ž', none,
	none, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', none, 'ž', 'Ÿ',
}

// windowsRune is the character of a byte in Windows-1252.
func windowsRune(b byte) rune {
	if b >= 0x80 && b < 0xa0 {
		return highWindows[b-0x80]
	}
	return rune(b)
}

// windowsByte is the byte of a character in Windows-1252, false where it has none.
func windowsByte(r rune) (byte, bool) {
	if r < 0x80 || r >= 0xa0 && r <= 0xff {
		return byte(r), r >= 0
	}
	for i, h := range highWindows {
		if h == r && r != none {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}

// fromWindows reads Windows-1252; a byte that is no character becomes U+FFFD.
func fromWindows(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for _, c := range b {
		out.WriteRune(windowsRune(c))
	}
	return out.String()
}

// toWindows writes Windows-1252, false where a character has no byte in it.
func toWindows(s string) (string, bool) {
	out := make([]byte, 0, utf8.RuneCountInString(s))
	for _, r := range s {
		c, ok := windowsByte(r)
		if !ok {
			return "", false
		}
		out = append(out, c)
	}
	return string(out), true
}
