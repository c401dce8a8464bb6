package recall

import (
	"strings"
	"testing"

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
	p.Input.Insert("first")
	p.start()
	old := p.gen
	p.Input.Insert(" second")
	p.start()
	hit := backends.Answer{Store: "s", Result: model.RecallResult{Hits: []model.RecallSnippet{{ID: "x", Snippet: "first"}}}}
	p.Update(newAnswered(d.Desk, old, hit, nil))
	if len(p.rows) != 0 {
		t.Error("an answer to the older question is shown")
	}
	p.Update(recallOver{old})
	if !p.running {
		t.Error("the end of the older question ends the newer one")
	}
	p.Update(newAnswered(d.Desk, p.gen, hit, nil))
	if len(p.rows) != 1 {
		t.Error("the answer to the question is not shown")
	}
}

func TestRecallWaitsForAPause(t *testing.T) {
	p := New(pane.NewBench(desktest.New()), 2)
	p.Input.Insert("a")
	p.Typed()
	first := recallDue{p.gen}
	p.Input.Insert("b")
	p.Typed()
	if p.Update(first); p.query != "" {
		t.Errorf("asked for %q while the operator types", p.query)
	}
	if p.Update(recallDue{p.gen}); p.query != "ab" {
		t.Errorf("asked for %q after the pause", p.query)
	}
}

type planter struct{ desk.StorySource }

func (planter) Planted(text string) []string { return strings.Fields(text)[:1] }

func TestAPlantedHitIsMarked(t *testing.T) {
	d := pane.NewBench(desktest.New())
	d.Stories = planter{}
	p := New(d, 2)
	p.Resize(100, 30)
	p.Input.Insert("x")
	p.start()
	p.Update(newAnswered(d.Desk, p.gen, backends.Answer{Store: "s", Result: model.RecallResult{Hits: []model.RecallSnippet{{ID: "x", Snippet: "sleeper wakes"}}}}, nil))
	if got := p.describe(p.rows[0]); len(got) < 2 || !strings.Contains(got[1].Value.String(), "looks planted: sleeper") {
		t.Errorf("the detail says %v", got)
	}
	if rows := strings.Join(p.renderList(90), "\n"); !strings.Contains(rows, "▲ ") {
		t.Errorf("the row has no mark: %q", rows)
	}
}
