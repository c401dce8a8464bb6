package health

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

func TestHealthHasOneCheckUnderWay(t *testing.T) {
	p := New(pane.NewBench(desktest.New(backends.Member{Name: "a", Err: model.E(model.Unavailable, "open", nil)})), 0, nil)
	asked := 0
	p.ask = func(func(context.Context) any) tea.Cmd {
		asked++
		return nil
	}
	p.Round()
	p.Round()
	if asked != 1 {
		t.Errorf("%d checks under way", asked)
	}
	p.Update(Checked{backends.HealthReport{Store: "a"}})
	if p.Round(); asked != 2 {
		t.Errorf("%d checks after the first has ended", asked)
	}
}
