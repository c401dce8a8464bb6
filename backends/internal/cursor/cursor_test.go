package cursor

import (
	"math"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, p := range []Row{{}, {Before: true, Value: -1, ID: "a/b.md"}, {Value: math.MaxInt64, ID: "\xff\x00"}, {Value: math.MinInt64}} {
		text := Encode([]byte("list"), p)
		if got, ok := Decode([]byte("list"), text); !ok || got != p {
			t.Errorf("%+v became %+v, %v", p, got, ok)
		}
		if _, ok := Decode([]byte("another list"), text); ok {
			t.Errorf("%+v is taken by another list", p)
		}
	}
	// What W16 was about: an id of 43 bytes made 190 letters.
	if n := len(Encode([]byte("list"), Row{Value: 1795132800000000000, ID: "crews/crew_platform/agents/ada/AGENT.md/xyz"})); n > 80 {
		t.Errorf("%d letters", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode([]byte("list"), Row{Value: 7, ID: "x"}))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if p, ok := Decode([]byte("list"), text); ok {
			if again, ok := Decode([]byte("list"), Encode([]byte("list"), p)); !ok || again != p {
				t.Errorf("%q: %+v, then %+v", text, p, again)
			}
		}
	})
}
