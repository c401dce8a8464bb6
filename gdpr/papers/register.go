package papers

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// Entry is one request in the register. It names nobody: the subject is a pseudonym.
type Entry struct {
	Request, Person, Received, Deadline, State, Finished string
	Extended                                             bool
	Days                                                 int // from receipt to the end; for an open one, until today
	Late                                                 bool
	Ground                                               string
	Forgotten, Redacted, Held                            int64
	Layers                                               int // attested
	Exports                                              int
	// Unproven: its receipt cannot be checked, so nothing is known of what was erased.
	Unproven bool `json:"-"`
}

// Register is the requests of one year.
type Register struct {
	Year    int
	Entries []Entry
}

var columns = []string{"request", "person", "received", "deadline", "extended", "state", "finished", "days", "late", "ground", "forgotten", "redacted", "held", "attested", "exports"}

func (e Entry) row() []string {
	n := func(n int64) string {
		if e.Unproven {
			return "unknown"
		}
		return strconv.FormatInt(n, 10)
	}
	return []string{e.Request, e.Person, e.Received, e.Deadline, strconv.FormatBool(e.Extended), e.State, e.Finished, strconv.Itoa(e.Days), strconv.FormatBool(e.Late),
		e.Ground, n(e.Forgotten), n(e.Redacted), n(e.Held), strconv.Itoa(e.Layers), strconv.Itoa(e.Exports)}
}

// CSV is the register for a spreadsheet; a cell that would read as a formula begins with an apostrophe.
func (r Register) CSV() (string, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	rows := [][]string{columns}
	for _, e := range r.Entries {
		cells := e.row()
		for i, c := range cells {
			if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
				cells[i] = "'" + c
			}
		}
		rows = append(rows, cells)
	}
	if err := w.WriteAll(rows); err != nil {
		return "", model.E(model.Internal, "gdpr-register", err)
	}
	return out.String(), nil
}

// Markdown is the register as a page, with the numbers that an authority asks for.
func (r Register) Markdown() string {
	var out strings.Builder
	var esc safetext.Escaper
	done, late, open, withdrawn, extended, days := 0, 0, 0, 0, 0, 0
	for _, e := range r.Entries {
		switch e.State {
		case "complete":
			done, days = done+1, days+e.Days
		case "withdrawn":
			withdrawn++
		default:
			open++
		}
		if e.Late {
			late++
		}
		if e.Extended {
			extended++
		}
	}
	fmt.Fprintf(&out, "# Requests for erasure received in %d\n\n%d received: %d complete, %d open, %d withdrawn. %d answered or still open after their deadline, %d extended.", r.Year, len(r.Entries), done, open, withdrawn, late, extended)
	if done > 0 {
		fmt.Fprintf(&out, " A complete one took %d days on average.", (days+done/2)/done)
	}
	fmt.Fprintf(&out, "\n\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, e := range r.Entries {
		cells := e.row()
		for i, c := range cells {
			if yes, err := strconv.ParseBool(c); err == nil && (columns[i] == "extended" || columns[i] == "late") {
				c = map[bool]string{true: "yes", false: "no"}[yes]
			}
			cells[i] = strings.ReplaceAll(esc.Line(c).String(), "|", `\|`)
		}
		fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
	}
	return out.String()
}
