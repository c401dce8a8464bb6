package conflict

import (
	"slices"
	"strings"
)

// alike is the share of equal lines from which two texts count as versions of one (conflict-names.md,
// Confidence).
const alike = 70

// sharedLines returns the equal lines of two texts in per cent of the longer one. Blank lines, line endings
// and order do not count.
func sharedLines(a, b string) int {
	count := map[string]int{}
	na := 0
	for line := range strings.SplitSeq(a, "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			count[line]++
			na++
		}
	}
	nb, same := 0, 0
	for line := range strings.SplitSeq(b, "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			nb++
			if count[line] > 0 {
				count[line]--
				same++
			}
		}
	}
	if max(na, nb) == 0 {
		return 100
	}
	return same * 100 / max(na, nb)
}

// sameKey names the front matter field that identifies both texts as the same note, or is empty.
func sameKey(a, b string) string {
	fields := CompareFront(a, b)
	for _, key := range []string{"slug", "id", "uuid"} {
		if slices.ContainsFunc(fields, func(p FieldPair) bool { return strings.EqualFold(p.Name, key) && p.Base != "" && p.Same() }) {
			return key
		}
	}
	return ""
}
