// Package merge compares texts line by line and word by word, and joins three versions of one text hunk by
// hunk. It decides nothing: where both sides changed the same lines it says so.
package merge

import (
	"slices"
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Edit is one place where b differs from a: the lines a[A0:A1] became b[B0:B1].
type Edit struct{ A0, A1, B0, B1 int }

// Lines cuts a text into lines with their ends, so that joining them gives the
// text back, byte for byte.
func Lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// Diff returns the edits that turn a into b, in order, never adjacent. Lines that occur once on each side
// anchor the comparison.
func Diff(a, b []string) []Edit {
	d := differ{a: a, b: b}
	d.run(0, len(a), 0, len(b))
	return d.out
}

type differ struct {
	a, b []string
	out  []Edit
}

// run compares a stretch of both sides.
func (d *differ) run(a0, a1, b0, b1 int) {
	for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
		a1, b1 = a1-1, b1-1
	}
	if a0 == a1 && b0 == b1 {
		return
	}
	if a0 == a1 || b0 == b1 {
		d.out = append(d.out, Edit{a0, a1, b0, b1})
		return
	}
	anchors := d.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 {
		d.shortest(a0, a1, b0, b1)
		return
	}
	for _, p := range anchors {
		if p.i < a0 || p.j < b0 { // before the stretch, by a run of equal lines
			continue
		}
		d.run(a0, p.i, b0, p.j)
		a0, b0 = p.i+1, p.j+1
		for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
			a0, b0 = a0+1, b0+1
		}
	}
	d.run(a0, a1, b0, b1)
}

type pair struct{ i, j int }

// anchors are the lines that occur once on each side, in the longest chain that keeps their order.
func (d *differ) anchors(a0, a1, b0, b1 int) []pair {
	const twice = -2
	at := make(map[string]pair, a1-a0)
	for i := a0; i < a1; i++ {
		if _, ok := at[d.a[i]]; ok {
			at[d.a[i]] = pair{twice, 0}
		} else {
			at[d.a[i]] = pair{i, -1}
		}
	}
	for j := b0; j < b1; j++ {
		p, ok := at[d.b[j]]
		switch {
		case !ok || p.i == twice:
		case p.j >= 0:
			at[d.b[j]] = pair{twice, 0}
		default:
			at[d.b[j]] = pair{p.i, j}
		}
	}
	var all []pair
	for i := a0; i < a1; i++ {
		if p := at[d.a[i]]; p.i == i && p.j >= 0 {
			all = append(all, p)
		}
	}
	return chain(all)
}

// chain is the longest subsequence whose j grows.
func chain(all []pair) []pair {
	if len(all) == 0 {
		return nil
	}
	tails := make([]int, 0, len(all)) // index of the pair that ends a chain of that length
	before := make([]int, len(all))
	for n, p := range all {
		lo := sort.Search(len(tails), func(i int) bool { return all[tails[i]].j >= p.j })
		before[n] = -1
		if lo > 0 {
			before[n] = tails[lo-1]
		}
		if lo == len(tails) {
			tails = append(tails, n)
		} else {
			tails[lo] = n
		}
	}
	out := make([]pair, len(tails))
	for k, n := len(tails)-1, tails[len(tails)-1]; k >= 0; k, n = k-1, before[n] {
		out[k] = all[n]
	}
	return out
}

// shortest finds the shortest edit of a stretch without anchors. Where it has more than about 100
// differences, the library gives up and longer parts count as replaced.
func (d *differ) shortest(a0, a1, b0, b1 int) {
	for _, e := range lcs.DiffLines(d.a[a0:a1], d.b[b0:b1]) {
		d.out = append(d.out, Edit{a0 + e.Start, a0 + e.End, b0 + e.ReplStart, b0 + e.ReplEnd})
	}
}
