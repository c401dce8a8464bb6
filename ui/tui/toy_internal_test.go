package tui

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/text"
)

// A new pane is one value and one line of the registry: it gets a tab, a key, a filter,
// a detail and its place in the help without a word about it elsewhere.
func TestPaneIsOneLine(t *testing.T) {
	was := registry
	defer func() { registry = was }()
	registry = append(was[:len(was):len(was)], registered{"Toys", "Toys", func(_ *screens, d *bench, _ int) pane {
		return newRecords(d.desk, recordKind[string]{
			pane: len(was), noun: "toy", empty: "There are no toys.", columns: []column{{"TOY", 0, false}},
			fetch: func(_ context.Context, q PageQuery) (out span[record[string]], _ said, _ error) {
				for _, name := range []string{"boat", "kite"} {
					if q.Matches(name) {
						out.rows = append(out.rows, record[string]{key: name, cells: []safetext.Text{d.esc.Line(name)}, raw: name})
					}
				}
				return out, said{}, nil
			},
			detail: func(_ context.Context, name string) *text.Page {
				return text.NewPage([]text.Line{{Value: d.esc.Sprintf("a %s", name), Kind: text.Title}}, "")
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
		case reply:
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
	if help := a.pages.Help(); len(help) != 2 || help[0].Title != "Toys, here" {
		t.Errorf("the help has no keys of the new pane: %v", help)
	}
}
