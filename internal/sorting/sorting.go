// Package sorting sorts slices where an allocation is no matter. It sorts the places of
// things instead of the things: one sort serves every type, where the standard
// library's generic one is compiled anew for each (some 15 KB of code, and half as much
// again in tables). Sorts in the innermost loops use package slices.
package sorting

import "slices"

// By sorts s in the order of cmp, which is negative where a comes before b, 0 where
// they are alike. What is alike keeps its order.
func By[S ~[]T, T any](s S, cmp func(a, b T) int) {
	at := places(len(s), func(i, j int32) int { return cmp(s[i], s[j]) })
	if at == nil {
		return
	}
	sorted := make([]T, len(s))
	for i, from := range at {
		sorted[i] = s[from]
	}
	copy(s, sorted)
}

// places is the order of n things; nil where they have it already. Two thousand
// million things are more than fits in memory.
func places(n int, cmp func(i, j int32) int) []int32 {
	inOrder := true
	for i := 1; i < n && inOrder; i++ {
		inOrder = cmp(int32(i-1), int32(i)) <= 0
	}
	if inOrder {
		return nil
	}
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	slices.SortFunc(at, func(i, j int32) int {
		if c := cmp(i, j); c != 0 {
			return c
		}
		return int(i) - int(j)
	})
	return at
}
