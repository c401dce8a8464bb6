package tracker

import (
	"cmp"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// JoinNames writes a list as a field's value: with commas where that reads back as the same list, else as a
// JSON array.
func JoinNames(names []string) string {
	joined := strings.Join(names, ", ")
	if back, err := SplitNames(joined); err == nil && slices.Equal(back, names) || len(names) == 0 {
		return joined
	}
	return string(jsonedit.QuoteList(names))
}

// Difference returns the names that a list of SplitNames gains, and those that it loses.
func Difference(was, is string) (add, drop []string, err error) {
	old, err1 := SplitNames(was)
	now, err2 := SplitNames(is)
	without := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
	}
	return without(now, old), without(old, now), cmp.Or(err1, err2)
}

// SplitNames reads a list of JoinNames or of a person; InvalidInput for a JSON array of anything but texts.
func SplitNames(s string) ([]string, error) {
	if strings.HasPrefix(strings.TrimSpace(s), "[") {
		out, ok := jsonedit.Texts([]byte(s))
		if !ok {
			return nil, model.Errorf(model.InvalidInput, "retain", `a list of names reads a, b or ["a", "b"]`)
		}
		return out, nil
	}
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out, nil
}
