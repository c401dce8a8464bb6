package sqlgraph

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// The bounds of a search by text.
const (
	// ExactLimit is the most matches of words that are all ranked.
	ExactLimit = 10000
	// WindowLimit is how many of more matches are ranked: the newest.
	WindowLimit = 1000
	// SubstringLimit is how many of the newest nodes are searched for text that the index cannot look up.
	SubstringLimit = 20000
	// longestQuery bounds a query; SQLite refuses LIKE patterns beyond 50,000 bytes, and escaping at
	// most doubles the length.
	longestQuery = 10000
)

// Search is InvalidInput for a text that cannot be searched for.
func (r Rules) Search(op, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return model.Errorf(model.InvalidInput, op, "the query is blank")
	case !utf8.ValidString(text):
		return model.Errorf(model.InvalidInput, op, "the query is not UTF-8")
	}
	return r.query(op, text)
}

// query is InvalidInput for a text that cannot narrow a list.
func (r Rules) query(op, text string) error {
	if len(text) > longestQuery {
		return model.Errorf(model.InvalidInput, op, "the query is longer than %d bytes", longestQuery)
	}
	return r.text(op, "the query", text)
}

// LikePattern matches text anywhere; a backslash escapes the text's own wildcards.
func LikePattern(text string) string {
	return `%` + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + `%`
}

// Thousands writes a number with commas.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
