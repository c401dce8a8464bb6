package gdpr

import (
	"testing"

	"memdesk/model"
)

// TestNested: a store says which of its layers are repositories, whatever words its reason has.
func TestNested(t *testing.T) {
	for what, tt := range map[string]struct {
		layer model.Layer
		want  bool
	}{
		"a repository":    {model.Layer{ID: "n/.git", File: "/x/n/.git", Repository: true, Reason: "git has its own words"}, true},
		"the store's own": {model.Layer{ID: ".git", File: "/x/.git", Repository: true}, false},
		"another file":    {model.Layer{ID: "n/a.md", File: "/x/n/a.md", Reason: "git's history is elsewhere"}, false},
	} {
		if got := nested(tt.layer); got != tt.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
