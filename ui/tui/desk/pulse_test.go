package desk

import (
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
)

// A self-refreshing list must show its age from ten seconds on, and a frozen one the time of its data.
func TestAgeOfAList(t *testing.T) {
	d := testDesk()
	d.Time.Clock = clock.Fixed(time.Unix(100, 0))
	at := safetext.Const("1 of 2")
	for _, c := range []struct {
		pulse  Pulse
		frozen bool
		want   string
	}{
		{Pulse{at: time.Unix(91, 0)}, false, "1 of 2"},
		{Pulse{at: time.Unix(90, 0)}, false, "1 of 2, seen 10s ago"},
		{Pulse{at: time.Unix(90, 0)}, true, "1 of 2, frozen, as of 00:01:30Z"},
		{Pulse{}, true, "1 of 2"},
	} {
		d.AutoRefresh.Frozen = c.frozen
		if got := d.Aged(at, c.pulse).String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.pulse, got, c.want)
		}
	}
}

// TestWhenAListIsReadAgain: a source with notifications must be read after a change, any other by the
// clock, and none faster than its answers allow.
func TestWhenAListIsReadAgain(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	const every = 3 * time.Second
	told := Pulse{}
	told.Ask("a", at(0))
	told.Read(at(0.1)) // it rests until 2.1
	silent := told
	silent.stamp = ""
	failed := told
	failed.Ask("b", at(10))
	failed.Failed(at(10.1))
	for _, c := range []struct {
		name  string
		pulse Pulse
		stamp string
		now   float64
		every time.Duration
		want  bool
		at    float64
	}{
		{"it told no change", told, "a", 60, every, false, 60},
		{"it told one", told, "b", 2.2, every, true, 0.1},
		{"it told one, and rests", told, "b", 2, every, false, 0.1},
		{"it tells nothing", silent, "", 3.2, every, true, 0.1},
		{"too early", silent, "", 3, every, false, 0.1},
		{"never by the clock", silent, "", 60, 0, false, 0.1},
		{"it can tell now", silent, "a", 2.2, 0, true, 0.1},
		{"it failed, and rests", failed, "b", 12, every, false, 0.1},
		{"it failed, and is as it was", failed, "b", 12.2, every, true, 0.1},
	} {
		u := c.pulse
		if got := u.Due(c.stamp, at(c.now), c.every); got != c.want || !u.at.Equal(at(c.at)) {
			t.Errorf("%s: due %v, of %v; want %v, %v", c.name, got, u.at.Sub(at(0)), c.want, c.at)
		}
	}
}
