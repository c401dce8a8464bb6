package linear

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

// Every word of the linear mode must be the word of an act or of a command.
func TestWordsAreActs(t *testing.T) {
	l := newLinear(t.Context(), tui.Options{}, strings.NewReader(""), io.Discard)
	known := slices.Concat(act.OnLists(), act.OnItems(), []act.Act{act.Show}, l.a.Line.Verbs(), l.acts())
	words := slices.Collect(maps.Keys(l.heard()))
	for _, v := range l.verbs() {
		words = append(words, v.Verb)
		if v.Ask == nil && v.Do == nil {
			t.Errorf("%s does nothing", v.Verb)
		}
	}
	for _, word := range words {
		if !slices.ContainsFunc(known, func(a act.Act) bool { return a.Verb == word }) {
			t.Errorf("%s is a word of the linear mode only", word)
		}
	}
}
