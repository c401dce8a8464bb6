package subject

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A name is often written without its marks, jose nunez for José Núñez, and an alias is
// as often typed so. In prose the two are one where, letter by letter, the marks are
// the same or one of the two has none: Josè is somebody else. Of letters that no mark
// makes, ø stands for o, ł for l, æ for ae; a vowel of German or Danish may also be
// spelled out, Angstroem. Only names count, of two words or more or of one word of six
// letters: a shorter word without its marks is another word as likely as not, and ids
// are compared as they are.

// minPlain is how many letters a name of one word has that is known without its marks.
const minPlain = 6

// isName reports whether an identifier is a name that people write: words of letters.
func (t *term) isName() bool {
	letters := 0
	for _, r := range t.folded {
		switch {
		case unicode.IsLetter(r):
			letters++
		case r == ' ', r == '-', r == '\'', r == '.', unicode.IsMark(r):
		default:
			return false
		}
	}
	return t.shape == name || t.shape == bare && letters >= minPlain
}

// unmarked is a folded text without its marks.
type unmarked struct {
	text  string
	at    []int32 // where each byte of text comes from, and one more
	marks []uint8 // a hash of what was taken from each byte; 0 for nothing
}

// isMarkByte tells the marks of Latin, Greek and Cyrillic letters, U+0300 to U+036F,
// at the beginning of s.
func isMarkByte(s string) bool {
	return s[0] == 0xcc && len(s) > 1 || s[0] == 0xcd && len(s) > 1 && s[1] < 0xb0
}

// unmark takes the marks off a folded text.
func unmark(s string) unmarked {
	var out unmarked
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			b, out.at, out.marks = append(b, s[i]), append(out.at, int32(i)), append(out.marks, 0)
			i++
			continue
		}
		if isMarkByte(s[i:]) {
			if n := len(out.marks); n > 0 {
				out.marks[n-1] = max(1, out.marks[n-1]*31+s[i+1]+1)
			}
			i += 2
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		plain := s[i : i+n]
		mark := uint8(0)
		if p := withoutStroke[plain]; p != "" {
			mark, plain = max(1, plain[1]), p
		}
		for k := range len(plain) {
			b = append(b, plain[k])
			at := int32(i)
			if mark == 0 {
				at += int32(k)
			}
			out.at, out.marks = append(out.at, at), append(out.marks, mark)
		}
		i += n
	}
	out.text, out.at = string(b), append(out.at, int32(len(s)))
	return out
}

// plainForms are a name without its marks, and spelled out in their place where that is
// another text; none for what is no name.
func plainForms(t *term) []string {
	if !t.isName() {
		return nil
	}
	out := []string{unmark(t.folded).text}
	if out[0] != t.folded {
		for _, s := range plainSlugs(t.folded) {
			if isASCII(s) && s != out[0] {
				out = append(out, s)
			}
		}
	}
	return out
}

// inPlain finds names by their letters alone in a folded text, where one of the two
// has no marks.
func (m *Matcher) inPlain(hits []Hit, v view, first bool) []Hit {
	var u unmarked
	for i := range m.terms {
		t := &m.terms[i]
		for n, p := range t.plain {
			if n == 0 && p == t.folded && isASCII(v.text) {
				continue // the text as it is says the same
			}
			if u.at == nil {
				u = unmark(v.text)
			}
			for from := 0; from <= len(u.text)-len(p); {
				k := strings.Index(u.text[from:], p)
				if k < 0 {
					break
				}
				lo, hi := from+k, from+k+len(p)
				from = lo + 1
				if lo > 0 && u.at[lo] == u.at[lo-1] || u.at[hi] == u.at[hi-1] || !t.sameMarks(u.marks[lo:hi], n) {
					continue
				}
				got, to := v.text[u.at[lo]:u.at[hi]], int(u.at[hi])
				if got == t.folded || !v.whole(int(u.at[lo]), to, t.shape) {
					continue
				}
				h := Hit{Term: i, Start: v.start(int(u.at[lo])), End: v.end(to), Method: Unmarked}
				if p == t.folded {
					h.Method = Marked
				}
				if hits = append(hits, h); first {
					return hits
				}
			}
		}
	}
	return hits
}

// sameMarks reports whether marks agree with those of a name's form: the first form is
// that without marks, letter by letter, and the others are spelled out and bear none.
func (t *term) sameMarks(got []uint8, form int) bool {
	for k, g := range got {
		if g != 0 && (form > 0 || t.marks[k] != 0 && t.marks[k] != g) {
			return false
		}
	}
	return true
}

// withoutStroke are letters that no mark makes, folded, as ASCII writes them.
var withoutStroke = map[string]string{"ø": "o", "đ": "d", "ł": "l", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}

// unmarkedForms are the forms of a name that bears no marks, where that is another one,
// as they are typed.
func unmarkedForms(t term) []string {
	var out []string
	for i, p := range t.plain {
		if p == t.folded {
			continue
		}
		if i == 0 { // of other scripts the folded text has look-alikes in it
			p = unmark(strings.ToLower(norm.NFD.String(t.text))).text
		}
		title := []rune(p)
		for i, r := range title {
			if i == 0 || title[i-1] == ' ' || title[i-1] == '-' || title[i-1] == '\'' {
				title[i] = unicode.ToTitle(r)
			}
		}
		out = append(out, p, string(title), strings.ToUpper(p))
		out = append(out, norm.NFC.String(p), norm.NFC.String(string(title)), norm.NFC.String(strings.ToUpper(p)))
	}
	return out
}
