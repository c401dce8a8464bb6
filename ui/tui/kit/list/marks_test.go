package list

import (
	"context"
	"slices"
	"strconv"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
)

// TestRangeOfMarks: a range is marked only when both of its ends are in the list, and other marks stay.
func TestRangeOfMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		first, last int // ids
		gone        bool
		marked      int
	}{
		"downwards over pages":           {40, 160, false, 62},
		"upwards over pages":             {160, 40, false, 62},
		"the first end is gone":          {40, 160, true, 2},
		"the first end is gone, upwards": {160, 40, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shelf{ids: numbers(100), counted: true}
			w := NewWindow(func(f func(context.Context) any) tea.Cmd { return func() tea.Msg { return f(t.Context()) } }, strconv.Itoa)
			w.Forward, w.PerPage, w.Fetch = true, 20, s.fetch
			said := ""
			d := &loop.Loop{Say: func(_ paint.Tone, words safetext.Text) { said = words.String() }}
			m := NewMarks(func() *Window[int] { return w }, func(n int) int { return n })
			at := func(id int) { // the window holds the page of the row alone
				page, _ := s.fetch(t.Context(), From{Cursor: ">" + strconv.Itoa(id-2)}, 20)
				page.At = From{Cursor: ">" + strconv.Itoa(id-2)}
				w.Rows, w.Pages, w.Sel = page.Rows, []Span[int]{page}, 0
			}
			at(2)
			m.toggle() // not of the range
			at(tt.first)
			m.toggle()
			if tt.gone {
				s.ids = slices.DeleteFunc(s.ids, func(id int) bool { return id == tt.first })
			}
			at(tt.last)
			for cmd := m.rangeHere(); cmd != nil; {
				cmd = m.Walked(d, cmd().(Walked[int]))
			}
			if m.N() != tt.marked || m.Walk != nil || (said == "the row marked last is not in this list: mark the first row of the range with space") != tt.gone {
				t.Errorf("%d marked, want %d: %q", m.N(), tt.marked, said)
			}
		})
	}
}
