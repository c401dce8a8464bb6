package dialog

import "testing"

// TestNoSlivers: a box must not leave the ends of the lines behind it as columns of letters.
func TestNoSlivers(t *testing.T) {
	line := "0123456789abcdefghijklmnopqrstuvwxyz"
	for _, c := range []struct {
		x, width int
		want     string
	}{
		{2, 30, "  [box]    "},
		{14, 5, "0123456789abcd[box]jklmnopqrstuvwxyz"},
		{14, 20, "0123456789abcd[box]  "},
	} {
		if got := laidOver(line, "[box]", c.x, c.width); got != c.want {
			t.Errorf("at %d, %d wide: %q, want %q", c.x, c.width, got, c.want)
		}
	}
}
