package cli

import (
	"bytes"
	"io"
	"testing"

	"memdesk/internal/lines"
)

// exampleRow has a field of each sort.
type exampleRow struct {
	Ref      string `json:"-" col:"REF"`
	At       stamp  `json:"at"`
	LetIn    int    `json:"let_in"`
	Readable bool   `json:"readable"`
	By       dashed `json:"by"`
	Size     int    `json:"size"`
	Words    string `json:"-" col:"SIZE"`
}

// TestRowsOfAPageHaveNoNames: under --watch the rows of a list that is a page of several may begin alike, as the hits of
// one recall do. Each is printed once.
func TestRowsOfAPageHaveNoNames(t *testing.T) {
	for _, whole := range []bool{false, true} {
		first := &watchRound{whole: whole, now: map[string]string{}}
		first.isNew("12:00:00", "12:00:00 notes:a")
		first.isNew("12:00:00", "12:00:00 notes:b")
		next := &watchRound{whole: whole, now: map[string]string{}, last: first.now}
		if again := next.isNew("12:00:00", "12:00:00 notes:a"); again != whole {
			t.Errorf("whole %v: printed again %v", whole, again)
		}
	}
}

// One row is both a line of the table and an object: a field with a col tag stands in the line.
func TestARowIsALineAndAnObject(t *testing.T) {
	for _, tt := range []struct {
		json bool
		want string
	}{
		{false, "REF  LET IN  AT  READABLE  BY  SIZE\nn:1       3  -   yes       -   2 KiB\n"},
		{true, `{"type":"kind","v":1,"at":null,"let_in":3,"readable":true,"by":"","size":2048}` + "\n"},
	} {
		var out bytes.Buffer
		a := &app{}
		a.out, _ = lines.New(&out, io.Discard)
		a.flags.json = tt.json
		tab := a.table("REF", "LET IN", "AT", "READABLE", "BY", "SIZE")
		tab.put("kind", exampleRow{Ref: "n:1", LetIn: 3, Readable: true, Size: 2048, Words: "2 KiB"})
		tab.flush()
		if err := a.out.Flush(); err != nil || out.String() != tt.want {
			t.Errorf("got %q (%v), want %q", out.String(), err, tt.want)
		}
	}
}
