package operator

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"memdesk/model"
)

// Query is what an operator types to find items: words for the stores' own search, and terms for the fields.
type Query struct {
	Words       string
	Store, Tier string // empty: every one
	ItemFilter
}

// QueryTerms says which terms ParseQuery knows.
const QueryTerms = "store: tier: type: agent: subject: since: until: confidence: archived:"

var queryTerm = regexp.MustCompile(`(^|\s)(` + strings.ReplaceAll(strings.ReplaceAll(QueryTerms, ":", ""), " ", "|") + `):("[^"]*"|\S*)`)

// ParseQuery takes the terms out of a line: NAME:VALUE, with double quotes around a value that has spaces. The
// rest are words, those with another name before a colon too. A term without a value selects nothing: it is
// still being typed. InvalidInput for a value that cannot be read.
func ParseQuery(line string, now time.Time) (q Query, err error) {
	for _, m := range queryTerm.FindAllStringSubmatch(line, -1) {
		value := strings.Trim(m[3], `"`)
		if value == "" {
			continue
		}
		switch m[2] {
		case "store":
			q.Store = value
		case "tier":
			q.Tier = value
		case "type":
			q.Type = value
		case "agent":
			q.Agent = value
		case "subject":
			q.Subject = value
		case "since":
			q.Since, err = ParseTime("since", value, now)
		case "until":
			q.Until, err = ParseUntil(value, now)
		case "confidence":
			if q.Confidence, err = strconv.ParseFloat(value, 64); err != nil {
				err = model.Errorf(model.InvalidInput, "query", "confidence is between 0 and 1, not %q", value)
			}
		case "archived":
			q.Archived = Archived(value)
		}
		if err != nil {
			return Query{}, err
		}
	}
	q.Words = strings.TrimSpace(queryTerm.ReplaceAllString(line, ""))
	return q, q.Check()
}

// Narrows reports whether the query selects by more than its words.
func (q Query) Narrows() bool { return q.Store != "" || q.Tier != "" || !q.IsZero() }

// Lists reports whether the terms select an item of a store's list; not a vanished one. For concerns, see
// ItemFilter.Concerning.
func (q Query) Lists(ctx context.Context, s model.Store, h model.Header, concerns map[string]bool) (bool, error) {
	if q.Store != "" && !strings.EqualFold(q.Store, s.Name) || q.Tier != "" && !strings.EqualFold(q.Tier, h.Tier) {
		return false, nil
	}
	return q.listed(ctx, s, h, concerns)
}

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
