package health

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

// TestOneLookAtATime: a file on a hanging mount never answers, and each question about it holds a thread.
func TestOneLookAtATime(t *testing.T) {
	p := newWatch(pane.NewBench(desktest.New(backends.Member{Name: "a", Location: "/a"})), 0, nil)
	asked := 0
	p.Window.Ask = func(func(context.Context) any) tea.Cmd {
		asked++
		return nil
	}
	p.look()
	p.look()
	if asked != 1 {
		t.Errorf("%d looks under way", asked)
	}
	p.Update(presence{"a": true})
	if p.look(); asked != 2 {
		t.Errorf("%d looks after the first was answered", asked)
	}
}
