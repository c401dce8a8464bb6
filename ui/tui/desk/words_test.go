package desk_test

import (
	"testing"

	"memdesk/ui/tui/desk"
)

func TestFirstWords(t *testing.T) {
	for in, want := range map[string]string{
		"- 2026-02-24T07:18:00Z — moved the route": "moved the route",
		"2026-02-24 07:18 staging gate":            "staging gate",
		"# 2026-02-24T07:18:00+02:00":              "# 2026-02-24T07:18:00+02:00", // nothing else
		"2026-02-24":                               "2026-02-24",
		"Thursday":                                 "Thursday",
		"- a list":                                 "- a list",
	} {
		if got := desk.FirstWords(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
