package operator

import (
	"strconv"
	"strings"
	"time"

	"memdesk/model"
)

// ParseTime takes a moment, a day or a time before now, such as 36h or 7d. An error names the term or flag.
func ParseTime(name, s string, now time.Time) (time.Time, error) {
	at, _, err := parseWhen(name, s, now)
	return at, err
}

// ParseUntil is ParseTime of the term until, but a day counts to its end.
func ParseUntil(s string, now time.Time) (time.Time, error) {
	at, day, err := parseWhen("until", s, now)
	if day {
		at = at.AddDate(0, 0, 1)
	}
	return at, err
}

func parseWhen(name, s string, now time.Time) (at time.Time, day bool, err error) {
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), false, nil
	}
	if n, err := strconv.ParseUint(strings.TrimSuffix(s, "d"), 10, 16); err == nil && strings.HasSuffix(s, "d") {
		return now.AddDate(0, 0, -int(n)), false, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC(), layout == time.DateOnly, nil
		}
	}
	return time.Time{}, false, model.Errorf(model.InvalidInput, name, "%q is no time: write 2026-05-21, 2026-05-21T10:00:00Z or a time before now such as 36h or 7d", s)
}
