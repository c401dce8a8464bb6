package operator

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/model"
)

// AuditFilter selects records of the log by words that a record must hold, and by fields with given values. A
// term after ! must not match.
type AuditFilter struct {
	terms []auditTerm
	// The part that a log can look up by itself; zero where the filter leaves it open.
	Since, Until time.Time // Until is exclusive
	// records: the filter asks for a phase or a number, so intents and outcomes are listed apart.
	records bool
}

type auditTerm struct {
	not   bool
	field string // empty: a word anywhere
	value string // in lower case
	at    time.Time
}

// AuditFields are the fields that a filter can name.
var AuditFields = []string{"actor", "action", "store", "outcome", "phase", "target", "reason", "seq", "since", "until"}

// ParseAuditFilter reads a filter; an unknown field or an invalid time is InvalidInput.
func ParseAuditFilter(s string, now time.Time) (AuditFilter, error) {
	var f AuditFilter
	for _, word := range strings.Fields(s) {
		t := auditTerm{value: strings.ToLower(word)}
		t.value, t.not = strings.CutPrefix(t.value, "!")
		if name, value, ok := strings.Cut(t.value, ":"); ok && plainWord(name) {
			if !slices.Contains(AuditFields, name) {
				return f, model.Errorf(model.InvalidInput, "filter", "there is no field %q; there are %s", name, strings.Join(AuditFields, ", "))
			}
			t.field, t.value = name, value
		}
		if t.value == "" {
			continue
		}
		var err error
		switch given := word[strings.IndexByte(word, ':')+1:]; t.field { // in its own case
		case "since":
			if t.at, err = ParseTime("since", given, now); !t.not {
				f.Since = t.at
			}
		case "until":
			if t.at, err = ParseUntil(given, now); !t.not {
				f.Until = t.at
			}
		case "phase", "seq":
			f.records = true
		}
		if err != nil {
			return f, err
		}
		f.terms = append(f.terms, t)
	}
	return f, nil
}

// plainWord reports whether a term with a colon is a word and no field.
func plainWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// Match reports whether a record is shown.
func (f AuditFilter) Match(e AuditEvent) bool {
	for _, t := range f.terms {
		if t.match(e) == t.not {
			return false
		}
	}
	return true
}

func (t auditTerm) match(e AuditEvent) bool {
	in := func(values ...string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), t.value) })
	}
	switch t.field {
	case "actor":
		return in(e.Actor, e.KeyID)
	case "action":
		return in(e.Action)
	case "store":
		return in(e.Store)
	case "outcome":
		return in(e.Result) || t.value == "open" && e.Open
	case "phase":
		return in(e.Phase)
	case "target":
		return in(e.Target)
	case "reason":
		return in(e.Reason)
	case "seq":
		return t.value == strconv.FormatInt(e.Seq, 10)
	case "since":
		return !e.At.Before(t.at)
	case "until":
		return e.At.Before(t.at)
	}
	return in(e.At.UTC().Format(time.DateTime), e.Actor, e.Action, e.Store, e.Target, e.Subject, e.Phase, e.Result, e.Reason)
}
