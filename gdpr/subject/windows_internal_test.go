package subject

import (
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// TestWindows1252 holds the table against that of x/text, both ways.
func TestWindows1252(t *testing.T) {
	for b := range 256 {
		if got, want := windowsRune(byte(b)), charmap.Windows1252.DecodeByte(byte(b)); got != want {
			t.Errorf("byte %#x is %q, want %q", b, got, want)
		}
	}
	for r := rune(-1); r < 0x30000; r++ {
		got, ok := windowsByte(r)
		want, has := charmap.Windows1252.EncodeRune(r)
		if r < 0 {
			has = false
		}
		if ok != has || ok && got != want {
			t.Fatalf("%q is %#x, %v; want %#x, %v", r, got, ok, want, has)
		}
	}
	if s, ok := toWindows("Zoë – 7 €"); !ok || fromWindows([]byte(s)) != "Zoë – 7 €" {
		t.Errorf("%q, %v", s, ok)
	}
	if _, ok := toWindows("Łukasz"); ok {
		t.Error("a character that Windows-1252 does not have was written")
	}
}
