package conflicts

import (
	"testing"

	"memdesk/conflict"
	threeway "memdesk/conflict/merge"
)

// TestEachMarkerKeepsItsNames: an editor that is opened in the middle of the markers of an item must get each with its
// own names, and the choices made so far.
func TestEachMarkerKeepsItsNames(t *testing.T) {
	const first, second = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> ferry\n", "<<<<<<< yard\nc\n=======\nd\n>>>>>>> mill\n"
	hunks, sides, err := conflict.Inside("notes.md", "top\n"+first+"between\n"+second)
	if err != nil {
		t.Fatal(err)
	}
	m := merging{Comparison: conflict.Comparison{Hunks: hunks}, chosen: map[int]threeway.Side{}, sides: sides}
	for _, want := range []string{"top\n" + first + "between\n" + second, "top\na\nbetween\n" + second} {
		if got := threeway.Marked(m.Hunks, m.chosen, m.named); got != want {
			t.Errorf("the editor gets\n%s\nwant\n%s", got, want)
		}
		m.chosen[1] = threeway.TakeLeft
	}
}
