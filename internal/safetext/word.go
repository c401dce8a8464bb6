package safetext

import (
	"regexp"
	"strings"
)

var plainWord = regexp.MustCompile(`^[\w./:%@+=,-]+$`)

// Word quotes a text as one shell word, for a command that an operator may copy: no shell expands it. Its
// characters are still those of the text: a screen escapes them.
func Word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
