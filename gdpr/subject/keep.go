package subject

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// A medium may keep a text that names the person and has to stay. In its bytes that
// text is told from what should be gone by what stands around: a place is a copy of
// it when the letters before and behind are those of the text, as far as the text or
// maxKept goes.

// keptPlace is a place in a text that stays.
type keptPlace struct {
	term          int
	before, after string // letters only
}

// maxKept is how many letters on either side tell two places apart, and keptReach
// how far, in bytes, they are looked for.
const maxKept, keptReach = 12, 64

// Keep notes the places at which a text that stays names the person.
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

// sameness is how a place in a medium is like one that stays.
type sameness int

const (
	unlike sameness = iota
	copied          // a copy of it
	alike           // one that stays leaves the same
)

// keeps tells whether a hit belongs to what stays.
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

// readableEnd and readableStart report whether a text goes on there.
func readableEnd(b []byte) bool {
	return len(b) > 0 && (printable(b[len(b)-1]) || b[len(b)-1] >= utf8.RuneSelf)
}

func readableStart(b []byte) bool { return len(b) > 0 && (printable(b[0]) || b[0] >= utf8.RuneSelf) }

// lettersBefore are the last letters of s without what encodings put between them,
// and lettersAfter the first ones.
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
