package sqlgraph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

func FuzzCursor(f *testing.F) {
	list := NewList("nodes", hypergraph.Listing{}, List{Key: "n.created_at"})
	f.Add(list.Beside(true, Position{Key: int64(5), ID: "x"}))
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		for _, floats := range []bool{true, false} {
			list.Floats = floats
			c, p, err := list.parse("list", text)
			if err != nil && model.KindOf(err) != model.InvalidInput {
				t.Error(err)
			}
			if err == nil && c.Mark && p.Key == nil {
				t.Error("a place without its key")
			}
		}
	})
}

// TestConditions covers both ways of naming parameters; each name must stand for its own value.
func TestConditions(t *testing.T) {
	build := func(c Conditions) string {
		c.Add(`a = ? OR b = ?`, 1, "two")
		c.In(`c`, []string{"x", "y"})
		c.NotIn(`d`, []string{"z"})
		c.In(`e`, nil)
		limit := c.SQL(` LIMIT ?`, 9)
		d := c.Clone()
		d.Add(`f = ?`, 0) // a clone leaves its original unchanged
		return c.Where() + limit + fmt.Sprintf(" %v", c.Args)
	}
	for want, c := range map[string]Conditions{
		` WHERE a = ?1 OR b = ?2 AND c IN (?3,?4) AND d NOT IN (?5) LIMIT ?6 [1 two x y z 9]`:                   {},
		` WHERE w = $1 AND a = $2 OR b = $3 AND c = ANY($4) AND NOT d = ANY($5) LIMIT $6 [w 1 two [x y] [z] 9]`: {Dollar: true, Parts: []string{`w = $1`}, Args: []any{"w"}},
	} {
		if d := cmp.Diff(want, build(c)); d != "" {
			t.Error(d)
		}
	}
}

// TestBest compares with sorting all matches, in every order of arrival.
func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]Match, 500)
	for i := range all {
		all[i] = Match{ID: fmt.Sprint(i), Seq: r.Int64N(20), Score: float64(r.IntN(20))}
	}
	want := slices.SortedFunc(slices.Values(all), ranked)
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	for _, limit := range []int{-1, 0, 1, 2, 7, 250, 499, 500, 501, 2000} {
		for _, arrival := range [][]Match{all, want, backwards} {
			b := Best{Limit: limit}
			for _, m := range arrival {
				b.Offer(m)
				b.Offer(Match{ID: m.ID, Score: math.NaN()})
			}
			first := len(want)
			if limit > 0 {
				first = min(limit, first)
			}
			if d := cmp.Diff(want[:first], b.Sorted()); d != "" {
				t.Errorf("limit %d: %s", limit, d)
			}
		}
	}
}
