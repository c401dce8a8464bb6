package linesearch

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// TestRankingIsOfEveryLine: what is put off to the end must give the answer of every line of every text, ranked.
func TestRankingIsOfEveryLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	for range 300 {
		q, err := New(pick("boat", "BOAT", "old boat", "ß", "boat  old", "kelvin"))
		if err != nil {
			t.Fatal(err)
		}
		r := Ranking{Query: q, Limit: 1 + rng.IntN(model.RecallLimit), Lines: q.Lines}
		var want []hit
		total := int64(0)
		for i := range rng.IntN(200) {
			var b strings.Builder
			for range rng.IntN(6) {
				b.WriteString(pick("boat", "an old boat", "Old\tBoat", "İ \u212aelvin", "GROSS ẞ ß", "\xff", "\r", strings.Repeat("quiet ", 4000)) + pick(" ", "\n", "\r\n"))
			}
			text, id, modified := b.String(), fmt.Sprint("n", i), time.Unix(rng.Int64N(5), 0)
			var lines []hit
			n, whole, parts := 0, 0, 0
			for line := range strings.Lines(text) {
				n++
				low := snippet.Fold(line)
				at, score := q.place(low)
				if at < 0 {
					continue
				}
				if score == scorePhrase {
					whole++
				} else if parts++; parts > model.RecallLimit {
					continue
				}
				line = window(strings.TrimRight(line, "\r\n"), len([]rune(low[:at])))
				lines = append(lines, hit{RecallSnippet: model.RecallSnippet{Snippet: line, ID: id, Source: id, Line: n, Score: score}, modified: modified})
			}
			if want = append(want, lines...); len(lines) > 0 {
				total++
			}
			if q.In([]byte(text)) {
				if found, ok := r.Found(text); ok {
					r.Add(id, modified, text, found)
				}
			}
		}
		slices.SortFunc(want, func(a, b hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), b.modified.Compare(a.modified), strings.Compare(a.ID, b.ID), cmp.Compare(a.Line, b.Line))
		})
		var hits []model.RecallSnippet
		for _, h := range want[:min(len(want), r.Limit)] {
			hits = append(hits, h.RecallSnippet)
		}
		if got := r.Result(1); !slices.EqualFunc(got.Hits, hits, func(a, b model.RecallSnippet) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) || got.Total != total {
			t.Fatalf("%q: %d of %+v, want %d of %+v", q.phrase, got.Total, got.Hits, total, hits)
		}
	}
}
