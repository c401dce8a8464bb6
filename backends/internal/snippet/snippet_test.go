package snippet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memdesk/internal/testcpu"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text, query, want string
		line              int
	}{
		{"a\nGrö\xffße", " gRÖ\ufffdß ", "a\nGrö\ufffdße", 2},
		{"one\ntwo\nthree", "three nine two", "one\ntwo\nthree", 2},
		{"one", "two", "one", 0},
		{"one", " ", "one", 0},
		{strings.Repeat("ö", 1000) + "x", "x", strings.Repeat("ö", 499) + "x", 1},
	} {
		if got, line := Cut(c.text, c.query); got != c.want || line != c.line {
			t.Errorf("%q in %.40q: %q, line %d", c.query, c.text, got, line)
		}
	}
}

// TestCutByManyWords: a query of many words must not keep a processor busy.
func TestCutByManyWords(t *testing.T) {
	var text, query strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "%s w%03d", strings.Repeat("x", 900), i)
		fmt.Fprintf(&query, "w%03d ", 999-i)
	}
	line := 0
	took := testcpu.Spent(func() { _, line = Cut(text.String(), query.String()) })
	if line != 1 {
		t.Errorf("line %d", line)
	}
	if took > time.Second {
		t.Errorf("it took %s", took)
	}
}
