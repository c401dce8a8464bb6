package subject

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"testing"
)

// TestSilentLosesNothing: a search of decoded bytes that silent leaves out must find nothing and report nothing.
func TestSilentLosesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	names := []string{"Ana Ribeiro", "u17", "王明珠", "Иванова Мария", "김민수", "山田太郎", "Łukasz Żak", "Zoë Ångström", "usr_412", "+49 30 5550 1234", "ana.r@example.test", "ab"}
	const letters = "abAeinorRSuzZ4579 .@-_=%&+~?\\<>[](\n\r\t\x00\x0e\x1b\xc3\xab\xe9\xc5\x81\xd0\x98"
	encodings := []func([]byte) string{base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString, hex.EncodeToString, base32.StdEncoding.EncodeToString}
	silent := 0
	for range 200 {
		name := names[rng.IntN(len(names))]
		m, err := New(name, names[rng.IntN(len(names))])
		if err != nil {
			t.Fatal(err)
		}
		w := walker{least: m.least, reach: m.reach, foreign: m.foreign, charsets: m.charsets, near: m.prober(), anchors: m.anchors}
		w.begins = func(b []byte) bool { return m.begins(b) || m.anchors.any(b) }
		for range 200 {
			b := make([]byte, rng.IntN(maxSilent+1))
			for i := range b {
				if b[i] = byte(rng.Uint32()); rng.IntN(3) > 0 {
					b[i] = letters[rng.IntN(len(letters))]
				}
			}
			if said := written(rng, m, name); len(said) < len(b) {
				at := rng.IntN(len(b) - len(said))
				copy(b[at:], said)
				for range rng.IntN(3) {
					b[at+rng.IntN(len(said))] = letters[rng.IntN(len(letters))]
				}
			}
			loses := func(b []byte, l layer) {
				silent++
				for _, l.probe = range []bool{true, false} {
					w.done, w.unseen, l.text = false, unseen{}, bytes.Clone(b)
					w.look = func(_ *view, l *layer) bool { w.done = l.depth > 0; return !w.done }
					one := l
					if w.open(&one); w.done || w.unseen.tooMuch || len(w.unseen.closed) > 0 {
						t.Fatalf("%q, probe %v: %q is left out, which has %+v", m.Terms(), l.probe, b, w.unseen)
					}
				}
			}
			if m.silent(b) {
				loses(b, layer{block: true, loose: isBinary(b), family: unresolved, depth: 1})
			}
			if run := []byte(encodings[rng.IntN(len(encodings))](b)); m.silentRun(run) {
				loses(run, layer{digits: true, family: unresolved})
			}
		}
	}
	if silent < 3_000 {
		t.Errorf("%d texts are too few to say anything", silent)
	}
}

// TestBlockOverAnEscapedLineEnd: a block whose lines are joined only once an escape is resolved must be found, however the
// gap between them is divided.
func TestBlockOverAnEscapedLineEnd(t *testing.T) {
	m, err := New("+49 30 5550 1234")
	if err != nil {
		t.Fatal(err)
	}
	for _, gap := range []string{"\n %20", "%20\n", "%20\n%20", "%0A", "%20%0A ", " %0A%20"} {
		if text := "see ACs0OSAzMCA1NTU" + gap + "wIDEyMzQ, too"; !m.Names(text) {
			t.Errorf("%q: not found", text)
		}
	}
	for name, text := range map[string]string{"Łukasz Żak": "C\n> 581756B61737A20\\nC5BB616B", "usr_412": "7\n57=\n3725F\n 343132"} { // the first line is one digit
		if m, err := New(name); err != nil || !m.Names(text) {
			t.Errorf("%q: not found, %v", text, err)
		}
	}
}
