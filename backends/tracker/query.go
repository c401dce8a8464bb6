package tracker

import (
	"slices"
	"strings"
)

// Query is a query of the published language (provider-contract.md B17): terms
// between blanks, all of which must match.
type Query struct {
	terms []term
	// Ignored are the terms that the language ignores, as they were written: they match everything. Nothing
	// may be changed on the result of such a query.
	Ignored []string
}

type term struct{ field, value string }

// ParseQuery never fails: terms that it cannot read are Ignored. A value ends at a second colon, so a label
// with a colon cannot be queried.
func ParseQuery(text string) Query {
	var q Query
	for _, t := range strings.Fields(text) {
		parts := strings.SplitN(t, ":", 3)
		if len(parts) < 2 || parts[0] == "" || parts[1] == "" {
			q.Ignored = append(q.Ignored, t)
			continue
		}
		if _, known := (Bead{}).value(strings.ToLower(parts[0])); !known {
			q.Ignored = append(q.Ignored, t)
			continue
		}
		q.terms = append(q.terms, term{strings.ToLower(parts[0]), parts[1]})
	}
	return q
}

// Matches reports whether every term that is not ignored matches, exactly and case-sensitively.
func (q Query) Matches(b Bead) bool {
	for _, t := range q.terms {
		values, _ := b.value(t.field)
		if !slices.Contains(values, t.value) {
			return false
		}
	}
	return true
}
