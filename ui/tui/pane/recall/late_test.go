package recall

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

func TestRecallDropsAnswersToOlderQuestions(t *testing.T) {
	d := pane.NewBench(desktest.New())
	p := New(d, 2)
	p.Resize(100, 30)
	p.Filter.Insert("first")
	p.start()
	old := p.gen
	p.Filter.Insert(" second")
	p.start()
	hit := backends.Answer{Store: "s", Result: model.RecallResult{Hits: []model.RecallSnippet{{ID: "x", Snippet: "first"}}}}
	p.Update(newAnswered(d.Desk, old, hit, nil))
	if len(p.Window.Rows) != 0 {
		t.Error("an answer to the older question is shown")
	}
	p.Update(recallOver{old})
	if !p.Partial {
		t.Error("the end of the older question ends the newer one")
	}
	p.Update(newAnswered(d.Desk, p.gen, hit, nil))
	if len(p.Window.Rows) != 1 {
		t.Error("the answer to the question is not shown")
	}
}

func TestRecallWaitsForAPause(t *testing.T) {
	p := New(pane.NewBench(desktest.New()), 2)
	p.Filter.Insert("a")
	p.Typed()
	first := recallDue{p.gen}
	p.Filter.Insert("b")
	p.Typed()
	if p.Update(first); p.query != "" {
		t.Errorf("asked for %q while the operator types", p.query)
	}
	if p.Update(recallDue{p.gen}); p.query != "ab" {
		t.Errorf("asked for %q after the pause", p.query)
	}
}

// TestUpBringsAQueryBack: from an empty line, and from a query to the one before it; where a hit is chosen it goes to a hit.
func TestUpBringsAQueryBack(t *testing.T) {
	p := New(pane.NewBench(desktest.New()), 2)
	for _, query := range []string{"first", "second", "first "} {
		p.Filter.Set(query)
		p.keep()
	}
	p.Filter.Set("")
	p.keep()
	for _, want := range []string{"first", "second", "second"} {
		if p.before(); p.Filter.Value() != want {
			t.Errorf("Up brings %q, want %q", p.Filter.Value(), want)
		}
	}
	p.Filter.Set("first")
	p.Window.Rows = make([]hitRow, 3)
	p.Move(2)
	if p.before(); p.Window.Sel != 1 || p.Filter.Value() != "first" {
		t.Errorf("Up in the hits goes to %d, %q", p.Window.Sel, p.Filter.Value())
	}
}

type planter struct{ desk.StorySource }

func (planter) Planted(text string) []string { return strings.Fields(text)[:1] }

func TestAPlantedHitIsMarked(t *testing.T) {
	d := pane.NewBench(desktest.New())
	d.Stories = planter{}
	p := New(d, 2)
	p.Resize(100, 30)
	p.Filter.Insert("x")
	p.start()
	p.Update(newAnswered(d.Desk, p.gen, backends.Answer{Store: "s", Result: model.RecallResult{Hits: []model.RecallSnippet{{ID: "x", Snippet: "sleeper wakes"}}}}, nil))
	if got := p.describe(p.Window.Rows[0].Raw); len(got) < 2 || !strings.Contains(got[1].Value.String(), "looks planted: sleeper") {
		t.Errorf("the detail says %v", got)
	}
	if rows, _ := p.Render(100, 30); !strings.Contains(strings.Join(rows, "\n"), "▲ ") {
		t.Errorf("the row has no mark: %q", rows)
	}
}

// A question that cannot be asked must not stand over the hits of the one before.
func TestAWrongQuestionHasNoHits(t *testing.T) {
	d := pane.NewBench(desktest.New())
	p := New(d, 2)
	p.Resize(100, 30)
	p.Filter.Insert("rye")
	p.start()
	p.Update(newAnswered(d.Desk, p.gen, backends.Answer{Store: "s", Result: model.RecallResult{Total: 1, Hits: []model.RecallSnippet{{ID: "x", Snippet: "rye"}}}}, nil))
	p.Update(recallOver{p.gen})
	if at, _ := p.Position(); at.String() != "1 of 1 hit" {
		t.Errorf("the place is %q", at)
	}
	p.Filter.Insert(" tier:nosuch")
	p.start()
	if at, _ := p.Position(); !at.IsEmpty() || len(p.Window.Rows) > 0 || p.wrong == nil {
		t.Errorf("%q stands over %d hits", at, len(p.Window.Rows))
	}
}

// Stores that gave all they have need no line, and the others share one, which is no warning.
func TestStoresWithMoreShareALine(t *testing.T) {
	d := pane.NewBench(desktest.New())
	p := New(d, 2)
	p.Resize(100, 30)
	p.Filter.Insert("rye")
	p.start()
	for _, a := range []backends.Answer{
		{Store: "all", Result: model.RecallResult{Total: model.TotalUnknown, Hits: make([]model.RecallSnippet, 2)}},
		{Store: "some", Result: model.RecallResult{Total: 9, Hits: make([]model.RecallSnippet, 2)}},
		{Store: "part", Result: model.RecallResult{Total: 2, Hits: make([]model.RecallSnippet, 2), Bounded: true, BoundNote: "picked among the first 20 hits"}},
		{Store: "full", Result: model.RecallResult{Total: model.TotalUnknown, Hits: make([]model.RecallSnippet, model.RecallLimit)}},
	} {
		p.Update(newAnswered(d.Desk, p.gen, a, nil))
	}
	all := p.statuses()
	if len(all) != 2 {
		t.Fatalf("the lines are %v", all)
	}
	for _, part := range []string{"some 2 of 9 hits", "part picked among the first 20 hits", "full 20 hits of an unknown number"} {
		if !strings.Contains(all[1].text.String(), part) {
			t.Errorf("%q lacks %q", all[1].text, part)
		}
	}
	if strings.Contains(all[1].text.String(), "all ") || all[1].mark != "" {
		t.Errorf("the line is %q", all[1].text)
	}
}

// TestAWithdrawnQuestionIsNotWaitedFor: on the screen, in an export and read out, a store that gave no answer must not
// seem to be on its way once the question was withdrawn.
func TestAWithdrawnQuestionIsNotWaitedFor(t *testing.T) {
	d := pane.NewBench(desktest.New(backends.Member{Name: "far", Store: model.Store{Name: "far"}}))
	p := New(d, 2)
	p.Resize(100, 30)
	p.Filter.Insert("rye")
	p.start()
	says := func(want string) {
		t.Helper()
		said := p.Notices()
		if len(p.unanswered()) != 1 || p.unanswered()[0].text.String() != want || len(said) != 1 || said[0].String() != "Store far: "+want {
			t.Errorf("%v and %v, want %q", p.unanswered(), said, want)
		}
	}
	says("no answer yet")
	p.Update(recallOver{p.gen})
	says("no answer: the question was withdrawn")
}

// TestAQuestionOverAPageHasTheWholePane: the window may have another size than when the page covered the hits.
func TestAQuestionOverAPageHasTheWholePane(t *testing.T) {
	d := pane.NewBench(desktest.New(backends.Member{Name: "s", Store: model.Store{Name: "s"}}))
	p := New(d, 2)
	p.Resize(200, 30)
	p.Look("rye")
	p.Update(newAnswered(d.Desk, p.gen, backends.Answer{Store: "s", Result: model.RecallResult{Hits: []model.RecallSnippet{{ID: "x", Snippet: "rye"}}}}, nil))
	p.readHere()
	p.Resize(100, 30)
	p.Look("boat")
	lines, _ := p.Render(100, 30)
	for _, l := range lines {
		if n := lipgloss.Width(l); n != 100 {
			t.Errorf("a line of %d columns: %q", n, l)
		}
	}
	if p.Full || len(lines) != 30 {
		t.Errorf("%d lines, on a page: %t", len(lines), p.Full)
	}
}
