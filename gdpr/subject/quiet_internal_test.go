package subject

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestQuietRuns: what is remembered of a run must not hide the subject where more of it is decoded, nor a part that
// was not opened.
func TestQuietRuns(t *testing.T) {
	m, err := New("Ana Ribeiro")
	if err != nil {
		t.Fatal(err)
	}
	nested := func(s string, times int) string {
		for range times {
			s = base64.StdEncoding.EncodeToString([]byte(s))
		}
		return s
	}
	twice := nested("Ana Ribeiro", 2)
	for _, text := range []string{nested(twice, maxDepth-1), twice} { // the first is too deep
		if got, want := m.Names(text), text == twice; got != want {
			t.Errorf("%s: found is %v, want %v", text, got, want)
		}
	}
	cut := nested("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03 not deflated", 1)
	for range 2 {
		if rep, err := m.Scan(t.Context(), strings.NewReader(cut), nil); err != nil || len(rep.Closed) != 1 {
			t.Errorf("closed: %q, %v; want what is compressed", rep.Closed, err)
		}
	}
	word := []byte("RoundTripperFunction")
	if m.Names("a " + string(word)); !m.quiet.has(word, Base64, 0) || m.quiet.has(word, Hex, 0) {
		t.Error("a word is not remembered, or in the wrong encoding")
	}
}
