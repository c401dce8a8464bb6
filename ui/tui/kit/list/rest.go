package list

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/loop"
)

// RestDue says that the cursor has rested.
type RestDue struct{ Gen int }

// Rest holds back what is drawn for the row at the cursor until the cursor rests:
// of the rows that a held key passes nothing is read, laid out or sent.
type Rest struct {
	later func(time.Duration, any) tea.Cmd
	Gen   int
}

func NewRest(d *loop.Loop, pane int) Rest { return Rest{later: d.Later(pane)} }

// Moved begins the pause anew.
func (r *Rest) Moved() tea.Cmd {
	r.Gen++
	return r.later(PreviewAfter, RestDue{r.Gen})
}

// Over reports whether nothing has moved since.
func (r *Rest) Over(m RestDue) bool { return m.Gen == r.Gen }

// PreviewAfter is how long the selection must rest before its item is read, so
// that a held key does not read every item that it passes.
const PreviewAfter = 60 * time.Millisecond
