package subject

import (
	"encoding/base64"
	"math/rand/v2"
	"runtime"
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

// TestALongTextIsWalkedInPieces: the layers of a text of many megabytes must not fill the memory, and every occurrence must be
// found once, at the borders of the pieces too.
func TestALongTextIsWalkedInPieces(t *testing.T) {
	m, err := New("Maren Holt")
	if err != nil {
		t.Fatal(err)
	}
	const fill = `café \u0041 naïve %41 ` // each part of it needs a search
	var b strings.Builder
	names, blocks := 0, 0
	for b.Len() < 8<<20 {
		b.WriteString(strings.Repeat(fill, 10+names%7))
		switch names % 3 {
		case 0:
			b.WriteString("Maren Holt, ")
		case 1:
			b.WriteString(`Mar\u0065n Holt, `)
		default:
			b.WriteString("Maren-Holt; ")
		}
		names++
		if names%400 == 0 { // a block that no piece may cut
			blocks++
			b.WriteString("\n" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x y Z ", 9000)+"Maren Holt")) + "\n")
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	hits := m.Text(b.String())
	runtime.ReadMemStats(&after)
	if len(hits) != names+blocks {
		t.Errorf("%d hits, want %d", len(hits), names+blocks)
	}
	if n := after.Sys - before.Sys; n > 64<<20 {
		t.Errorf("%d MB of memory were taken for %d MB", n>>20, b.Len()>>20)
	}
}
