package subject

import (
	"math/rand/v2"
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
	w := walker{foreign: true, least: 2, look: func(*view, *layer) bool { layers++; return true }}
	w.text(&layer{text: text, family: unresolved})
	if layers > 200 {
		t.Errorf("it is read in %d layers", layers)
	}
}
