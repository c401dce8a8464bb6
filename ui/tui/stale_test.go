package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/text"
)

// What comes late must not show: each test holds an answer back, moves on, and
// lets it come.

func testBench(members ...backends.Member) *bench {
	a := New(Options{Fleet: backends.NewFleet(members, nil), Clock: clock.Fixed(time.Unix(0, 0))})
	return a.d
}

func testDesk() *desk { return testBench().desk }

func TestPageOfTheListBeforeARefreshIsDropped(t *testing.T) {
	s := &shelf{ids: numbers(200), counted: true, backward: true}
	w, q := testWindow(s)
	q.answer(w, 0)
	w.Move(15) // asks for the page after
	if len(q.open) != 1 {
		t.Fatalf("%d questions, want one for the page after", len(q.open))
	}
	s.ids = append(numbers(10), 1001, 1003, 1005)
	held := q.open[0](context.Background()).(fetched[int])
	q.open = nil
	s.ids = numbers(10)
	w.refresh()
	q.answerAll(w)
	w.arrive(held)
	if len(w.rows) != 10 || w.rows[9] != 18 {
		t.Errorf("rows %v of a list of ten", w.rows)
	}
}

// Going far down and up again keeps a few pages, and what is on the screen is
// never let go.
func TestWindowLetsGoOfWhatIsFarAway(t *testing.T) {
	for _, backward := range []bool{true, false} {
		s := &shelf{ids: numbers(2000), counted: true, backward: backward}
		w, q := testWindow(s)
		w.resize(19, true)
		q.answerAll(w)
		w.perPage = 40 // the screen has grown since the first page
		at := 0
		for _, by := range []int{1, -1} {
			for range 300 {
				w.Move(by * 3)
				q.answerAll(w)
				at = max(at+by*3, 0)
				if got, _ := w.current(); got != at*2 {
					t.Fatalf("selected %d, want %d", got, at*2)
				}
				if w.top < 0 || w.top+w.height > len(w.rows) {
					t.Fatalf("the screen %d+%d is outside the %d rows", w.top, w.height, len(w.rows))
				}
				if len(w.pages) > keptPages+1 {
					t.Fatalf("%d pages are held", len(w.pages))
				}
			}
		}
	}
}

func TestRecallDropsAnswersToOlderQuestions(t *testing.T) {
	d := testBench()
	p := newRecall(d, paneRecall)
	p.resize(100, 30)
	p.input.Insert("first")
	p.start()
	old := p.gen
	p.input.Insert(" second")
	p.start()
	hit := backends.Answer{Store: "s", Result: model.RecallResult{Hits: []model.RecallSnippet{{ID: "x", Snippet: "first"}}}}
	p.update(newAnswered(d.esc, old, hit, nil))
	if len(p.rows) != 0 {
		t.Error("an answer to the older question is shown")
	}
	p.update(recallOver{old})
	if !p.running {
		t.Error("the end of the older question ends the newer one")
	}
	p.update(newAnswered(d.esc, p.gen, hit, nil))
	if len(p.rows) != 1 {
		t.Error("the answer to the question is not shown")
	}
}

func TestRecallWaitsForAPause(t *testing.T) {
	p := newRecall(testBench(), paneRecall)
	p.input.Insert("a")
	p.typed()
	first := recallDue{p.gen}
	p.input.Insert("b")
	p.typed()
	if p.update(first); p.query != "" {
		t.Errorf("asked for %q while the operator types", p.query)
	}
	if p.update(recallDue{p.gen}); p.query != "ab" {
		t.Errorf("asked for %q after the pause", p.query)
	}
}

// Only one item is read at a time, and only the one that is wanted is shown.
func TestReaderShowsWhatIsWanted(t *testing.T) {
	d := testDesk()
	r := newReader(d, paneTiers)
	asked := 0
	r.ask = func(func(context.Context) any) tea.Cmd {
		asked++
		return nil
	}
	item := func(id string) reading { return reading{ref: model.Ref{Store: "s", ID: id}} }
	r.open(item("a"), false)
	r.open(item("b"), false)
	if asked != 1 {
		t.Fatalf("%d reads under way", asked)
	}
	r.done(readDone{want: item("a"), text: text.NewPage([]text.Line{{Value: safetext.Const("a")}}, "")})
	if r.shown.ID == "a" || asked != 2 {
		t.Errorf("shown %q after %d reads, want nothing and the second read", r.shown.ID, asked)
	}
	r.done(readDone{want: item("b"), text: text.NewPage([]text.Line{{Value: safetext.Const("b")}}, "")})
	if r.shown.ID != "b" {
		t.Errorf("shown %q, want b", r.shown.ID)
	}
}

func TestHealthHasOneCheckUnderWay(t *testing.T) {
	p := newHealth(testBench(backends.Member{Name: "a", Err: model.E(model.Unavailable, "open", nil)}), paneHealth, nil)
	asked := 0
	p.ask = func(func(context.Context) any) tea.Cmd {
		asked++
		return nil
	}
	p.round()
	p.round()
	if asked != 1 {
		t.Errorf("%d checks under way", asked)
	}
	p.update(checked{backends.HealthReport{Store: "a"}})
	if p.round(); asked != 2 {
		t.Errorf("%d checks after the first has ended", asked)
	}
}

// A reference that would drive the terminal is encoded, and one that is not is
// never handed to the clipboard.
func TestCopiedReferenceIsEncoded(t *testing.T) {
	d := testDesk()
	cmd := d.copy(model.Ref{Store: "s", ID: "a\x1b]0;x\x07\n"})
	if cmd == nil {
		t.Fatal("nothing was copied")
	}
	if s := model.EncodeID("a\x1b]0;x\x07\n"); strings.ContainsAny(s, "\x1b\x07\n") {
		t.Errorf("the encoded id holds controls: %q", s)
	}
}
