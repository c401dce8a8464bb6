package cli

import (
	"bytes"
	"io"
	"testing"
	"time"

	"memdesk/internal/lines"
)

// One row is both a line of the table and an object: a cell is of the line alone, and of `as` each has its form.
func TestARowIsALineAndAnObject(t *testing.T) {
	for _, tt := range []struct {
		json bool
		want string
	}{
		{false, "REF  LET IN  AT  READABLE  BY\nn:1  3       -   yes       -\n"},
		{true, `{"at":null,"by":"","let_in":3,"readable":true,"type":"kind","v":1}` + "\n"},
	} {
		var out bytes.Buffer
		a := &app{}
		a.out, _ = lines.New(&out, io.Discard)
		a.flags.json = tt.json
		tab := a.table("REF", "LET IN", "AT", "READABLE", "BY")
		tab.put("kind", row{"ref": cell("n:1"), "let_in": 3, "at": stamp(time.Time{}), "readable": true, "by": dash("")})
		tab.flush()
		if err := a.out.Flush(); err != nil || out.String() != tt.want {
			t.Errorf("got %q (%v), want %q", out.String(), err, tt.want)
		}
	}
}
