package tui

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// A new pane is one value and one line of the registry: it must get a tab, a key, a filter, a detail
// and its place in the help without any other change.
func TestPaneIsOneLine(t *testing.T) {
	was := registry
	defer func() { registry = was }()
	registry = append(was[:len(was):len(was)], registered{"Toys", "Toys", func(_ *screens, d *pane.Bench, _ int) desk.Pane {
		return record.New(d.Desk, record.Kind[string]{
			Pane: len(was), Noun: "toy", Empty: "There are no toys.", Columns: []record.Column{{Title: "TOY"}},
			Fetch: func(_ context.Context, q operator.PageQuery) (out record.Page[string], _ error) {
				for _, name := range []string{"boat", "kite"} {
					if q.Matches(name) {
						out.Rows = append(out.Rows, record.Row[string]{Key: name, Cells: []safetext.Text{d.Esc.Line(name)}, Raw: name})
					}
				}
				return out, nil
			},
			Detail: func(_ context.Context, name string) *text.Page {
				return text.NewPage([]text.Line{{Value: d.Esc.Sprintf("a %s", name), Kind: text.Title}}, "")
			},
		})
	}})
	a := New(Options{})
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 30})
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
		case loop.Reply:
			_, next := a.Update(msg)
			run(next)
		}
	}
	_, cmd := a.Update(tea.KeyPressMsg{Code: '8', Text: "8"})
	run(cmd)
	for _, want := range []string{"[8 Toys]", "boat", "a boat", "1 of 2"} {
		if got := a.View().Content; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if help := a.Pages.Help(); len(help) != 2 || help[0].Title != "Toys, here" {
		t.Errorf("the help has no keys of the new pane: %v", help)
	}
	run(a.Page("News", text.NewPage(nil, "a new toy"))) // the keys of the pane do nothing there
	if help := a.Pages.Help(); len(help) != 1 || help[0].Title != "News, here" {
		t.Errorf("the help has no keys of the page: %v", help)
	}
	for _, want := range []string{"Help: News", "News"} {
		_, cmd = a.Update(tea.KeyPressMsg{Code: '?', Text: "?"})
		run(cmd)
		if o := a.Pages.Overlay; o == nil || o.Title.String() != want {
			t.Fatalf("the page is %+v, want %s", o, want)
		}
	}
}
