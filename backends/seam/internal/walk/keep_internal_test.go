package walk

import (
	"slices"
	"strings"
	"testing"
)

// FuzzKeep: the rows of a directory must be in the bytewise order of its names.
func FuzzKeep(f *testing.F) {
	f.Add("b a ab abcdefgh abcdefghi abcdefgh.md abcdefg abcdefg\x01 é \xff\x80 note-10.md note-9.md note-9")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		want := strings.Fields(strings.ReplaceAll(text, "\x00", ""))
		var names []byte
		var taken []entry
		for _, name := range want {
			if len(name) > 255 {
				t.Skip()
			}
			taken = append(taken, entry{begin([]byte(name)), uint32(len(names)), uint16(len(name))})
			names = append(names, name...)
		}
		slices.Sort(want)
		var d folder
		d.keep(names, taken)
		var got []string
		for i := range d.rows {
			got = append(got, d.name(&d.rows[i]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
