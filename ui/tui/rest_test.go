package tui

import (
	"context"
	"strconv"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// restingList is a list of records whose details are counted, with the first one
// on the screen.
func restingList(t *testing.T) (p *records, asked *[]string, q *questions) {
	t.Helper()
	asked = new([]string)
	kind := recordKind{pane: paneAudit, noun: "record", columns: []column{{title: "N"}},
		fetch: func(context.Context, PageQuery) (span[record], said, error) {
			var s span[record]
			for i := range 50 {
				s.rows = append(s.rows, record{key: strconv.Itoa(i), cells: []safetext.Text{safetext.Const(strconv.Itoa(i))}})
			}
			return s, said{}, nil
		},
		detail: func(context.Context, any) *text { return newText(nil, "detail") }}
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
	p.detail = newPager(p.d.st, p.ask)
	p.resize(200, 40)
	p.restart(nil, false)
	answerRecords(p, q)
	if len(*asked) != 1 || p.shown != "0" || p.detail.shown == nil {
		t.Fatalf("details asked for at the start: %v", *asked)
	}
	return p, asked, q
}

func answerRecords(p *records, q *questions) {
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
		p.move(1)
	}
	for gen := range p.rest.gen { // the pauses that were cut short
		p.update(restDue{gen})
	}
	if len(q.open) != 0 {
		t.Fatalf("%d questions while the key is held", len(q.open))
	}
	if p.shown != "0" || p.detail.shown == nil || len(p.detail.rows) == 0 {
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
	p.move(3)
	p.update(restDue{p.rest.gen}) // asks for row 3
	p.move(1)
	answerRecords(p, q)
	if p.shown != "0" {
		t.Errorf("row %s is shown while the cursor goes on", p.shown)
	}
	p.move(-1)
	p.update(restDue{p.rest.gen})
	answerRecords(p, q)
	if p.shown != "3" {
		t.Errorf("asked for %v, shown %q: want row 3", *asked, p.shown)
	}
	p.full = true // as after enter: nothing waits
	p.move(1)
	answerRecords(p, q)
	if p.shown != "4" {
		t.Errorf("on the whole screen %q is shown, want row 4", p.shown)
	}
}

// A step of the cursor changes the signs and the name of two rows; what stands after
// the name, and the blanks between texts of one paint, are painted as they were.
func TestRowAtTheCursor(t *testing.T) {
	for _, l := range []looks{{colour: true, theme: ThemeDark}, {colour: true, theme: ThemeHighContrast}, {}} {
		st := newStyles(l, true)
		draw := func(at, marked bool) string {
			r := st.highlighted(40, at, true)
			st.mark(r, marked)
			return r.cell(st.plain, safetext.Const("name"), 10).cell(st.dim, safetext.Const("one"), 8).number(st.dim, safetext.Const("two"), 8).put(st.warn, safetext.Const("!!")).end()
		}
		was, is := draw(false, false), draw(true, false)
		rest := st.dim.on + "one" + st.dim.off + st.dim.on + "          " + st.dim.off + st.dim.on + "two" + st.dim.off + st.warn.on + "!!" + st.warn.off
		if want := "  name      " + rest + "          "; was != want {
			t.Errorf("a row is\n%q, want\n%q", was, want)
		}
		sel := func(s string) string { return st.selected.on + s + st.selected.off }
		if want := sel("▌") + sel(" ") + sel("name") + "      " + rest + "          "; is != want {
			t.Errorf("the row at the cursor is\n%q, want\n%q", is, want)
		}
		if want := sel("▌") + sel("*") + sel("name"); !strings.HasPrefix(draw(true, true), want) {
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
