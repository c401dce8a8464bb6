package desk

import (
	"time"

	"memdesk/internal/safetext"
)

// oldAfter is the age from which a list says how old it is.
const oldAfter = 10 * time.Second

// glances are the looks at lists that change by themselves.
type glances struct {
	Every  time.Duration // pause between two looks at a source that tells no changes; 0: there are none
	Frozen bool          // lists stand still
}

// Pulse is when a list was read.
type Pulse struct {
	Asked, at time.Time // the look under way, the newest one that was answered
	Took      time.Duration
	Ticks     bool
}

// Read notes an answer that has the list from its start.
func (u *Pulse) Read(now time.Time) {
	if !u.Asked.IsZero() {
		u.Took, u.Asked = now.Sub(u.Asked), time.Time{}
	}
	u.at = now
}

// Aged is a position with how old the list is, where that matters.
func (d *Desk) Aged(at safetext.Text, u Pulse) safetext.Text {
	switch now := d.Time.Clock.Now(); {
	case u.at.IsZero():
		return at
	case d.Glances.Frozen:
		return d.Esc.Sprintf("%s, frozen, as of %s", at, u.at.UTC().Format("15:04:05Z"))
	case now.Sub(u.at) >= oldAfter:
		return d.Esc.Sprintf("%s, seen %s", at, d.Time.Ago(u.at))
	}
	return at
}
