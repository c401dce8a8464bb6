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
	}, 45, 0) {
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
	}, 80, 0) {
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

// TestEqualLinesAreLeftOut of sides that have more lines than the detail, so that the difference is in sight.
func TestEqualLinesAreLeftOut(t *testing.T) {
	rs := &resolutions{d: &pane.Bench{Desk: desktest.New()}}
	for _, c := range []struct {
		base, copied string
		want         string
	}{
		{"1 2 3 4 5 6 7 8 9", "1 2 3 4 5 six 7 8 9", "… 2 lines alike|3|4|5|6<>six|7|8|9"},
		{"1 2 3 4 5 6 7 8 9", "one 2 3 4 5 6 7 8 nine", "1<>one|2|3|4|5|6|7|8|9<>nine"},
		{"1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8 9", "… 5 lines alike|6|7|8|<>9"},
		{"1 2 3", "1 2 three", "1|2|3<>three"},
	} {
		split := func(s string) string { return strings.ReplaceAll(s, " ", "\n") + "\n" }
		var got []string
		for _, l := range rs.sides(conflict.Comparison{BaseText: split(c.base), CopyText: split(c.copied)}, 80, 7)[1:] {
			row := strings.TrimSpace(l.Value.String())
			if !strings.Contains(row, "alike") {
				words := strings.Fields(row)
				left, right := words[1:2], words[len(words)-1:]
				if row = left[0]; words[0] == ">" {
					row = "<>" + right[0]
				} else if left[0] != right[0] {
					row = left[0] + "<>" + right[0]
				}
			}
			got = append(got, row)
		}
		if got := strings.Join(got, "|"); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.base, c.copied, got, c.want)
		}
	}
}
