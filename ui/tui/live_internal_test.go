package tui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/text"
)

// A list that is looked at by itself says from ten seconds on how old it is, and a frozen
// one as of when it stands.
func TestAgeOfAList(t *testing.T) {
	d := testDesk()
	d.time.Clock = clock.Fixed(time.Unix(100, 0))
	at := safetext.Const("1 of 2")
	for _, c := range []struct {
		pulse  pulse
		frozen bool
		want   string
	}{
		{pulse{at: time.Unix(91, 0)}, false, "1 of 2"},
		{pulse{at: time.Unix(90, 0)}, false, "1 of 2, seen 10s ago"},
		{pulse{at: time.Unix(90, 0)}, true, "1 of 2, frozen, as of 00:01:30Z"},
		{pulse{}, true, "1 of 2"},
	} {
		d.glances.frozen = c.frozen
		if got := d.aged(at, c.pulse).String(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.pulse, got, c.want)
		}
	}
}

// A row that has changed meanwhile gets its detail anew; one that has not, keeps it.
func TestDetailFollowsItsRow(t *testing.T) {
	state, asked := "planned", 0
	d := testDesk()
	p := newRecords(d, recordKind[string]{
		noun: "toy", columns: []column{{"TOY", 0, false}}, traits: traits[string]{poll: true},
		fetch: func(context.Context, PageQuery) (out span[record[string]], _ said, _ error) {
			out.rows = []record[string]{{key: "kite", cells: []safetext.Text{d.esc.Line("kite")}, raw: state}}
			return out, said{}, nil
		},
		detail: func(_ context.Context, state string) *text.Page {
			asked++
			return text.NewPage([]text.Line{{Value: d.esc.Line(state)}}, "")
		},
	})
	var run func(tea.Cmd)
	run = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				run(c)
			}
		case reply:
			run(p.update(msg.msg))
		}
	}
	run(p.resize(120, 20))
	run(p.enter())
	run(p.ticked())
	if asked != 1 {
		t.Fatalf("the detail was asked for %d times, want once", asked)
	}
	state = "approved"
	d.glances.frozen = true
	run(p.ticked())
	if asked != 1 {
		t.Error("a frozen list was looked at")
	}
	d.glances.frozen = false
	run(p.ticked())
	lines, _ := p.render(120, 20)
	if asked != 2 || !strings.Contains(strings.Join(lines, "\n"), "approved") {
		t.Errorf("asked %d times; the screen is\n%s", asked, strings.Join(lines, "\n"))
	}
}
