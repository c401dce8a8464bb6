package list

import (
	"cmp"
	"strings"
)

// Natural orders texts as people do: case-insensitive, and numbers by value.
func Natural(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	for a != "" && b != "" {
		x, restA := digits(a)
		y, restB := digits(b)
		if x != "" && y != "" {
			if n := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); n != 0 {
				return n
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the leading number of a text, without leading zeros and commas, and the rest.
func digits(s string) (number, rest string) {
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || n > 0 && s[n] == ',') {
		n++
	}
	number = strings.TrimLeft(strings.ReplaceAll(s[:n], ",", ""), "0")
	if n > 0 && number == "" {
		number = "0"
	}
	return number, s[n:]
}
