package safetext_test

import (
	"testing"

	"memdesk/internal/safetext"
)

func seed(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
}

// FuzzEscape: no dangerous character may come out, no visible one may be lost, and the original must be
// recoverable, from the screen and from JSON.
func FuzzEscape(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, in string) { checkText(t, in) })
}

func FuzzLayout(f *testing.F) {
	for i, s := range samples {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, in string, columns int) {
		checkLayout(t, in, columns%200)
	})
}

func FuzzConcat(f *testing.F) {
	for i, s := range samples {
		f.Add(s, uint8(i), uint8(3*i))
	}
	f.Fuzz(func(t *testing.T, in string, a, b uint8) {
		i := min(int(a), len(in))
		j := min(i+int(b), len(in))
		parts := []safetext.Text{safetext.Line(in[:i]), safetext.Line(in[i:j]), safetext.Line(in[j:])}
		got := safetext.Escaper{}.Concat(parts...).String()
		checkSafe(t, "Concat", got, false)
		if back, err := safetext.Unescape(got); err != nil || back != in {
			t.Fatalf("Unescape(%q) = %q, %v; want %q", got, back, err, in)
		}
	})
}

func FuzzLines(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, in string) {
		for _, line := range escaped(safetext.Escaper{}, in, 8) {
			checkSafe(t, "EscapeLine", line.String(), false)
		}
	})
}

// FuzzUnescape: no input may crash, and accepted text must escape to text that gives the same bytes.
func FuzzUnescape(f *testing.F) {
	seed(f)
	f.Add("⟦U+0301×1048576⟧⟦tag:x⟧⟦… 3 more bytes⟧")
	f.Fuzz(func(t *testing.T, in string) {
		back, err := safetext.Unescape(in)
		if err != nil {
			return
		}
		if again, err := safetext.Unescape(safetext.Line(back).String()); err != nil || again != back {
			t.Fatalf("%q gives %q, then %q, %v", in, back, again, err)
		}
	})
}
