package list

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/loop"
)

// RestDue says that the cursor has rested.
type RestDue struct{ Gen int }

// Rest is the debounce of the detail: of rows that a held key passes, nothing is read.
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

// Over reports whether the cursor has not moved since.
func (r *Rest) Over(m RestDue) bool { return m.Gen == r.Gen }

// PreviewAfter is the time that the cursor must rest before its item is read: a held key reads none.
const PreviewAfter = 60 * time.Millisecond
