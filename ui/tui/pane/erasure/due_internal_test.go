package erasure

import (
	"testing"
	"time"

	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// TestDeadlines: list and detail must show a deadline with the same urgency, and none where no clock runs.
func TestDeadlines(t *testing.T) {
	d := desktest.New()
	now := time.Date(2026, 5, 15, 12, 0, 0, 0, time.UTC)
	d.Time.Clock = clock.Fixed(now)
	for _, c := range []struct {
		left   int
		state  gdpr.State
		paused string
		words  string
		tone   paint.Tone
		kind   text.Kind
	}{
		{left: -2, words: "2 days overdue", tone: paint.ToneBad, kind: text.Bad},
		{left: -1, words: "1 day overdue", tone: paint.ToneBad, kind: text.Bad},
		{left: 0, words: "due today", tone: paint.ToneWarn, kind: text.Warn},
		{left: 1, words: "due tomorrow", tone: paint.ToneWarn, kind: text.Warn},
		{left: operator.DueWithin, words: "due in 7 days", tone: paint.ToneWarn, kind: text.Warn},
		{left: operator.DueWithin + 1, words: "due in 8 days"},
		{left: -1, paused: now.Format(time.DateOnly), words: "paused since " + now.Format(time.DateOnly) + " for an identity check, 1 day overdue before", tone: paint.ToneBad, kind: text.Bad},
		{left: -1, state: gdpr.StateComplete, words: "answered"},
		{left: 0, state: gdpr.StateWithdrawn, words: "withdrawn"},
	} {
		var r operator.ErasureRequest
		r.State, r.PausedSince, r.Received = c.state, c.paused, now.AddDate(0, -1, c.left).Format(time.DateOnly)
		r.Due = r.At(now)
		line := deadlineLine(d.Esc, r, now)
		if want := r.Deadline.Format(time.DateOnly) + ", " + c.words; line.Value.String() != want || line.Kind != c.kind {
			t.Errorf("%d days: %q of kind %d, want %q of kind %d", c.left, line.Value, line.Kind, want, c.kind)
		}
		if got := erasureRecord(d, r).Tones[0]; got != c.tone {
			t.Errorf("%d days: a row in tone %d, want %d", c.left, got, c.tone)
		}
	}
}

// TestAPlanOfWhatIsLeftIsApprovedAnew: the approval of the plan before must not count for the next one.
func TestAPlanOfWhatIsLeftIsApprovedAnew(t *testing.T) {
	var r operator.ErasureRequest
	r.PlanHash, r.Approvals = "second", []gdpr.Approval{{PlanHash: "first"}}
	for state, want := range map[gdpr.State]bool{gdpr.StatePlanned: false, gdpr.StatePartial: true, gdpr.StatePending: true, gdpr.StateInScope: true, gdpr.StateComplete: false} {
		if r.State = state; unsigned(gdpr.Policy{RequireApproval: true}, r) != want {
			t.Errorf("%s: not %t", state, want)
		}
	}
	r.State = gdpr.StatePartial
	if unsigned(gdpr.Policy{}, r) {
		t.Error("approval is asked for where none is required")
	}
	r.Approvals = append(r.Approvals, gdpr.Approval{PlanHash: "second"})
	if unsigned(gdpr.Policy{RequireApproval: true}, r) {
		t.Error("the approval of this plan does not count")
	}
}

func TestApprovalEnd(t *testing.T) {
	now := time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]string{
		-time.Hour: "ended 2026-05-21", 0: "ended 2026-05-21", 23 * time.Hour: "ends within a day, 2026-05-22",
		24 * time.Hour: "ends in 1 day, 2026-05-22", 6*24*time.Hour + time.Hour: "ends in 6 days, 2026-05-27",
	} {
		if got := approvalEnd(now.Add(left), now); got != want {
			t.Errorf("%v: %q, want %q", left, got, want)
		}
	}
}
