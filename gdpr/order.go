package gdpr

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// order sorts steps so that each finds its item as it was planned. Where two rules differ the first one counts:
//
//  1. The last duplicate of a work item's id goes first: those behind one that goes get the handle before theirs.
//  2. An index is edited before the items that it lists: a rename or removal edits the index's line too, and the index
//     would then differ from the planned revision.
//  3. What goes comes first, then items that get a new id, a parent before its children, then other edits: a link must lead
//     to an existing item.
//  4. An item goes before those that would take it along, by its own step.
//  5. An edge goes before the items that it ties.
//  6. A child goes before its parent.
func (c *decision) order(ctx context.Context, steps []Step) error {
	fall, err := c.fallsUnder(ctx, steps)
	if err != nil {
		return err
	}
	children, index := heights(c.children), map[string]bool{}
	for _, f := range c.found {
		index[f.Item.ID] = tierOf(c.store, f.Item).Index
	}
	places := map[string][]int{}
	for _, st := range steps {
		kind, renamed := 0, 0
		switch {
		case st.Action == Redact && st.NewID != "":
			kind, renamed = 1, -children(st.ID)
		case st.Action == Redact:
			kind = 2
		}
		places[st.ID] = []int{-c.duplicate(st.ID), late(!index[st.ID] || st.Action != Redact), kind, renamed, fall(st.ID), late(st.Layer != layerEdge), children(st.ID)}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return slices.Compare(places[a.ID], places[b.ID]) })
	return nil
}

// late is the place in an order in which whatever is so comes last.
func late(is bool) int {
	if is {
		return 1
	}
	return 0
}

// duplicate is the number of a work item among those of one id, which ends its handle.
func (c *decision) duplicate(id string) (n int) {
	if i := strings.LastIndexByte(id, '#'); c.store.Work != nil && i > 0 {
		n, _ = strconv.Atoi(id[i+1:])
	}
	return n
}

// fallsUnder returns the function that counts the generations that fall with an item.
func (c *decision) fallsUnder(ctx context.Context, steps []Step) (func(id string) int, error) {
	under := map[string][]string{}
	for _, st := range steps {
		if c.store.Falls == nil || st.Action != Forget && st.NewID == "" {
			continue
		}
		falls, err := c.store.Falls(ctx, []string{st.ID})
		if err != nil {
			return nil, err
		}
		for _, f := range falls {
			under[st.ID] = append(under[st.ID], f.ID)
		}
	}
	return heights(under), nil
}

// heights returns the function that counts the generations under an item. A tree may be deeper than a stack.
func heights(children map[string][]string) func(id string) int {
	height, done := map[string]int{}, map[string]bool{}
	return func(id string) int {
		for open := []string{id}; len(open) > 0; {
			at := open[len(open)-1]
			if _, begun := height[at]; !begun {
				height[at] = 0 // a cycle ends here
				for _, c := range children[at] {
					if _, begun := height[c]; !begun {
						open = append(open, c)
					}
				}
				continue
			}
			open = open[:len(open)-1]
			if done[at] {
				continue
			}
			for _, c := range children[at] {
				height[at] = max(height[at], 1+height[c])
			}
			done[at] = true
		}
		return height[id]
	}
}
