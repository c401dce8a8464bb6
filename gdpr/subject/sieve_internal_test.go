package subject

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSieveFindsAll: for patterns of each length, at each offset in a block and across blocks, the
// sieve must find the same as a plain search.
func TestSieveFindsAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		letters := "aAbB\x00\xe9"[:2+rng.IntN(5)]
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = letters[rng.IntN(len(letters))]
			}
			return b
		}
		var all []pattern
		for n := range 1 + rng.IntN(40) {
			all = append(all, pattern{bytes: random(2 + rng.IntN(9)), fold: rng.IntN(2) == 0, term: n})
		}
		text := random(rng.IntN(3 * blockSize))
		var want, got []string
		for _, p := range all {
			for at := 0; at+len(p.bytes) <= len(text); at++ {
				here := text[at : at+len(p.bytes)]
				if bytes.Equal(here, p.bytes) || p.fold && bytes.Equal(bytes.ToLower(bytes.ReplaceAll(here, []byte{0xe9}, []byte{1})), bytes.ToLower(bytes.ReplaceAll(p.bytes, []byte{0xe9}, []byte{1}))) {
					want = append(want, fmt.Sprint(p.term, " ", at))
				}
			}
		}
		newSieve(all).scan(text, func(p *pattern, at int) bool {
			got = append(got, fmt.Sprint(p.term, " ", at))
			return true
		})
		slices.Sort(want)
		slices.Sort(got)
		got = slices.Compact(got) // both steps find the last position of a block
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d of %d places found in %q of %v", round, len(got), len(want), text, all)
		}
	}
}

// TestEachLineEnd: a name across the second line end of a block must be found as across the first.
func TestEachLineEnd(t *testing.T) {
	m, err := New("Ana Ribeiro")
	if err != nil {
		t.Fatal(err)
	}
	const far = "is the one who came here only yesterday, and who had said so long before it"
	for _, end := range []string{"-\n", "-\r\n", "- \n"} {
		for pad := range 2 * blockSize {
			text := string(bytes.Repeat([]byte("."), pad)) + " a" + end + "n it " + far + " by A" + end + "na Rib" + end + "eiro, too"
			if !m.Names(text) {
				t.Fatalf("not found behind %d bytes in %q", pad, text)
			}
		}
	}
}

// TestLettersAlone: a block of base32 that happens to contain no digits must be decoded.
func TestLettersAlone(t *testing.T) {
	m, err := New("Dédön O'Kuvadük")
	if err != nil {
		t.Fatal(err)
	}
	if block := "ITBYSRGDSZHCATZHJNKVMQKEYOOEWCQ="; !m.Names("at the pier\n" + block + "\n") {
		t.Errorf("not found in %s", block)
	}
}

// TestValidInside: a piece of UTF-8 that begins or ends inside a character must not be read in an older
// encoding.
func TestValidInside(t *testing.T) {
	text := []byte("Он пришёл, 王小明 𝒜")
	for lo := range text {
		for hi := lo; hi <= len(text); hi++ {
			if hi-lo > 8 && strings.ContainsAny(string(text[lo+3:hi-3]), "рил") && !validInside(text[lo:hi]) {
				t.Errorf("%q is UTF-8", text[lo:hi])
			}
		}
	}
	for _, b := range []string{"caf\xe9 au lait", "\xcd\xf5\xd0\xa1\xc3\xf7 came", "came \xff", "pan Nowaki\xe6"} {
		if validInside([]byte(b)) {
			t.Errorf("%q is no UTF-8", b)
		}
	}
}
