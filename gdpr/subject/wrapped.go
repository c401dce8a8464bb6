package subject

import (
	"encoding/base64"
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
	for lo := 0; lo < len(text); {
		if !base64Byte(text[lo]) {
			lo++
			continue
		}
		hi := lo
		for hi < len(text) && base64Byte(text[hi]) {
			hi++
		}
		if hi-lo >= minWrapped {
			for _, t := range unbase64(text[lo:hi]) {
				out = append(out, Wrapped{t, lo, hi})
			}
		}
		lo = hi
	}
	if strings.IndexByte(text, 0) >= 0 {
		for _, t := range narrow(text) {
			out = append(out, Wrapped{t, 0, len(text)})
		}
	}
	return out
}

// unbase64 decodes a run at the four places where it may begin, as far as text comes
// out.
func unbase64(run string) []string {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	var out []string
	for skip := range 4 {
		part := run[min(skip, len(run)):]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		b, err := base64.RawStdEncoding.DecodeString(part)
		if err == nil && readable(string(b)) {
			out = append(out, strings.ToValidUTF8(string(b), "\uFFFD"))
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
