package desk

import (
	"time"

	"memdesk/internal/safetext"
)

// oldAfter is the age from which a list shows its age.
const oldAfter = 10 * time.Second

// Restful bounds automatic reading to one part in Restful of the time.
const Restful = 20

// autoRefresh are the automatic refreshes of lists.
type autoRefresh struct {
	Every  time.Duration // pause between two reads of a source without change notice; 0: no automatic reads
	Frozen bool          // lists are not refreshed
}

// Pulse is the age of the shown rows of a source and the time of the next read.
type Pulse struct {
	Asked time.Time     // the open question; zero: none
	Took  time.Duration // of the newest answer
	Ticks bool          // the next tick is scheduled

	at    time.Time // time of the state shown
	ended time.Time // of the newest answer or failure
	stamp string    // of the source when it was asked; empty: it has none, or the answer failed
}

// Ask notes a question to a source with a stamp.
func (u *Pulse) Ask(stamp string, now time.Time) { u.stamp, u.Asked = stamp, now }

// Answered notes the answer to a question for all rows shown. Its source took so long: the answer may have waited.
func (u *Pulse) Answered(now time.Time, took time.Duration, err error) {
	if err != nil {
		u.Failed(now)
	} else {
		u.Read(now)
	}
	u.Took = min(u.Took, took)
}

// Read notes that the shown rows are as the source has them.
func (u *Pulse) Read(now time.Time) {
	u.end(now)
	u.at = now
}

// Known reports whether the source was ever read.
func (u *Pulse) Known() bool { return !u.at.IsZero() }

// Failed notes a question without an answer: the age of the shown rows goes on growing.
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

// Due reports whether to ask the source again, given its stamp now, and notes that an unchanged stamp
// makes the shown state current; every is the pause between two questions to a source without a stamp,
// 0 for never.
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

// Older reports whether this list is older than that of v.
func (u *Pulse) Older(v *Pulse) bool { return u.at.Before(v.at) }

// Aged is a position with the age of the list, where that matters.
func (d *Desk) Aged(at safetext.Text, u Pulse) safetext.Text {
	switch now := d.Time.Clock.Now(); {
	case u.at.IsZero():
		return at
	case d.AutoRefresh.Frozen:
		return d.Esc.Sprintf("%s, frozen, as of %s", at, u.at.UTC().Format("15:04:05Z"))
	case now.Sub(u.at) >= oldAfter:
		return d.Esc.Sprintf("%s, seen %s", at, d.Time.Ago(u.at))
	}
	return at
}
