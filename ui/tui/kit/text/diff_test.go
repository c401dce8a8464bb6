package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// TestAComparisonHangs: the rows of a wrapped line of a comparison stand below its text, in the look of its
// sign, with the words that changed in theirs.
func TestAComparisonHangs(t *testing.T) {
	page := NewPage(nil, "- one two three\n+ one four three\n")
	page.Kind, page.Marks = Diff, []Mark{{6, 9}, {22, 26}}
	st := paint.New(paint.Looks{Colour: true}, true)
	rows, _ := Layout{St: st, Width: 13}.Around(page, Start, 0, 9)
	p := &Pager{St: st, Text: page, Shown: page, Rows: rows}
	paints := map[paint.Look]string{}
	for _, look := range []paint.Look{paint.LookRemoved, paint.LookRemovedWord, paint.LookAdded, paint.LookAddedWord} {
		paints[look] = st.PaintOf(look).On
	}
	want := []string{
		"  " + paints[paint.LookRemoved] + "- one " + st.PaintOf(paint.LookRemoved).Off + paints[paint.LookRemovedWord] + "two" + st.PaintOf(paint.LookRemovedWord).Off + "  ",
		"    " + paints[paint.LookRemoved] + "three" + st.PaintOf(paint.LookRemoved).Off + "    ",
	}
	var got []string
	for _, r := range rows[:2] {
		got = append(got, p.renderRow(r, 13))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(paints) != 4 || paints[paint.LookRemovedWord] == paints[paint.LookAddedWord] || paints[paint.LookRemovedWord] == paints[paint.LookRemoved] {
		t.Errorf("looks are alike: %v", paints)
	}
}

// TestABreakIsNotMarked: a mark over a break has no blank at the end of its row.
func TestABreakIsNotMarked(t *testing.T) {
	page := NewPage(nil, "one two three\n")
	page.Kind, page.Marks = Diff, []Mark{{0, 13}}
	rows, _ := Layout{St: paint.New(paint.Looks{Colour: true}, true), Width: 12}.Around(page, Start, 0, 9)
	var marked []string
	for _, r := range rows {
		for _, m := range r.Runs {
			marked = append(marked, r.Text.String()[m.Start:m.End])
		}
	}
	if d := cmp.Diff([]string{"one two", "three"}, marked); d != "" {
		t.Error(d)
	}
}

// TestAStateHangs: the words of a state go on below its first word, not below its sign.
func TestAStateHangs(t *testing.T) {
	st := paint.New(paint.Looks{Colour: true}, true)
	var got []string
	for _, row := range Paragraph(st, State(st, paint.ToneBad, safetext.Const("one two three")), 12) {
		got = append(got, ansi.Strip(row))
	}
	if d := cmp.Diff([]string{" " + st.Glyphs.State[paint.ToneBad] + " one two  ", "   three    "}, got); d != "" {
		t.Error(d)
	}
}

// TestRemovedRuleIsNoHead: a removed or added line that begins like the names of a comparison must look like what
// it is, also in the first and the last place.
func TestRemovedRuleIsNoHead(t *testing.T) {
	const body = "# one\n--- old\n+++ new\n@@ line 1\n- -- sql\n+ ++ plus\n  same\n- -- end\n+ ++ end\n# two\n--- old\n+++ new\n@@ line 1\n- -- only\n"
	want := map[int]paint.Look{1: paint.LookStrong, 2: paint.LookStrong, 4: paint.LookRemoved, 5: paint.LookAdded, 7: paint.LookRemoved,
		8: paint.LookAdded, 10: paint.LookStrong, 11: paint.LookStrong, 13: paint.LookRemoved}
	at := 0
	for n, line := range slices.Collect(strings.Lines(body)) {
		if whole, _ := diffLooks(body[at:]); want[n] != paint.LookPlain && whole != want[n] {
			t.Errorf("line %d, %q: %v, want %v", n, line, whole, want[n])
		}
		at += len(line)
	}
}
