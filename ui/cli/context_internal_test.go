package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestContextOf: only equal lines beside a difference are shown, and a gap stands for the others.
func TestContextOf(t *testing.T) {
	for _, tt := range []struct {
		equal, want string
		first, last bool
	}{
		{"a b c d e f", "a b c d e f", false, false},
		{"a b c d e f", "a b c d e f", true, false},
		{"a b c d e f g", "a b c ... e f g", false, false},
		{"a b c d e f g", "... e f g", true, false},
		{"a b c d e f g", "a b c ...", false, true},
		{"a b c d e f g", "...", true, true},
	} {
		if got := contextOf(strings.Fields(tt.equal), tt.first, tt.last); !slices.Equal(got, strings.Fields(tt.want)) {
			t.Errorf("%q, first %v, last %v: %q, want %q", tt.equal, tt.first, tt.last, got, tt.want)
		}
	}
}
