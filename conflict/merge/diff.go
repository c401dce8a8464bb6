// Package merge compares texts line by line and word by word, and joins three versions of one text hunk by
// hunk. It decides nothing: where both sides changed the same lines it says so.
package merge

import (
	"slices"
	"sort"
	"strings"
)

// Edit is one place where b differs from a: the lines a[A0:A1] became b[B0:B1].
type Edit struct{ A0, A1, B0, B1 int }

// Lines cuts a text into lines with their ends, so that joining them gives the
// text back, byte for byte.
func Lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// Diff returns the edits that turn a into b, in order, never adjacent. Lines that occur once on each side
// anchor the comparison; between them it finds the shortest edit, up to maxEffort, beyond which a stretch
// counts as replaced.
func Diff(a, b []string) []Edit {
	d := differ{}
	ids := make(map[string]int, len(a))
	d.a, d.b = d.number(ids, a), d.number(ids, b)
	d.run(0, len(d.a), 0, len(d.b))
	return join(d.out)
}

// maxEffort bounds the number of differences that are searched for one by one between two anchors.
const maxEffort = 1500

type differ struct {
	a, b []int
	out  []Edit
}

func (d *differ) number(ids map[string]int, lines []string) []int {
	out := make([]int, len(lines))
	for i, l := range lines {
		id, ok := ids[l]
		if !ok {
			id = len(ids)
			ids[l] = id
		}
		out[i] = id
	}
	return out
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
	at := make(map[int]pair, a1-a0)
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

// shortest finds the shortest edit of a stretch (Myers), or returns the stretch as replaced beyond maxEffort.
func (d *differ) shortest(a0, a1, b0, b1 int) {
	n, m := a1-a0, b1-b0
	limit := min(n+m, maxEffort)
	v := make([]int, 2*limit+2)
	var trace [][]int
	for e := 0; e <= limit; e++ {
		trace = append(trace, append([]int(nil), v[limit-e:limit+e+1]...))
		for k := -e; k <= e; k += 2 {
			x := 0
			switch {
			case e == 0:
			case k == -e || k != e && v[limit+k-1] < v[limit+k+1]:
				x = v[limit+k+1]
			default:
				x = v[limit+k-1] + 1
			}
			for x < n && x-k < m && x-k >= 0 && d.a[a0+x] == d.b[b0+x-k] {
				x++
			}
			v[limit+k] = x
			if x >= n && x-k >= m {
				d.backtrack(trace, e, k, a0, b0)
				return
			}
		}
	}
	d.out = append(d.out, Edit{a0, a1, b0, b1})
}

// backtrack writes the edits of a found path. trace[e] is v before step e, around
// its middle.
func (d *differ) backtrack(trace [][]int, e, k, a0, b0 int) {
	var rev []Edit
	for ; e > 0; e-- {
		t := trace[e]
		at := func(k int) int { return t[k+e] }
		prev := k - 1
		if k == -e || k != e && at(k-1) < at(k+1) {
			prev = k + 1
		}
		px := at(prev)
		py := px - prev
		// the single step ends where the run of equal lines begins
		if prev == k+1 {
			rev = append(rev, Edit{a0 + px, a0 + px, b0 + py, b0 + py + 1})
		} else {
			rev = append(rev, Edit{a0 + px, a0 + px + 1, b0 + py, b0 + py})
		}
		k = prev
	}
	slices.Reverse(rev)
	d.out = append(d.out, rev...)
}

// join merges touching edits.
func join(all []Edit) []Edit {
	out := all[:0]
	for _, e := range all {
		if n := len(out); n > 0 && out[n-1].A1 == e.A0 && out[n-1].B1 == e.B0 {
			out[n-1].A1, out[n-1].B1 = e.A1, e.B1
			continue
		}
		out = append(out, e)
	}
	return out
}
