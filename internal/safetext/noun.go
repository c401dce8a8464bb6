package safetext

import (
	"strconv"
	"strings"
)

// Noun is one of the program's own nouns after a number: entry, entries; key, keys.
func Noun(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeou") {
		return stem + "ies"
	}
	return noun + "s"
}

// Count is a number with its noun: "1 item", "2 items".
func Count(n int64, noun string) string { return strconv.FormatInt(n, 10) + " " + Noun(n, noun) }
