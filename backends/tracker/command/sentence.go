package command

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// sentenceRunes is the longest shown sentence.
const sentenceRunes = 300

// sentence is a program's reason for a refusal, in its own words: the member error of a JSON object on either
// stream, else the first line of its error output (beads-foolery-knots.md, The real bd and kno). Paths of
// this machine are left out (provider-contract.md R15); empty where the program says nothing.
func sentence(answer, complaint string) string {
	for _, s := range []string{answer, complaint} {
		var told struct {
			Error string `json:"error"`
		}
		if json.Unmarshal([]byte(s), &told) == nil && told.Error != "" {
			return tidy(told.Error)
		}
	}
	for line := range strings.Lines(complaint) {
		if line = strings.TrimSpace(line); line != "" {
			return tidy(line)
		}
	}
	return ""
}

var (
	prefix = regexp.MustCompile(`^(?i:error:)\s*`)
	place  = regexp.MustCompile(`(^|[\s"'=(\[])(?:[A-Za-z]:\\|[/~]/?)[^\s"':,;)\]]*`)
)

// tidy makes one short line of valid UTF-8 without a path of this machine.
func tidy(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	s = place.ReplaceAllString(prefix.ReplaceAllString(s, ""), "${1}(path)")
	if utf8.RuneCountInString(s) > sentenceRunes {
		s = string([]rune(s)[:sentenceRunes]) + "…"
	}
	return s
}
