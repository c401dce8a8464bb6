package subject

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
	foreign, err := New("Ελένη Παππά")
	if err != nil {
		t.Fatal(err)
	}
	run := nested(string(encode("a Ελένη Παππά", UTF16LE)), 1)
	for i, text := range []string{string(encode("王明 珠 "+run+" ", UTF16LE)), nested(run, 1)} { // UTF-16 in UTF-16 is not read
		if got, want := foreign.Names(text), i == 1; got != want {
			t.Errorf("%q: found is %v, want %v", text, got, want)
		}
	}
	for range 2 { // the second line is none of the first's block
		lines := "bWV0IElrRnVZU0JTYVdKbGFYSnZJZz09\neDEyIGF0DQpQaWVycmVEdXBvbnQg\n"
		if got := m.Redact(lines, "x"); got != "x"+lines[strings.IndexByte(lines, '\n'):] {
			t.Errorf("%q: redacted to %q", lines, got)
		}
	}
}

// TestAskedTwice: what is remembered changes no answer, about lines of one or of several blocks.
func TestAskedTwice(t *testing.T) {
	encodings := []func([]byte) string{base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString, hex.EncodeToString, base32.StdEncoding.EncodeToString}
	words := rapid.SampledFrom([]string{"boat", "Quay-Seven-", "PierreDupont", "at", "x12", "Summer/Winter", "\n", "\r\n"})
	rapid.Check(t, func(rt *rapid.T) {
		m, err := New("Ana Ribeiro")
		if err != nil {
			t.Fatal(err)
		}
		encode := func(s string) string {
			return rapid.SampledFrom(encodings).Draw(rt, "encoding")([]byte(s + strings.Repeat("\n", (3-len(s)%3)%3)))
		}
		lines := make([]string, rapid.IntRange(2, 4).Draw(rt, "lines"))
		names := rapid.IntRange(0, len(lines)-1).Draw(rt, "names")
		for i := range lines {
			said := strings.Join(rapid.SliceOfN(words, 1, 4).Draw(rt, "words"), " ")
			if i == names {
				said += encode(`"Ana Ribeiro"`)
			}
			lines[i] = encode(said)
		}
		text := strings.Join(lines, "\n")
		answer := func() string {
			rep, err := m.Scan(t.Context(), strings.NewReader(text), nil)
			return fmt.Sprint(m.Text(text), m.Names(text), rep, err)
		}
		if first, again := answer(), answer(); first != again {
			rt.Fatalf("%q: %s, then %s", text, first, again)
		}
	})
}
