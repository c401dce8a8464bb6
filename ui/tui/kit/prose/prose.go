// Package prose writes numbers, sizes, times and errors as people read them.
package prose

import (
	"fmt"
	"path"
	"strconv"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// MaxTitle bounds titles and ids in lists, in bytes: no row is wider.
const MaxTitle = 600

// Clock writes times for people, relative to an injected clock.
type Clock struct{ Clock clock.Clock }

// MaxAge is the width of the widest age.
const MaxAge = 4

// Age is how long ago t was, in at most MaxAge columns: 12s, 5m, 3h, 20d, 3y.
func (c Clock) Age(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	d := c.Clock.Now().Sub(t)
	switch {
	case d < 0:
		return "new"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 1000*24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return strconv.Itoa(int(d/(365*24*time.Hour))) + "y"
}

// Ago reads "5m ago", or says that the time is unknown.
func (c Clock) Ago(t time.Time) string {
	switch a := c.Age(t); a {
	case "?":
		return "at an unknown time"
	case "new":
		return "in the future"
	default:
		return a + " ago"
	}
}

// Moment is an absolute time, to the second, in UTC.
func Moment(t time.Time) string { return inUTC(t, "2006-01-02 15:04:05Z") }

// Day is an absolute time for a column, in UTC: the day and minute of this year, or the day of another one.
func (c Clock) Day(t time.Time) string {
	if t.UTC().Year() != c.Clock.Now().UTC().Year() {
		return inUTC(t, time.DateOnly)
	}
	return inUTC(t, "01-02 15:04")
}

// Minute is an absolute time in UTC.
func Minute(t time.Time) string { return inUTC(t, "2006-01-02 15:04") }

func inUTC(t time.Time, layout string) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format(layout)
}

// Group writes 48210 as 48,210.
func Group[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size writes bytes for people: 312 B, 4.0 KB, 1.2 MB (of 1,000).
func Size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 999_950:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Bytes is a size with the exact number where Size rounds it: 4.0 KB (4,012 bytes).
func Bytes(n int64) string {
	if n < 1000 {
		return Size(n)
	}
	return Size(n) + " (" + Group(n) + " bytes)"
}

// Latency is the time of an answer: <0.1 ms, 0.3 ms, 52 ms.
func Latency(d time.Duration) string {
	switch {
	case 0 < d && d < 100*time.Microsecond:
		return "<0.1 ms"
	case 0 < d && d < time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
}

// Count is a total, with its uncertainty.
func Count(c model.Count) string {
	switch {
	case c.Unknown:
		return "an unknown number"
	case c.AtLeast:
		return "at least " + Group(c.N)
	}
	return Group(c.N)
}

// Plural reads "1 item", "2 items".
func Plural[N int | int64](n N, noun string) string {
	return Group(n) + " " + safetext.Noun(int64(n), noun)
}

// Capacity writes a tier's cap with its unit.
func Capacity(t model.TierSpec) string {
	switch {
	case t.Cap == 0:
		return "no cap"
	case t.CapUnit == model.CapBytes:
		return Size(t.Cap)
	}
	return Group(t.Cap) + " " + string(t.CapUnit)
}

// ShortCapacity is capacity for a column.
func ShortCapacity(t model.TierSpec) string {
	switch t.CapUnit {
	case model.CapChars:
		return Group(t.Cap) + " ch"
	case model.CapEntries:
		return Group(t.Cap) + " ent"
	}
	return Capacity(t)
}

// Reason is an error for one line, without the operation: the screen has named it.
func Reason(esc safetext.Escaper, err error) safetext.Text {
	return esc.LineMax(model.Reason(err), MaxReason)
}

// MaxReason bounds an error text on the screen, in bytes; a cut is said.
const MaxReason = 2000

// NameFirst is an id for a row, the file before its folder: many ids begin with the same path.
func NameFirst(esc safetext.Escaper, id string) safetext.Text {
	dir, name := path.Split(id)
	if dir == "" || name == "" {
		return esc.LineMax(id, MaxTitle)
	}
	return esc.Sprintf("%s  %s", esc.LineMax(name, MaxTitle), esc.LineMax(dir, MaxTitle))
}
