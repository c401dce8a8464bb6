package gdpr

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// A request must be answered within one month of its receipt; two further months may extend that (GDPR
// Art. 12(3)). Months are calendar months; in a month without that day its last day counts.

const dateForm = "2006-01-02"

// ParseDate reads a day.
func ParseDate(s string) (time.Time, error) {
	t, err := time.Parse(dateForm, s)
	if err != nil {
		return time.Time{}, model.Errorf(model.InvalidInput, "gdpr", "%q is no date: write YYYY-MM-DD", s)
	}
	return t, nil
}

// begins is the day on which the law came into force (GDPR Art. 99(2)).
var begins = time.Date(2018, 5, 25, 0, 0, 0, 0, time.UTC)

// Received reads the day on which a request came in. A day in the future, or before the law was in force, is
// a typing error and refused.
func Received(s string, now time.Time) (time.Time, error) {
	t, err := ParseDate(s)
	switch {
	case err != nil:
		return t, err
	case t.After(now.Add(24 * time.Hour)): // a day ahead in some time zone
		return t, model.Errorf(model.InvalidInput, "gdpr", "a request cannot have been received in the future")
	case t.Before(begins):
		return t, model.Errorf(model.InvalidInput, "gdpr", "%s is before %s, when the GDPR began to apply: look at the year", s, begins.Format(dateForm))
	}
	return t, nil
}

// AddMonths adds calendar months; a day that the target month does not have becomes its last day.
func AddMonths(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	last := time.Date(y, m+time.Month(n)+1, 0, 0, 0, 0, 0, time.UTC)
	return time.Date(last.Year(), last.Month(), min(d, last.Day()), 0, 0, 0, 0, time.UTC)
}

// deadline is the day by which the request must be answered. The days of each pause for an identity check do
// not count; a pause that has not ended counts up to now.
func (r *Request) deadline(now time.Time) time.Time {
	received, err := ParseDate(r.Received)
	if err != nil {
		return time.Time{}
	}
	months := 1
	if r.Extended {
		months = 3
	}
	days := r.stoppedDays(now)
	if since, err := ParseDate(r.PausedSince); err == nil {
		days += r.stopped(since, now)
	}
	return AddMonths(received, months).AddDate(0, 0, days)
}

// Due is a request with its deadline, at a time.
type Due struct {
	Request
	Deadline time.Time
	Left     int // whole days to the deadline; negative when it has passed
	Overdue  bool
	Short    string // "3 days overdue", "due in 12 days", "paused", "answered"
	Words    string // Short, with the day of a pause and the days by which an answer was late
	// ExportsOpen counts the subject's exports that are neither handed over nor deleted.
	ExportsOpen int
	Note        string // of one just filed: the subject's other open requests
}

// At judges the request's deadline at a time.
func (r Request) At(now time.Time) Due {
	out := Due{Request: r, Deadline: r.deadline(now), ExportsOpen: len(r.exports(true))}
	if r.State == StateApproved && !r.counts(now) {
		out.State, out.Reason = StatePlanned, "the approval has expired: approve the plan again"
	}
	out.Left = int(out.Deadline.Sub(day(now)).Hours() / 24)
	more := ""
	switch {
	case r.State == StateComplete:
		out.Short = "answered"
		if !r.Finished.IsZero() && day(r.Finished).After(out.Deadline) {
			more = fmt.Sprintf(", %s late", days(daysBetween(out.Deadline, r.Finished)))
		}
	case r.State == StateWithdrawn:
		out.Short = "withdrawn"
	case r.PausedSince != "":
		out.Short, more = "paused", fmt.Sprintf(" since %s for an identity check, then %s", r.PausedSince, days(out.Left))
		if out.Left < 0 { // the clock was stopped after the deadline
			out.Overdue, more = true, fmt.Sprintf(" since %s for an identity check, %s overdue before", r.PausedSince, days(-out.Left))
		}
	case out.Left < 0:
		out.Overdue, out.Short = true, days(-out.Left)+" overdue"
	case out.Left == 0:
		out.Short = "due today"
	case out.Left == 1:
		out.Short = "due tomorrow"
	default:
		out.Short = "due in " + days(out.Left)
	}
	out.Words = out.Short + more
	return out
}

func days(n int) string { return fmt.Sprintf("%d %s", n, safetext.Noun(int64(n), "day")) }

// Extend lengthens the deadline by two months, once. The subject must be told within the first month
// (Art. 12(3)): told is the day of that notice, empty for today. A later day is refused, and the refusal audited.
func (d *Desk) Extend(ctx context.Context, id, told string) (Due, error) {
	const op = "gdpr-extend"
	r, err := d.load(id)
	if err != nil {
		return Due{}, err
	}
	now := d.Clock.Now()
	told = cmp.Or(told, day(now).Format(dateForm))
	on, err := Received(told, now)
	if err != nil {
		return Due{}, err
	}
	if received, err := ParseDate(r.Received); err == nil && on.Before(received) {
		return Due{}, model.Errorf(model.InvalidInput, op, "the person cannot have been told on %s: the request came in on %s", told, r.Received)
	}
	if end := r.deadline(now); r.over(op) == nil && !r.Extended && on.After(end) {
		return Due{}, d.refused(ctx, &r, op,
			"the month ended on "+end.Format(dateForm)+", and the person has to be told within it (Art. 12(3)): give the day on which the person was told, if that was before")
	}
	return d.change(ctx, id, op, func(r *Request) error {
		if r.Extended {
			return model.Errorf(model.Conflict, op, "the deadline has been extended already; once is all the law gives")
		}
		r.Extended, r.Told = true, told
		return nil
	})
}

// Pause stops the clock while the requester's identity is checked; a second call is Conflict.
func (d *Desk) Pause(ctx context.Context, id string) (Due, error) {
	return d.change(ctx, id, "gdpr-pause", func(r *Request) error {
		if r.PausedSince != "" {
			return model.Errorf(model.Conflict, "gdpr", "the clock is stopped already, since %s", r.PausedSince)
		}
		r.PausedSince = day(d.Clock.Now()).Format(dateForm)
		return nil
	})
}

// Resume restarts the clock.
func (d *Desk) Resume(ctx context.Context, id string) (Due, error) {
	return d.change(ctx, id, "gdpr-resume", func(r *Request) error {
		if r.PausedSince == "" {
			return model.Errorf(model.Conflict, "gdpr", "the clock is running")
		}
		r.resume(d.Clock.Now())
		return nil
	})
}

// resume ends a pause, where there is one.
func (r *Request) resume(now time.Time) {
	if r.PausedSince != "" {
		r.Pauses = append(r.Pauses, Pause{From: r.PausedSince, To: day(now).Format(dateForm)})
		r.PausedSince = ""
	}
}

// stoppedDays are the days of the pauses that ended. A pause whose end lies ahead ended under a wrong clock: nobody knows
// its days, and none of them counts.
func (r *Request) stoppedDays(now time.Time) int {
	days := r.PausedDays
	for _, p := range r.Pauses {
		from, err1 := ParseDate(p.From)
		to, err2 := ParseDate(p.To)
		if err1 == nil && err2 == nil && !to.After(day(now)) {
			days += r.stopped(from, to)
		}
	}
	return days
}

// stopped counts the days of a pause. A pause that begins before the request began under a clock that was behind.
func (r *Request) stopped(from, to time.Time) int {
	if received, err := ParseDate(r.Received); err == nil && from.Before(received) {
		from = received
	}
	return daysBetween(from, to)
}

func daysBetween(from, to time.Time) int {
	return max(0, int(day(to).Sub(day(from)).Hours()/24))
}

func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// IdentityMethods are the ways in which the requester's identity was checked. They are a closed list, because
// the receipt shows them and must not show people's free text.
var IdentityMethods = []string{"login", "known_address", "signature", "document", "in_person"}

// Identify records how this operator checked the requester's identity, and on which day (empty: today). A
// later entry replaces an earlier one; the log keeps both. Pause and Resume stop and restart the clock.
func (d *Desk) Identify(ctx context.Context, id, method, on string) (Due, error) {
	const op = "gdpr-identity"
	if !slices.Contains(IdentityMethods, method) {
		return Due{}, model.Errorf(model.InvalidInput, op, "the method of an identity check is %s", strings.Join(IdentityMethods, ", "))
	}
	now := d.Clock.Now().UTC()
	checked := day(now)
	if on != "" {
		var err error
		if checked, err = ParseDate(on); err != nil {
			return Due{}, err
		}
		if checked.After(now) {
			return Due{}, model.Errorf(model.InvalidInput, op, "an identity cannot have been checked in the future")
		}
	}
	return d.change(ctx, id, op, func(r *Request) error {
		r.Identity = &receipt.IdentityCheck{By: d.Operator.ID, Method: method, On: checked.Format(dateForm)}
		return nil
	})
}

// identityCheck is the receipt's member; nil when no check was recorded and the clock never stopped.
func (r *Request) identityCheck(now time.Time) *receipt.IdentityCheck {
	var c receipt.IdentityCheck
	if r.Identity != nil {
		c = *r.Identity
	}
	if c.StoppedDays = r.stoppedDays(now); c == (receipt.IdentityCheck{}) {
		return nil
	}
	return &c
}
