package desk

import (
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
)

// A list that is looked at by itself says from ten seconds on how old it is, and a frozen
// one as of when it stands.
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
		d.Glances.Frozen = c.frozen
		if got := d.Aged(at, c.pulse).String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.pulse, got, c.want)
		}
	}
}
