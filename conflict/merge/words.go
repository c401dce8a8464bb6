package merge

import (
	"unicode"
	"unicode/utf8"
)

// Span is a stretch of bytes of a line that differs from the other side's.
type Span struct{ From, To int }

// maxWords bounds the words of a line that are compared; a longer line differs as a whole.
const maxWords = 4000

// Words returns the bytes in which two lines differ, word by word.
func Words(left, right string) (l, r []Span) {
	a, b := words(left), words(right)
	if len(a) > maxWords || len(b) > maxWords {
		return whole(left), whole(right)
	}
	offsets := func(parts []string) []int {
		out := make([]int, len(parts)+1)
		for i, p := range parts {
			out[i+1] = out[i] + len(p)
		}
		return out
	}
	oa, ob := offsets(a), offsets(b)
	for _, e := range Diff(a, b) {
		if e.A1 > e.A0 {
			l = append(l, Span{oa[e.A0], oa[e.A1]})
		}
		if e.B1 > e.B0 {
			r = append(r, Span{ob[e.B0], ob[e.B1]})
		}
	}
	return l, r
}

func whole(s string) []Span {
	if s == "" {
		return nil
	}
	return []Span{{0, len(s)}}
}

// words splits a line into runs of letters and digits, runs of space, and single other characters.
func words(s string) []string {
	var out []string
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if k := class(r); k != 0 {
			for n < len(s) {
				r, m := utf8.DecodeRuneInString(s[n:])
				if class(r) != k {
					break
				}
				n += m
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func class(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 1
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return 2
	}
	return 0
}
