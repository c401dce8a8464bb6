package subject

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestLayersAreFew: a record with a folded line must not be read as UTF-16 repeatedly.
func TestLayersAreFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	text := []byte("a\n b")
	for range 400 {
		text = append(text, byte(rng.IntN(256)), 0, '\n', 0, ' ', 0, 'x', 0)
	}
	layers := 0
	w := walker{foreign: true, least: 2, reach: 1 << 10, look: func(*view, *layer) bool { layers++; return true }}
	w.text(&layer{text: text, family: unresolved})
	if layers > 200 {
		t.Errorf("it is read in %d layers", layers)
	}
}

// TestEscapesAreReadAround: a few escapes in a long record that names the subject everywhere must not be a
// reason to decode all of it, once for each family.
func TestEscapesAreReadAround(t *testing.T) {
	m, err := New("subj-ana2")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("a note of subj-ana2 and of nobody else, ", 5_000)
	for _, escape := range []string{"%41", "=\n", "&amp;", `\u0041`, "+AEA-", "\r\n\t"} {
		text += escape + text[:30_000]
	}
	read := 0
	w := walker{pieces: m.pieces, least: m.least, reach: m.reach, look: func(_ *view, l *layer) bool { read += len(l.text); return true }}
	w.text(&layer{text: []byte(text), family: unresolved})
	if read > len(text)*5/4 {
		t.Errorf("%d bytes are read of %d", read, len(text))
	}
}
