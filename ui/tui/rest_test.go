package tui

import (
	"context"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// restingList is a list of records whose details are counted, with the first one
// on the screen.
func restingList(t *testing.T) (p *records[int], asked *[]string, q *questions) {
	t.Helper()
	asked = new([]string)
	kind := recordKind[int]{pane: paneAudit, noun: "record", columns: []column{{title: "N"}},
		fetch: func(context.Context, PageQuery) (span[record[int]], said, error) {
			var s span[record[int]]
			for i := range 50 {
				s.rows = append(s.rows, record[int]{key: strconv.Itoa(i), cells: []safetext.Text{safetext.Const(strconv.Itoa(i))}})
			}
			return s, said{}, nil
		},
		detail: func(context.Context, int) *text.Page { return text.NewPage(nil, "detail") }}
	p = newRecords(testDesk(), kind)
	q = &questions{}
	p.ask = func(f func(context.Context) any) tea.Cmd {
		return q.ask(func(ctx context.Context) any {
			msg := f(ctx)
			if d, ok := msg.(detailed); ok {
				*asked = append(*asked, d.key)
			}
			return msg
		})
	}
	p.detail = text.New(p.d.st, p.ask)
	p.resize(200, 40)
	p.restart(nil, false)
	answerRecords(p, q)
	if len(*asked) != 1 || p.shown != "0" || p.detail.Shown == nil {
		t.Fatalf("details asked for at the start: %v", *asked)
	}
	return p, asked, q
}

func answerRecords(p *records[int], q *questions) {
	for len(q.open) > 0 {
		f := q.open[0]
		q.open = q.open[1:]
		p.update(f(context.Background()))
	}
}

// Of the rows that a held key passes nothing is asked for, and what stands beside
// the list stays until the next detail is there.
func TestDetailWaitsForTheCursor(t *testing.T) {
	p, asked, q := restingList(t)
	for range 10 {
		p.Move(1)
	}
	for gen := range p.rest.gen { // the pauses that were cut short
		p.update(restDue{gen})
	}
	if len(q.open) != 0 {
		t.Fatalf("%d questions while the key is held", len(q.open))
	}
	if p.shown != "0" || p.detail.Shown == nil || len(p.detail.Rows) == 0 {
		t.Error("the detail is blanked while the key is held")
	}
	p.update(restDue{p.rest.gen})
	answerRecords(p, q)
	if len(*asked) != 2 || p.shown != "10" {
		t.Errorf("asked for %v, shown %q: want row 10 after row 0", *asked, p.shown)
	}
}

// A detail that comes when the cursor has gone on is not shown, and is asked for
// again when the cursor returns.
func TestDetailThatComesLate(t *testing.T) {
	p, asked, q := restingList(t)
	p.Move(3)
	p.update(restDue{p.rest.gen}) // asks for row 3
	p.Move(1)
	answerRecords(p, q)
	if p.shown != "0" {
		t.Errorf("row %s is shown while the cursor goes on", p.shown)
	}
	p.Move(-1)
	p.update(restDue{p.rest.gen})
	answerRecords(p, q)
	if p.shown != "3" {
		t.Errorf("asked for %v, shown %q: want row 3", *asked, p.shown)
	}
	p.full = true // as after enter: nothing waits
	p.Move(1)
	answerRecords(p, q)
	if p.shown != "4" {
		t.Errorf("on the whole screen %q is shown, want row 4", p.shown)
	}
}

// The row at the cursor has one paint from its first to its last column.
func TestRowAtTheCursor(t *testing.T) {
	for _, l := range []paint.Looks{{Colour: true, Theme: paint.ThemeDark}, {Colour: true, Theme: paint.ThemeHighContrast}, {}} {
		st := paint.New(l, true)
		draw := func(at, marked bool) string {
			r := st.Highlighted(40, at, true)
			st.Mark(r, marked)
			return r.Cell(st.Plain, safetext.Const("name"), 10).Cell(st.Dim, safetext.Const("one"), 8).Number(st.Dim, safetext.Const("two"), 8).Put(st.Warn, safetext.Const("!!")).End()
		}
		was, is := draw(false, false), draw(true, false)
		rest := st.Dim.On + "one" + st.Dim.Off + st.Dim.On + "          " + st.Dim.Off + st.Dim.On + "two" + st.Dim.Off + st.Warn.On + "!!" + st.Warn.Off
		if want := "  name      " + rest + "          "; was != want {
			t.Errorf("a row is\n%q, want\n%q", was, want)
		}
		if want := st.Selected.On + "▌ name      one          two!!          " + st.Selected.Off; is != want {
			t.Errorf("the row at the cursor is\n%q, want\n%q", is, want)
		}
		if want := st.Selected.On + "▌*name"; !strings.HasPrefix(draw(true, true), want) {
			t.Errorf("a marked row at the cursor is\n%q", draw(true, true))
		}
	}
}

// A read that ends while the cursor still moves does not begin the next one: that
// waits for its own pause.
func TestReadThatEndsWhileTheCursorMoves(t *testing.T) {
	q := &questions{}
	r := newReader(testDesk(), paneTiers)
	r.ask = q.ask
	item := func(id string) reading { return reading{ref: model.Ref{Store: "s", ID: id}} }
	r.open(item("a"), false)
	r.rest(item("b"))
	r.done(q.open[0](context.Background()).(readDone))
	if len(q.open) != 1 {
		t.Fatalf("%d reads, want the first only", len(q.open))
	}
	r.due(readDue{r.gen})
	if len(q.open) != 2 {
		t.Fatalf("%d reads after the pause, want two", len(q.open))
	}
	if got := q.open[1](context.Background()).(readDone).want.ref.ID; got != "b" {
		t.Errorf("%s is read, want b", got)
	}
}
