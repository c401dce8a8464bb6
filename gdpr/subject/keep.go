package subject

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// A medium may hold a text that names the subject and has to stay. Its bytes are distinguished from residue
// by their neighbours: a place is a copy of the text when the letters before and after it are those of the
// text, as far as the text or maxKept goes.

// keptPlace is a place in a text that stays.
type keptPlace struct {
	term          int
	before, after string // letters only
}

// maxKept is how many letters on either side distinguish two places, and keptReach how far, in bytes, they
// are searched.
const maxKept, keptReach = 12, 64

// Keep records the places where a text that stays names the subject.
func (f *Bystanders) Keep(m *Matcher, text string) {
	for _, h := range m.Bytes([]byte(text)) {
		p := keptPlace{term: h.Term}
		if plain, _, ok := Plain([]byte(text)); ok && h.End <= len(plain) {
			p.before, p.after = lettersBefore(plain[:h.Start]), lettersAfter(plain[h.End:])
		}
		if !slices.Contains(f.kept, p) {
			f.kept = append(f.kept, p)
		}
	}
}

// sameness compares a place in a medium with the kept ones.
type sameness int

const (
	unlike sameness = iota
	copied          // a copy of a kept place
	alike           // a kept place leaves the same bytes
)

// keeps compares a hit with the kept places.
func (f *Bystanders) keeps(b []byte, h Hit, binary bool) sameness {
	if f == nil || len(f.kept) == 0 {
		return unlike
	}
	left, right := b[max(0, h.Start-2*keptReach):h.Start], b[h.End:min(len(b), h.End+2*keptReach)] // escapes make it longer
	if h.Method == UTF16 {
		left, right = narrowed(left), narrowed(right)
	}
	before, after := letters(string(left)), letters(string(right))
	field := binary || bytes.HasSuffix(left, []byte{'"'}) && bytes.HasPrefix(right, []byte{'"'})
	alone := binary && !readableEnd(left) && !readableStart(right)
	out := unlike
	for _, p := range f.kept {
		switch {
		case p.term != h.Term && h.Method != Archive:
		case p.before+p.after != "" && strings.HasSuffix(before, p.before) && strings.HasPrefix(after, p.after):
			return copied
		case field && p.before+p.after == "", alone, binary && (h.Method == Embedded && alone):
			out = alike // a field that is the identifier, or a term of an index
		}
	}
	return out
}

func narrowed(b []byte) []byte {
	return slices.DeleteFunc(slices.Clone(b), func(c byte) bool { return c == 0 })
}

// readableEnd and readableStart report whether readable text touches the place.
func readableEnd(b []byte) bool {
	return len(b) > 0 && (printable(b[len(b)-1]) || b[len(b)-1] >= utf8.RuneSelf)
}

func readableStart(b []byte) bool { return len(b) > 0 && (printable(b[0]) || b[0] >= utf8.RuneSelf) }

// lettersBefore are the last letters of s, and lettersAfter the first ones, without the bytes that encodings
// put between them.
func lettersBefore(s string) string {
	out := letters(s[max(0, len(s)-keptReach):])
	return out[max(0, len(out)-maxKept):]
}

func lettersAfter(s string) string {
	out := letters(s[:min(len(s), keptReach)])
	return out[:min(len(out), maxKept)]
}

func letters(s string) string {
	var out []byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++ // an escape of JSON
		case c != '_' && wordByte(c):
			out = append(out, lower(c))
		}
	}
	return string(out)
}
