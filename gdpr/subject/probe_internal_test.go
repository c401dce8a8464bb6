package subject

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// TestProbeLosesNothing: a search with the probe before each piece, decoding only the beginnings of names,
// must find the same as one without either, for names in many scripts, nested encodings, and noise.
func TestProbeLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	names := []string{"王明珠", "Иванова Мария", "Ana Ribeiro", "김민수", "山田太郎", "Ελένη Παππά", "دانا خليل", "รัตนา สุขใจ", "Łukasz Żak", "usr_412", "+49 30 5550 1234"}
	found := 0
	for round := range 800 {
		a, b := names[rng.IntN(len(names))], names[rng.IntN(len(names))]
		m, err := New(a, b)
		if err != nil {
			t.Fatal(err)
		}
		var text []byte
		for range 1 + rng.IntN(6) {
			text = append(text, noise(rng)...)
			text = append(text, written(rng, m, names[rng.IntN(len(names))])...)
		}
		text = append(text, noise(rng)...)
		loose := isBinary(text)
		got, _ := m.search(text, loose, false, nil, false, m.prober())
		whole := *m
		whole.firsts = nil
		want, _ := whole.search(text, loose, false, nil, false, nil)
		same := func(a, b Hit) bool { return a.Term == b.Term && a.Start == b.Start && a.End == b.End }
		if !slices.EqualFunc(got, want, same) {
			t.Fatalf("round %d, %q and %q: %v with the probe, %v without, in %q", round, a, b, got, want, text)
		}
		found += len(want)
	}
	if found < 300 {
		t.Errorf("%d hits are too few to say anything", found)
	}
}

// noise is random text around a name.
func noise(rng *rand.Rand) []byte {
	switch rng.IntN(5) {
	case 0:
		b := make([]byte, rng.IntN(700))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	case 1:
		return bytes.Repeat([]byte("Пароход уходит в пять. "), rng.IntN(9))
	case 2:
		return bytes.Repeat([]byte("船は五時に出る\\n<b>\n"), rng.IntN(9))
	case 3:
		return []byte("\n> the early boat](x) [leaves\n")
	}
	return nil
}

// written is a name in nested random encodings.
func written(rng *rand.Rand, m *Matcher, name string) []byte {
	b := []byte(name)
	for range rng.IntN(3) {
		switch rng.IntN(11) {
		case 0:
			b = []byte(base64.StdEncoding.EncodeToString(append([]byte("said by "), b...)))
		case 1:
			b = []byte(hex.EncodeToString(b))
		case 2:
			b = []byte(url.QueryEscape(string(b)))
		case 3:
			b = encode(string(b), []Encoding{UTF16LE, UTF16BE}[rng.IntN(2)])
		case 4:
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			_, _ = w.Write(b)
			_ = w.Close()
			b = z.Bytes()
		case 5, 6:
			if len(m.charsets) > 0 {
				c := m.charsets[rng.IntN(len(m.charsets))]
				if s, err := encoding.ReplaceUnsupported(c.enc.NewEncoder()).Bytes(b); err == nil {
					b = s
				}
			}
		case 7:
			b = bytes.ReplaceAll(b, []byte(" "), []byte([]string{"\\n", "-\n", "</b> <b>", ""}[rng.IntN(4)]))
		case 9:
			b = []byte(base64.StdEncoding.EncodeToString(encode(string(b), UTF16LE)))
		case 10:
			for _, enc := range []encoding.Encoding{japanese.ISO2022JP, simplifiedchinese.HZGB2312} {
				if s, err := enc.NewEncoder().Bytes(b); err == nil {
					b = s
				}
			}
		case 8:
			b = fmt.Appendf(nil, "%+q", b)
		}
	}
	return b
}

// TestCharsetsReadAsTheirLibrary: the tables must agree with the library's decoder for every first two bytes.
func TestCharsetsReadAsTheirLibrary(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range allCharsets {
		c.once.Do(c.tables)
		for pair := utf8Self << 8; pair < 1<<16; pair++ {
			b := []byte{byte(pair >> 8), byte(pair), byte(rng.Uint32()), byte(rng.Uint32())}
			if rng.IntN(2) == 0 {
				b[2], b[3] = 0x81+b[2]%0x7e, '0'+b[3]%10
			}
			wantRune, wantN := rune(b[0]), 1
			for _, try := range []int{2, 4, 3, 1} {
				if one, ok := c.enc.(*charmap.Charmap); ok {
					wantRune = one.DecodeByte(b[0])
					break
				}
				if r := c.decode(b[:try]); r != 0 {
					wantRune, wantN = r, try
					break
				}
			}
			if r, n := c.next(b); r != wantRune || n != wantN {
				t.Fatalf("%v: %x is %q of %d bytes, want %q of %d", c.enc, b, r, n, wantRune, wantN)
			}
		}
	}
}

const utf8Self = 0x80
