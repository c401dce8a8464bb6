package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
)

// Where a question has no room, what it warns of is not what is cut.
func TestQuestionKeepsItsWarnings(t *testing.T) {
	st := newStyles(looks{}, true)
	line := func(s string, k headKind) headLine { return headLine{value: safetext.Line(s), kind: k} }
	d := &dialog{lines: []headLine{
		line("Forget a?", headTitle), line("This removes 1 item.", headField), line("Its title: b", headField),
		line("A note.", headNote), line("!! It cannot be put back.", headWarn), line("!! The environment: PRODUCTION.", headWarn),
	}}
	for room, want := range map[int][]string{
		6: {"Forget a?", "This removes", "Its title", "A note", "cannot be put back", "PRODUCTION"},
		5: {"Forget a?", "This removes", "cannot be put back", "PRODUCTION", "there is more"},
		3: {"Forget a?", "This removes", "there is more"},
		1: {"there is more"},
	} {
		rows := d.question(st, 60, room)
		shown := ansi.Strip(strings.Join(rows, "\n"))
		if len(rows) > room || len(rows) != len(want) {
			t.Errorf("%d rows in a room of %d:\n%s", len(rows), room, shown)
		}
		for _, w := range want {
			if !strings.Contains(shown, w) {
				t.Errorf("room %d: no %q:\n%s", room, w, shown)
			}
		}
	}
}
