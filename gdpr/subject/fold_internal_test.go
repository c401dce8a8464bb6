package subject

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plainFold is fold as its words say, character by character.
func plainFold(s string) view {
	if isASCII(s) {
		return foldASCII(s)
	}
	v := view{src: s, mid: s}
	var b strings.Builder
	space := false
	put := func(text string, at int) {
		for i := range len(text) {
			b.WriteByte(text[i])
			v.at = append(v.at, int32(at))
		}
	}
	var it norm.Iter
	it.InitString(norm.NFKD, s)
	for !it.Done() {
		at := it.Pos()
		for _, r := range string(it.Next()) {
			switch {
			case ignorable(r):
				continue
			case unicode.IsSpace(r):
				if !space {
					put(" ", at)
				}
				space = true
				continue
			}
			space = false
			if r < utf8.RuneSelf {
				put(string(lower(byte(r))), at)
				continue
			}
			for _, f := range folder.String(string(r)) {
				if l, ok := lookAlikes[f]; ok {
					f = l
				}
				put(string(f), at)
			}
		}
	}
	v.text = b.String()
	v.at = append(v.at, int32(len(s)))
	return v
}

func sameFold(t *testing.T, s string) {
	t.Helper()
	want, got := plainFold(s), fold(s)
	if want.text != got.text || !slices.Equal(want.at, got.at) {
		t.Errorf("fold(%q) = %q %v\nwant %q %v", s, got.text, got.at, want.text, want.at)
	}
}

// TestFoldIsPlain compares the fast way with the plain one over every character and
// over mixtures of what is odd.
func TestFoldIsPlain(t *testing.T) {
	for r := range rune(0x3_0000) {
		if utf8.ValidRune(r) && (r < 0x1_0000 || r%5 == 0) {
			sameFold(t, "a"+string(r)+"b"+string(r)+"\u0301")
		}
	}
	odd := []string{"a", "B", " ", "\t", "\u00a0", "\u0301", "\u0323", "\u0345", "é", "ä", "ﷺ", "¨", "…", "—", "\u200b", "\u00ad", "한", "ᄒ", "ᅡ", "ᆫ", "ä", "Ω",
		"ﬁ", "Ｆ", "а", "ß", "İ", "\xff", "\xc3", "\xe2\x82", "\u0f73", "\u1e9b\u0323", "😀", "-", "_", "9", "\u0f71", "\u3099", "か"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(odd[r.IntN(len(odd))])
		}
		sameFold(t, b.String())
		if t.Failed() {
			return
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Zoë—Zxribeiro\u0301\u0323")
	f.Fuzz(func(t *testing.T, s string) { sameFold(t, s) })
}
