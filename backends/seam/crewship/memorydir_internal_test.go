package crewship

import (
	"slices"
	"strconv"
	"testing"
)

// TestSurveysAgree: crews whose directories do not exist yet stand in one order in every survey. Else each survey
// differs from the one before, and every list walks over all files.
func TestSurveysAgree(t *testing.T) {
	known := &directory{crews: map[string]crew{}}
	for i := range 9 {
		known.crews[strconv.Itoa(i)] = crew{workspace: "w"}
	}
	for range 20 {
		e := enumeration{known: known, base: "/base"}
		e.expected()
		if !slices.IsSortedFunc(e.out, func(a, b *memoryDir) int { return int(a.crew[0]) - int(b.crew[0]) }) || len(e.out) != 9 {
			t.Fatal("the crews are in another order")
		}
	}
}
