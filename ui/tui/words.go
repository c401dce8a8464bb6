package tui

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// clockwork writes times for people, relative to an injected clock.
type clockwork struct{ clock clock.Clock }

// age is how long ago t was, in at most four columns: 12s, 5m, 3h, 20d, 3y.
func (c clockwork) age(t time.Time) string {
	if t.IsZero() {
		return "?"
	}
	d := c.clock.Now().Sub(t)
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

// ago reads "5m ago", or says that the time is not known.
func (c clockwork) ago(t time.Time) string {
	switch a := c.age(t); a {
	case "?":
		return "at an unknown time"
	case "new":
		return "in the future"
	default:
		return a + " ago"
	}
}

// moment is an absolute time, to the second, in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// minute is an absolute time for a column, in UTC.
func minute(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// group writes 48210 as 48,210.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := n < 0
	if neg {
		s = s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// size writes bytes for people: 312 B, 4.0 KB, 1.2 MB (of 1,000).
func size(n int64) string {
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

// count says a total as honestly as it was counted.
func count(c model.Count) string {
	switch {
	case c.Unknown:
		return "an unknown number"
	case c.AtLeast:
		return "at least " + group(c.N)
	}
	return group(c.N)
}

// plural reads "1 item", "2 items".
func plural(n int64, noun string) string { return group(n) + " " + safetext.Noun(n, noun) }

// capacity writes a tier's cap with its unit.
func capacity(t model.TierSpec) string {
	switch {
	case t.Cap == 0:
		return "no cap"
	case t.CapUnit == model.CapBytes:
		return size(t.Cap)
	}
	return group(t.Cap) + " " + string(t.CapUnit)
}

// shortCapacity is capacity for a column.
func shortCapacity(t model.TierSpec) string {
	switch t.CapUnit {
	case model.CapChars:
		return group(t.Cap) + " ch"
	case model.CapEntries:
		return group(t.Cap) + " ent"
	}
	return capacity(t)
}

// flagWords explains the flags of an item.
var flagWords = map[model.Flag]string{
	model.FlagArchived:    "archived: the store's own search skips it",
	model.FlagBookkeeping: "bookkeeping: the agent's machinery, hidden by default",
	model.FlagNearCap:     "near its cap: 80 % or more is used",
	model.FlagOverCap:     "over its cap",
	model.FlagBinary:      "binary: not UTF-8, shown escaped",
	model.FlagReadOnly:    "read-only: only its own writer may change it",
	model.FlagEdge:        "a hyperedge: it connects other items",
	model.FlagBlocked:     "blocked: the scanner rejects it, agents do not get it",
	model.FlagPending:     "pending: waits for somebody's approval",
	model.FlagUnreadable:  "unreadable: the store cannot give its content",
}

func flagText(f model.Flag) string {
	if w, ok := flagWords[f]; ok {
		return w
	}
	return string(f)
}

// reason is an error in words for one line. The operation it is wrapped with is
// left out where the screen has said it already.
func reason(esc safetext.Escaper, err error) safetext.Text {
	var e *model.Error
	if errors.As(err, &e) && e.Err != nil {
		return esc.LineMax(e.Err.Error(), maxReason)
	}
	return esc.LineMax(err.Error(), maxReason)
}

// maxReason bounds an error text on the screen, in bytes; what is cut is said.
const maxReason = 2000

// containsAll applies a list's filter: every word must occur in some column.
func containsAll(q PageQuery, columns ...string) bool {
	if q.Filter == "" {
		return true
	}
	all := strings.ToLower(strings.Join(columns, "\n"))
	hit := true
	for _, w := range strings.Fields(strings.ToLower(q.Filter)) {
		hit = hit && strings.Contains(all, w)
	}
	return hit != q.Not
}

// nameFirst is an id for a row of a list of many: the file's name and then its
// folder, since the beginning of a path is what all of them have in common.
func nameFirst(esc safetext.Escaper, id string) safetext.Text {
	dir, name := path.Split(id)
	if dir == "" || name == "" {
		return esc.LineMax(id, maxTitle)
	}
	return esc.Sprintf("%s  %s", esc.LineMax(name, maxTitle), esc.LineMax(dir, maxTitle))
}
