package text

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/ui/tui/kit/paint"
)

// TestAComparisonHangs: the rows of a wrapped line of a comparison stand below its text, in the look of its
// sign, with the words that changed in theirs.
func TestAComparisonHangs(t *testing.T) {
	page := NewPage(nil, "-one two three\n+one four three\n")
	page.Kind, page.Marks = Diff, []Mark{{5, 8}, {20, 24}}
	st := paint.New(paint.Looks{Colour: true}, true)
	rows, _ := Layout{St: st, Width: 11}.Around(page, Start, 0, 9)
	p := &Pager{Text: page, Shown: page, Rows: rows}
	paints := map[paint.Look]string{}
	for _, look := range []paint.Look{paint.LookRemoved, paint.LookRemovedWord, paint.LookAdded, paint.LookAddedWord} {
		paints[look] = st.PaintOf(look).On
	}
	want := []string{
		"  " + paints[paint.LookRemoved] + "-one " + st.PaintOf(paint.LookRemoved).Off + paints[paint.LookRemovedWord] + "two" + st.PaintOf(paint.LookRemovedWord).Off + " ",
		"   " + paints[paint.LookRemoved] + "three" + st.PaintOf(paint.LookRemoved).Off + "   ",
	}
	var got []string
	for _, r := range rows[:2] {
		got = append(got, p.renderRow(st, r, 11))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(paints) != 4 || paints[paint.LookRemovedWord] == paints[paint.LookAddedWord] || paints[paint.LookRemovedWord] == paints[paint.LookRemoved] {
		t.Errorf("looks are alike: %v", paints)
	}
}
