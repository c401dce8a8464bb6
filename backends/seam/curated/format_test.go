package curated

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestWhatIsWrittenReadsBack: permitted entries must read back unchanged, and make a file without drift.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		for _, s := range rapid.SliceOf(rapid.StringOf(rapid.RuneFrom([]rune("ab §\n\té\r\u0085\x1c")))).Draw(t, "texts") {
			text := trim(s)
			if unfit(text) == "" && find(entries, hashOf(text)) < 0 {
				entries = append(entries, newEntry(text))
			}
		}
		raw := join(entries)
		if got := parse(raw); !slices.Equal(got, entries) {
			t.Fatalf("%q reads back as %q, was %q", raw, got, entries)
		}
		if why := drift(raw, entries, 1<<20); why != "" {
			t.Fatalf("%q has drifted: %s", raw, why)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a\n§\nb", "§", "\n§\n\n§\n", "a\r\n§\r\nb", "\u00a7\n§\n§"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		entries := parse(raw)
		for i, e := range entries {
			if e.text == "" || e.text != trim(e.text) || strings.Contains(e.text, separator) || find(entries, e.hash) != i {
				t.Errorf("%q gives the entry %q", raw, e.text)
			}
		}
		if utf8.ValidString(raw) && drift(raw, entries, 1<<30) == "" && join(entries) != trim(raw) {
			t.Errorf("%q would change when it is written", raw)
		}
	})
}

func FuzzProposal(f *testing.F) {
	f.Add([]byte(`{"id":"x","subsystem":"memory","payload":{"action":"add","target":"user","content":"c"},"created_at":1e300}`))
	f.Add([]byte(`{"payload":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := parseProposal("x", data)
		it := p.item()
		if p.bad != "" && it.Body != string(data) {
			t.Errorf("what cannot be understood is shown as %q, not as it is", it.Body)
		}
		if _, ok := p.file(); p.bad == "" && !ok {
			t.Errorf("%q is understood without a target", data)
		}
	})
}
