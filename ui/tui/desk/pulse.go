package desk

import (
	"time"

	"memdesk/internal/safetext"
)

// oldAfter is the age from which a list says how old it is.
const oldAfter = 10 * time.Second

// Restful bounds what is read by itself to one part in Restful of the time.
const Restful = 20

// glances are the looks at lists that change by themselves.
type glances struct {
	Every  time.Duration // pause between two looks at a source that tells no changes; 0: there are none
	Frozen bool          // lists stand still
}

// Pulse is how old what is shown of a source is, and when the source is asked again.
type Pulse struct {
	Asked time.Time     // the question that is not answered yet; zero: there is none
	Took  time.Duration // of the newest question that was answered
	Ticks bool          // the next look is waited for

	at    time.Time // when the source was as it is shown
	ended time.Time // the newest answer, or failure
	stamp string    // of the source when it was asked; empty: it cannot tell, or the answer failed
}

// Ask notes a question to a source with a stamp.
func (u *Pulse) Ask(stamp string, now time.Time) { u.stamp, u.Asked = stamp, now }

// Read notes an answer that has the list from its start.
func (u *Pulse) Read(now time.Time) {
	u.end(now)
	u.at = now
}

// Failed notes a question without an answer: what is shown stays as old as it is.
func (u *Pulse) Failed(now time.Time) {
	u.end(now)
	u.stamp = ""
}

func (u *Pulse) end(now time.Time) {
	if !u.Asked.IsZero() {
		u.Took, u.Asked = now.Sub(u.Asked), time.Time{}
	}
	u.ended = now
}

// Due reports whether the source has to be asked again, by its stamp of now; every is the pause
// between two questions to one without a stamp, 0 for never.
func (u *Pulse) Due(stamp string, now time.Time, every time.Duration) bool {
	switch {
	case stamp != "" && stamp == u.stamp:
		u.at = now
		return false
	case now.Before(u.ended.Add(Restful * u.Took)):
		return false
	case stamp == "":
		return every > 0 && now.Sub(u.ended) >= every
	}
	return true
}

// Older reports whether what is shown is older than what v is the pulse of.
func (u *Pulse) Older(v *Pulse) bool { return u.at.Before(v.at) }

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
