package tiers

import (
	"testing"
	"time"
)

// TestWhenAStoreIsAskedAgain: one that tells is asked when it has changed, any other by the clock, and
// none more than its answers bear.
func TestWhenAStoreIsAskedAgain(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
	const every = 3 * time.Second
	told := freshness{}
	told.ask("a", at(0))
	told.answered(at(0.1)) // until 2.1 it rests
	silent := told
	silent.stamp = ""
	for _, c := range []struct {
		name  string
		f     freshness
		stamp string
		now   float64
		every time.Duration
		want  bool
		seen  float64
	}{
		{"it told no change", told, "a", 60, every, false, 60},
		{"it told one", told, "b", 2.2, every, true, 0.1},
		{"it told one, and rests", told, "b", 2, every, false, 0.1},
		{"it tells nothing", silent, "", 3.2, every, true, 0.1},
		{"too early", silent, "", 3, every, false, 0.1},
		{"never by the clock", silent, "", 60, 0, false, 0.1},
		{"it can tell now", silent, "a", 2.2, 0, true, 0.1},
	} {
		f := c.f
		if got := f.due(c.stamp, at(c.now), c.every); got != c.want || !f.seen.Equal(at(c.seen)) {
			t.Errorf("%s: due %v, seen at %v; want %v, %v", c.name, got, f.seen.Sub(at(0)), c.want, c.seen)
		}
	}
}
