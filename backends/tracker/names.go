package tracker

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// JoinNames writes a list as a field's value: with commas where that reads back as the same list, else as a
// JSON array.
func JoinNames(names []string) string {
	joined := strings.Join(names, ", ")
	if back, err := SplitNames(joined); err == nil && slices.Equal(back, names) || len(names) == 0 {
		return joined
	}
	b, err := json.Marshal(names)
	if err != nil { // texts always encode
		return joined
	}
	return string(b)
}

// Difference returns the names that a list of SplitNames gains, and those that it loses.
func Difference(was, is string) (add, drop []string, err error) {
	old, err1 := SplitNames(was)
	now, err2 := SplitNames(is)
	without := func(names, others []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
	}
	return without(now, old), without(old, now), errors.Join(err1, err2)
}

// SplitNames reads a list of JoinNames or of a person.
func SplitNames(s string) ([]string, error) {
	var out []string
	if strings.HasPrefix(strings.TrimSpace(s), "[") {
		err := json.Unmarshal([]byte(s), &out)
		return out, err
	}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out, nil
}
