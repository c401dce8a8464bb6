package gdpr

import (
	"fmt"
	"slices"
	"testing"
)

// TestChildrenGoFirstInADeepTree: at any depth a child goes before its parent, and a cycle ends.
func TestChildrenGoFirstInADeepTree(t *testing.T) {
	const deep = 3000
	children := map[string][]string{"a": {"b"}, "b": {"a"}}
	steps := []Step{{ID: "a"}, {ID: "b"}}
	for i := range deep {
		steps = append(steps, Step{ID: fmt.Sprint(i)})
		children[fmt.Sprint(i)] = []string{fmt.Sprint(i + 1)}
	}
	place := map[string]int{}
	for i, st := range childrenFirst(slices.Clone(steps), children) {
		place[st.ID] = i
	}
	for i := range deep - 1 {
		if place[fmt.Sprint(i)] < place[fmt.Sprint(i+1)] {
			t.Fatalf("%d goes before its child", i)
		}
	}
}
