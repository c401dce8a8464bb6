package gdpr

import (
	"time"

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
