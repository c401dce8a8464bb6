package subject

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSieve compares with a search at every place, in texts that are searched in one
// piece and in two halves: nothing is missed, found twice or out of order, and who
// has enough is asked no more.
func TestSieve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SampledFrom([]byte("aAbc-\x00"))
		var all []pattern
		for range rapid.IntRange(1, 4).Draw(rt, "patterns") {
			all = append(all, pattern{bytes: rapid.SliceOfN(letters, 2, 14).Draw(rt, "pattern"), fold: rapid.Bool().Draw(rt, "fold"), term: len(all)})
		}
		var b []byte
		for _, size := range []int{rapid.SampledFrom([]int{1, lanes}).Draw(rt, "front"), rapid.SampledFrom([]int{1, lanes}).Draw(rt, "back")} {
			piece := rapid.SliceOfN(letters, 1, 200).Draw(rt, "piece")
			b = append(b, bytes.Repeat(piece, 1+size/len(piece))...)
		}
		for range rapid.IntRange(0, 8).Draw(rt, "planted") {
			p := all[rapid.IntRange(0, len(all)-1).Draw(rt, "which")].bytes
			at := rapid.SampledFrom([]int{0, len(b)/2 - 8, len(b) - len(p)}).Draw(rt, "place") + rapid.IntRange(-8, 8).Draw(rt, "beside")
			copy(b[max(0, min(at, len(b))):], p)
		}
		from := rapid.IntRange(0, min(len(b), 300)).Draw(rt, "from")
		want := make([][]int, len(all))
		for i := range all {
			for at := from; at+len(all[i].bytes) <= len(b); at++ {
				if all[i].is(b[at : at+len(all[i].bytes)]) {
					want[i] = append(want[i], at)
				}
			}
		}
		s := newSieve(all)
		got, n := make([][]int, len(all)), 0
		s.scan(b, from, func(p *pattern, at int) bool {
			got[p.term] = append(got[p.term], at)
			n++
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
		if n > 0 {
			stop, asked := rapid.IntRange(1, n).Draw(rt, "stop"), 0
			if s.scan(b, from, func(*pattern, int) bool { asked++; return asked < stop }) || asked != stop {
				rt.Fatalf("stopped at %d, asked %d times", stop, asked)
			}
		}
	})
}
