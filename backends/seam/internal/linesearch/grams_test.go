package linesearch_test

import (
	"strings"
	"testing"

	"memdesk/backends/seam/internal/linesearch"
)

// FuzzGrams: a text that contains the words must never be dismissed.
func FuzzGrams(f *testing.F) {
	for _, q := range []string{"kelvin", "İstanbul", "straße", "a b", "日本語", "\xff\xfeab", "ꭰꭱꭲ", "λόγος", "ABC abc", "", "ab"} {
		f.Add("x "+strings.ToUpper(q)+" \u212aELVIN y", q)
		f.Add(q+q, q)
		f.Add("nothing of it", q)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		g := linesearch.GramsOf([]byte(text))
		word := func(i int) uint64 { return g[i] }
		if q, err := linesearch.New(query); err == nil && q.In([]byte(text)) && !q.May(word) {
			t.Errorf("%q is in %q and dismissed", query, text)
		}
		if q := linesearch.Whole(query); q.In([]byte(text)) && !q.May(word) {
			t.Errorf("%q as a whole is in %q and dismissed", query, text)
		}
	})
}

// TestGramsDismiss: a note of 800 bytes must be dismissed for most words that it lacks.
func TestGramsDismiss(t *testing.T) {
	text := strings.Repeat("The quarterly review of the harbour lights moved to Thursday; berth nine stays closed. ", 9)
	g, passed := linesearch.GramsOf([]byte(text)), 0
	words := strings.Fields("zebra otters kernel violin mango submarine quiver jacket falcon pixel nebula crayon wombat lagoon tundra velvet")
	for _, w := range words {
		q, err := linesearch.New(w)
		if err != nil || !q.Narrow() {
			t.Fatal(w, err)
		}
		if q.May(func(i int) uint64 { return g[i] }) {
			passed++
		}
	}
	if passed > 1 {
		t.Errorf("%d of %d words that are not there pass", passed, len(words))
	}
	if q, err := linesearch.New("ab"); err != nil || q.Narrow() {
		t.Error("two bytes are no three")
	}
}
