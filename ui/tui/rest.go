package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// restDue says that the cursor has rested.
type restDue struct{ gen int }

// rest holds back what is drawn for the row at the cursor until the cursor rests:
// of the rows that a held key passes nothing is read, laid out or sent.
type rest struct {
	later func(time.Duration, any) tea.Cmd
	gen   int
}

func newRest(d *loop, pane int) rest { return rest{later: d.later(pane)} }

// moved begins the pause anew.
func (r *rest) moved() tea.Cmd {
	r.gen++
	return r.later(previewAfter, restDue{r.gen})
}

// over reports whether nothing has moved since.
func (r *rest) over(m restDue) bool { return m.gen == r.gen }
