package task

import (
	"strings"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// TestWorkThatBrokeOff: it must not read as work that is under way or as finished, whether an item failed before or not.
func TestWorkThatBrokeOff(t *testing.T) {
	for _, failed := range []int{0, 1} {
		b := Bulk{Noun: "item", Total: 10, Failed: failed, Err: model.Errorf(model.Internal, "journal", "no space left"), ended: true,
			rows: []Outcome{{Word: "forgotten", Ok: true}, {Word: "left"}}}
		if got := b.numbers(safetext.Escaper{}).String(); !strings.HasPrefix(got, "ended early at 2 of 10 items") || !strings.Contains(got, "no space left") {
			t.Errorf("%d failed: %s", failed, got)
		}
	}
}
