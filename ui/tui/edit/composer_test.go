package edit

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The built-in editor must return its text byte for byte, and hide none of it.
func TestMarksGiveTheTextBack(t *testing.T) {
	for _, s := range []string{"", "plain\ntext\n", "a\tb", "\x1b[31mred\x07", "zero\u200bwidth\u202e", "crlf\r\nline\r\n", "⇥ and ‹U+41› and ‹U+", "‹U+›‹", "\ufffd", "東京 ✓ 🚀", "\x00"} {
		marks := marksOf(s)
		if got := textOf(marks); got != s {
			t.Errorf("%q became %q by %q", s, got, marks)
		}
		for _, r := range marks {
			if r < ' ' && r != '\n' || r == 0x200b || r == 0x202e {
				t.Errorf("%q has %U in it", marks, r)
			}
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add("a\tb‹U+41›")
	f.Fuzz(func(t *testing.T, s string) {
		if s = strings.ToValidUTF8(s, ""); utf8.ValidString(s) && textOf(marksOf(s)) != s {
			t.Errorf("%q became %q", s, textOf(marksOf(s)))
		}
	})
}
