package safetext_test

import (
	"strings"

	"memdesk/internal/safetext"
)

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// escaped are the lines of a body as a screen shows them.
func escaped(e safetext.Escaper, body string, tabStop int) (out []safetext.Text) {
	for line := range safetext.Split(body) {
		out = append(out, e.EscapeLine([]byte(line.Raw), tabStop))
	}
	return out
}
