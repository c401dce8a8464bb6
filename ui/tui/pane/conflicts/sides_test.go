package conflicts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/conflict"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/pane"
)

// TestSidesKeepTheirColumns: a line longer than its column must continue below, beside its other side, and the
// words that differ must be painted in both.
func TestSidesKeepTheirColumns(t *testing.T) {
	day := time.Date(2026, 5, 21, 8, 30, 0, 0, time.UTC)
	rs := &resolutions{d: &pane.Bench{Desk: desktest.New()}}
	var got, gone, come []string
	for _, l := range rs.sides(conflict.Comparison{
		Copy:     conflict.Copy{BaseSize: 15, CopySize: 17, BaseTime: day, CopyTime: day.Add(time.Hour)},
		BaseText: "same\nthe early boat leaves at five from pier two\nlast\n",
		CopyText: "same\nthe early boat leaves at six from pier two\nlast\nmore than one column has room for\n",
	}, 45) {
		got = append(got, strings.TrimRight(l.Value.String(), " "))
		for _, r := range l.Runs {
			switch r.Look {
			case paint.LookRemovedWord:
				gone = append(gone, l.Value.String()[r.Start:r.End])
			case paint.LookAddedWord:
				come = append(come, l.Value.String()[r.Start:r.End])
			}
		}
	}
	want := []string{
		"  BASE, 15 B,            COPY, 17 B,",
		"  2026-05-21             2026-05-21",
		"  08:30:00Z              09:30:00Z, newer",
		"1 same                 1 same",
		"2 the early boat     | 2 the early boat",
		"  leaves at five         leaves at six from",
		"  from pier two          pier two",
		"3 last                 3 last",
		"                     > 4 more than one",
		"                         column has room",
		"                         for",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([][]string{{"five"}, {"six"}}, [][]string{gone, come}); d != "" {
		t.Error(d)
	}
}

// TestTheCopyStandsNearItsBase: in a wide terminal the base takes what its longest line needs, and the copy the rest.
func TestTheCopyStandsNearItsBase(t *testing.T) {
	rs := &resolutions{d: &pane.Bench{Desk: desktest.New()}}
	var got []string
	for _, l := range rs.sides(conflict.Comparison{
		Copy:     conflict.Copy{BaseSize: 15, CopySize: 17},
		BaseText: "same\n- late boat\n", CopyText: "same\n- late boat\n- a line for which half of the room is not enough\n",
	}, 80) {
		got = append(got, strings.TrimRight(l.Value.String(), " "))
	}
	want := []string{
		"  BASE, 15 B      COPY, 17 B",
		"1 same          1 same",
		"2 - late boat   2 - late boat",
		"              > 3 - a line for which half of the room is not enough",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
