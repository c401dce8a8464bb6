package conflicts

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/conflict"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

// TestSidesKeepTheirColumns: a line longer than its column must continue below, beside its other side.
func TestSidesKeepTheirColumns(t *testing.T) {
	rs := &resolutions{d: &pane.Bench{Desk: desktest.New()}}
	var got []string
	for _, l := range rs.sides(conflict.Comparison{
		BaseText: "same\nthe early boat leaves at five from pier two\nlast\n",
		CopyText: "same\nthe early boat leaves at six from pier two\nlast\nmore than one column has room for\n",
	}, 45) {
		got = append(got, strings.TrimRight(l.Value.String(), " "))
	}
	want := []string{
		"  BASE                   COPY",
		"1 same                 1 same",
		"2 the early boat     | 2 the early boat",
		"  leaves at «five»       leaves at «six»",
		"  from pier two          from pier two",
		"3 last                 3 last",
		"                     > 4 more than one",
		"                         column has room",
		"                         for",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
