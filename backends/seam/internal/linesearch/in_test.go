package linesearch

import (
	"bytes"
	"strings"
	"testing"

	"memdesk/backends/internal/snippet"
)

// TestInIsContainsOfTheFolded: the shortcut must agree with the full comparison.
func TestInIsContainsOfTheFolded(t *testing.T) {
	texts := []string{"", "x", "The HARBOUR gate", "Größe ÄÖÜ", "\u212aelvin", "\u0130stanbul", "caf\xc3", "İ K ı ſ", "\xffABC", "東京 Tokyo", "bbbb harbou bharbour", "harbou", "b", "gat", "λόγος ΛΌΓΟΣ", "ſix"}
	words := []string{"", "x", "b", "bou", "r gate", "harbour", "gate", "größe", "äöü", "kelvin", "istanbul", "i", "k", "s", "abc", "東京", "tokyo", "\ufffd", "ΛΌΓΟΣ", "λόγοσ", "six"}
	for _, text := range texts {
		for _, w := range words {
			q := Whole(w)
			if got, want := q.In([]byte(text)), strings.Contains(snippet.Fold(text), snippet.Fold(w)); got != want {
				t.Errorf("%q in %q: %v, want %v", w, text, got, want)
			}
		}
	}
}

func TestLowerASCII(t *testing.T) {
	for c := range 256 {
		for n := range 20 {
			text := bytes.Repeat([]byte{byte(c)}, n)
			low := make([]byte, n)
			plain := lowerASCII(low, text)
			want := byte(c)
			if 'A' <= c && c <= 'Z' {
				want += 'a' - 'A'
			}
			if !bytes.Equal(low, bytes.Repeat([]byte{want}, n)) || plain != (c < 0x80 || n == 0) {
				t.Fatalf("%d bytes %#x: %x, plain %v", n, c, low, plain)
			}
		}
	}
}
