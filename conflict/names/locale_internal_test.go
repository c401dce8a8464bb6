package names

import (
	"slices"
	"testing"
)

// TestEveryWordOfTheLists: the quick look at a name must let each listed word through to its row.
func TestEveryWordOfTheLists(t *testing.T) {
	reads := func(word, name string) {
		if !slices.ContainsFunc(Classify(name, nil), func(m Match) bool {
			return slices.Contains(m.Bases, "note.md") && slices.Contains(m.Row.Keywords, word)
		}) {
			t.Errorf("%q is no copy of note.md", name)
		}
	}
	for _, word := range slices.Concat(dropboxListed, dropboxOther) {
		reads(word, "note ("+word+" Mira 2026-05-27).md")
	}
	for _, word := range copyPrefixes {
		reads(word, word+"note.md")
	}
}
