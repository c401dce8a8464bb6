package gdpr

import (
	"fmt"
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
	if err := newDecision(&search{children: children}).order(t.Context(), steps); err != nil {
		t.Fatal(err)
	}
	for i, st := range steps {
		place[st.ID] = i
	}
	for i := range deep - 1 {
		if place[fmt.Sprint(i)] < place[fmt.Sprint(i+1)] {
			t.Fatalf("%d goes before its child", i)
		}
	}
}
