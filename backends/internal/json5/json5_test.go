package json5

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]any{
		"\ufeff{a: 'x', // one\n \"b\": [1, +.5, 0xA,], /* two */}": map[string]any{"a": "x", "b": []any{"1", "+.5", "0xA"}},
		`"a\u0062\x63\
d\n"`: "abcd\n",
		"'a\\\r\nb\\\rc'":            "abc",
		`"\ud83d\ude00\ud83d\u0041"`: "\U0001F600\ufffdA",
		"[]":                         []any{},
		"{":                          nil,
		"1 2":                        nil,
		"'x":                         nil,
	} {
		got, err := Parse(text)
		if want == nil {
			if err == nil {
				t.Errorf("%q is taken for %v", text, got)
			}
			continue
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{a: 'x', b: [1, /* c */ {}]} // end`)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = Parse(text) })
}
