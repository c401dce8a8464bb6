package record

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// restingList is a list of records with counted details and the first one on the screen.
func restingList(t *testing.T) (p *List[int], names *[]string, q *asked) {
	t.Helper()
	names = new([]string)
	kind := Kind[int]{Pane: 6, Noun: "record", Columns: []Column{{Title: "N"}},
		Fetch: func(context.Context, operator.PageQuery) (list.Span[Row[int]], error) {
			var s list.Span[Row[int]]
			for i := range 50 {
				s.Rows = append(s.Rows, Row[int]{Key: strconv.Itoa(i), Raw: i, Cells: []safetext.Text{safetext.Const(strconv.Itoa(i))}})
			}
			return s, nil
		},
		Detail: func(_ context.Context, n int) *text.Page {
			*names = append(*names, strconv.Itoa(n))
			return text.NewPage(nil, strconv.Itoa(n))
		}}
	p = New(desktest.New(), kind)
	q = &asked{}
	p.Window.Ask = q.ask
	p.Detail = q.reader(p.D.St)
	p.Resize(200, 40)
	p.Window.Reset(p.fetcher())
	answerRecords(p, q)
	if len(*names) != 1 || p.Detail.Shown == nil || p.Detail.Shown.Body != "0" {
		t.Fatalf("details asked for at the start: %v", *names)
	}
	return p, names, q
}

func answerRecords(p *List[int], q *asked) {
	for len(q.open) > 0 {
		f := q.open[0]
		q.open = q.open[1:]
		p.Update(f(context.Background()))
	}
}

// Rows that a held key passes must not be requested, and the detail beside the list must stay until the
// next one has come.
func TestDetailWaitsForTheCursor(t *testing.T) {
	p, names, q := restingList(t)
	for range 10 {
		p.Move(1)
	}
	for _, cut := range q.pauses[:len(q.pauses)-1] { // the pauses that were cut short
		p.Update(cut)
	}
	if len(q.open) != 0 {
		t.Fatalf("%d questions while the key is held", len(q.open))
	}
	if p.Detail.Shown == nil || p.Detail.Shown.Body != "0" || len(p.Detail.Rows) == 0 {
		t.Error("the detail is blanked while the key is held")
	}
	p.Update(q.pauses[len(q.pauses)-1])
	answerRecords(p, q)
	if len(*names) != 2 || p.Detail.Shown.Body != "10" {
		t.Errorf("asked for %v, shown %q: want row 10 after row 0", *names, p.Detail.Shown.Body)
	}
}

// A detail that comes after the cursor has moved must not be shown, and must be requested again when
// the cursor returns.
func TestDetailThatComesLate(t *testing.T) {
	p, names, q := restingList(t)
	p.Move(3)
	p.Update(q.pauses[len(q.pauses)-1]) // requests row 3
	p.Move(1)
	answerRecords(p, q)
	if p.Detail.Shown.Body != "0" {
		t.Errorf("row %s is shown while the cursor goes on", p.Detail.Shown.Body)
	}
	p.Move(-1)
	p.Update(q.pauses[len(q.pauses)-1])
	answerRecords(p, q)
	if p.Detail.Shown.Body != "3" {
		t.Errorf("asked for %v, shown %q: want row 3", *names, p.Detail.Shown.Body)
	}
	p.Full = true // as after enter: nothing waits
	p.Move(1)
	answerRecords(p, q)
	if p.Detail.Shown.Body != "4" {
		t.Errorf("on the whole screen %q is shown, want row 4", p.Detail.Shown.Body)
	}
}

// TestDetailOfARowThatChangesMeanwhile: the answer about the row as it was must not stand beside the row as it is.
func TestDetailOfARowThatChangesMeanwhile(t *testing.T) {
	state := "planned"
	d := desktest.New()
	p := New(d, Kind[string]{Pane: 6, Noun: "toy", Columns: []Column{{Title: "TOY"}},
		Fetch: func(context.Context, operator.PageQuery) (s list.Span[Row[string]], _ error) {
			s.Rows = []Row[string]{{Key: "kite", Cells: []safetext.Text{safetext.Const("kite")}, Raw: state}}
			return s, nil
		},
		Detail: func(_ context.Context, state string) *text.Page {
			return text.NewPage([]text.Line{{Value: d.Esc.Line(state)}}, "")
		}})
	q := &asked{}
	p.Window.Ask = q.ask
	p.Detail = q.reader(p.D.St)
	answer := func() (late []func(context.Context) any) {
		late, q.open = q.open, nil
		return late
	}
	p.Resize(200, 40)
	p.Window.Reset(p.fetcher())
	for _, f := range answer() {
		p.Update(f(t.Context()))
	}
	late := answer() // the detail
	state = "approved"
	p.Window.Refresh()
	for len(q.open) > 0 { // the page, then the detail, then its lines
		for _, f := range answer() {
			p.Update(f(t.Context()))
		}
	}
	for _, over := range q.pauses {
		p.Update(over)
	}
	for q.open = late; len(q.open) > 0; {
		for _, f := range answer() {
			p.Update(f(t.Context()))
		}
	}
	lines, _ := p.Render(200, 40)
	if screen := strings.Join(lines, "\n"); !strings.Contains(screen, "approved") || strings.Contains(screen, "planned") {
		t.Error(screen)
	}
}

// asked holds started commands without an answer, and pauses.
type asked struct {
	open   []func(context.Context) any
	pauses []any
}

// reader is a reader whose reads and pauses are held.
func (q *asked) reader(st *paint.Styles) *text.Reader {
	return text.NewReader(text.New(st, q.ask), func(_ time.Duration, msg any) tea.Cmd {
		q.pauses = append(q.pauses, msg)
		return nil
	})
}

func (q *asked) ask(f func(context.Context) any) tea.Cmd {
	q.open = append(q.open, f)
	return nil
}

// TestAPageIsAboutItsOwnRow: with marks that a filter hides, an act on the list is for them and says so; on a page it is
// for the row of the page, and the marks are none of its business.
func TestAPageIsAboutItsOwnRow(t *testing.T) {
	p, _, _ := restingList(t)
	chosen := func(what, want string) {
		t.Helper()
		rows, hidden, why := p.Chosen()
		got := fmt.Sprint(hidden, why)
		for _, r := range rows {
			got += " " + r.Key
		}
		if got != want {
			t.Errorf("%s: an act is for %q, want %q", what, got, want)
		}
	}
	chosen("nothing marked", "0 0")
	for _, n := range []int{7, 3} {
		p.Marks.Add(p.Window.Rows[n])
	}
	chosen("two marked", "0 7 3")
	p.Window.Fetch = func(context.Context, list.From, int) (list.Span[Row[int]], error) { return list.Span[Row[int]]{}, nil }
	p.Marks.Filtered("x")
	p.Full = true
	chosen("on a page", "0 0")
	p.Full = false
	if _, _, why := p.Chosen(); why == "" {
		t.Error("an act on the marks does not wait until those in the filter are known")
	}
}
