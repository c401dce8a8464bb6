package conflict

import (
	"strings"
	"testing"
)

func TestNewSlugFits(t *testing.T) {
	long := strings.Repeat("a", 60) + "-bcdefghijkl"
	for _, tt := range []struct{ slug, old, now, want string }{
		{"plan", "plan", "plan-version-2", "plan-version-2"},
		{"plan", "p", "version-p-version-2", "plan-version"},
		{long, "p", "p-version-12", strings.Repeat("a", 60) + "-version-12"},
		{strings.Repeat("é", 36), "p", "p-version-12", strings.Repeat("é", 30) + "-version-12"},
	} {
		if got := newSlug(tt.slug, tt.old, tt.now); got != tt.want || len(got) > slugMost {
			t.Errorf("%q from %q: %q, want %q", tt.slug, tt.now, got, tt.want)
		}
	}
}
