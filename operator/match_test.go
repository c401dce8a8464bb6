package operator_test

import (
	"slices"
	"testing"

	"memdesk/operator"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		filter  string
		columns []string
		want    bool
		spans   [][2]int // in the first column
	}{
		{"", []string{"boats.md"}, true, nil},
		{"boats", []string{"Boats.md", "x"}, true, [][2]int{{0, 5}}},
		{"boats md", []string{"Boats.md"}, true, [][2]int{{0, 5}, {6, 8}}},
		{"boats certain", []string{"boats.md", "certain"}, true, [][2]int{{0, 5}}},
		{"boats wrong", []string{"boats.md", "certain"}, false, [][2]int{{0, 5}}},
		{"^b.*md$", []string{"boats.md", "certain"}, true, [][2]int{{0, 8}}},
		{"^md", []string{"boats.md", "certain"}, false, nil},
		{"boats|piers", []string{"old piers"}, true, [][2]int{{4, 9}}},
		{"(conflicted", []string{"a (conflicted copy)"}, true, [][2]int{{2, 13}}}, // no valid expression: taken as words
		{"-f bmd", []string{"boats.md"}, true, [][2]int{{0, 1}, {6, 8}}},
		{"-f dmb", []string{"boats.md"}, false, nil},
		{"-f \ufffdx", []string{"a\xff"}, false, nil},
		{"-f \ufffdx", []string{"a\xffx"}, true, [][2]int{{1, 3}}},
		{"oa at", []string{"boats"}, true, [][2]int{{1, 4}}},
	} {
		m := operator.NewMatch(tt.filter)
		if got := m.Of(tt.columns...); got != tt.want {
			t.Errorf("%q of %q: %v", tt.filter, tt.columns, got)
		}
		if got := m.Spans(tt.columns[0]); !slices.Equal(got, tt.spans) {
			t.Errorf("%q in %q: %v, want %v", tt.filter, tt.columns[0], got, tt.spans)
		}
	}
}
