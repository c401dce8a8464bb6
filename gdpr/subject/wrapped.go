package subject

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Wrapped is a text inside another one, in base64 or UTF-16, and where it stands.
type Wrapped struct {
	Text       string
	Start, End int
}

// minWrapped is the shortest run of base64 that is taken for one: a shorter one is a
// word.
const minWrapped = 12

// Unwrap finds the texts that a text holds in base64, at any alignment, and the text
// itself where it is UTF-16.
func Unwrap(text string) []Wrapped {
	if d := joinBase64(text); d.at != nil {
		out := unwrap(d.text)
		for i, w := range out {
			out[i].Start, out[i].End = int(d.at[w.Start]), int(d.at[w.End-1])+1
		}
		return append(out, unwrap(text)...) // lines that only look like one run
	}
	return unwrap(text)
}

func unwrap(text string) []Wrapped {
	var out []Wrapped
	for lo, hi := range runs(text) {
		if hi-lo < minWrapped {
			continue
		}
		for _, t := range decodings([]byte(text[lo:hi])) {
			if readable(t) {
				out = append(out, Wrapped{t, lo, hi})
			}
		}
	}
	if strings.IndexByte(text, 0) >= 0 {
		for _, t := range narrow(text) {
			out = append(out, Wrapped{t, 0, len(text)})
		}
	}
	return out
}

// readable reports whether most of a text is: what is decoded at a wrong place is
// noise.
func readable(s string) bool {
	n, good := 0, 0
	for _, r := range s {
		n++
		if r != utf8.RuneError && (unicode.IsPrint(r) || r == '\n' || r == '\t') {
			good++
		}
	}
	return good*10 >= n*7
}

// Wide reports whether bytes look like UTF-16.
func Wide(b []byte) bool { return len(narrow(string(b))) > 0 }

// narrow reads a text as UTF-16 in either order, as far as text comes out.
func narrow(s string) []string {
	var out []string
	for order := range 2 {
		var units []uint16
		for i := 0; i+1 < len(s); i += 2 {
			units = append(units, uint16(s[i+order])|uint16(s[i+1-order])<<8)
		}
		if t := string(utf16.Decode(units)); len(units) > 0 && readable(t) && strings.ContainsFunc(t, func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) || r == ' ' }) {
			out = append(out, strings.TrimPrefix(t, "\ufeff"))
		}
	}
	return out
}
