package tui_test

import (
	"strings"
	"testing"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// The row at the cursor must have one style from its first to its last column.
func TestRowAtTheCursor(t *testing.T) {
	for _, l := range []paint.Looks{{Colour: true, Theme: paint.ThemeDark}, {Colour: true, Theme: paint.ThemeHighContrast}, {}} {
		st := paint.New(l, true)
		draw := func(at, marked bool) string {
			r := st.Highlighted(40, at, true)
			st.Mark(r, marked)
			return r.Cell(st.Plain, safetext.Const("name"), 10).Cell(st.Dim, safetext.Const("one"), 8).Number(st.Dim, safetext.Const("two"), 8).Put(st.Warn, safetext.Const("!!")).End()
		}
		was, is := draw(false, false), draw(true, false)
		rest := st.Dim.On + "one" + st.Dim.Off + st.Dim.On + "          " + st.Dim.Off + st.Dim.On + "two" + st.Dim.Off + st.Warn.On + "!!" + st.Warn.Off
		if want := "  name      " + rest + "          "; was != want {
			t.Errorf("a row is\n%q, want\n%q", was, want)
		}
		if want := st.Selected.On + "▌ name      one          two!!          " + st.Selected.Off; is != want {
			t.Errorf("the row at the cursor is\n%q, want\n%q", is, want)
		}
		if want := st.Selected.On + "▌*name"; !strings.HasPrefix(draw(true, true), want) {
			t.Errorf("a marked row at the cursor is\n%q", draw(true, true))
		}
	}
}
