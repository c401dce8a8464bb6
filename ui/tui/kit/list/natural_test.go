package list

import "testing"

func TestNaturalOrder(t *testing.T) {
	for _, pair := range [][2]string{{"a9", "a10"}, {"1,204", "12,000"}, {"a", "B"}, {"boats", "boats 2"}, {"007", "8"}, {"", "a"}} {
		if Natural(pair[0], pair[1]) >= 0 || Natural(pair[1], pair[0]) <= 0 || Natural(pair[0], pair[0]) != 0 {
			t.Errorf("%q does not come before %q", pair[0], pair[1])
		}
	}
}
