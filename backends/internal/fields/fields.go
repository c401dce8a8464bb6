// Package fields makes and mends the metadata fields of items.
package fields

import (
	"slices"
	"unicode/utf8"

	"memdesk/model"
)

// ReadOnly makes fields that only the owner's program writes of names and values in turn, without empty ones.
func ReadOnly(pairs ...string) (out []model.Field) {
	for p := range slices.Chunk(pairs, 2) {
		if p[1] != "" {
			out = append(out, model.Field{Name: p[0], Value: p[1], ReadOnly: true})
		}
	}
	return out
}

// Restored gives a value that was read from a document's text its stored bytes back, where those are no UTF-8
// and the text had to replace them.
func Restored(have, want []model.Field) []model.Field {
	broken := map[string]string{}
	for _, f := range have {
		if !utf8.ValidString(f.Value) {
			broken[f.Name] = f.Value
		}
	}
	if len(broken) == 0 || want == nil {
		return want
	}
	out := slices.Clone(want)
	for i, f := range out {
		if raw, ok := broken[f.Name]; ok && f.Value == string([]rune(raw)) {
			out[i].Value = raw
		}
	}
	return out
}
