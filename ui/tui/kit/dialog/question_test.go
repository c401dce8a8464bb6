package dialog

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// Where a question has too little room, its warnings must not be cut.
func TestQuestionKeepsItsWarnings(t *testing.T) {
	st := paint.New(paint.Looks{}, true)
	line := func(s string, k text.Kind) text.Line { return text.Line{Value: safetext.Line(s), Kind: k} }
	d := &Dialog{Lines: []text.Line{
		line("Forget a?", text.Title), line("This removes 1 item.", text.Field), line("Its title: b", text.Field),
		line("A note.", text.Note), line("It cannot be put back.", text.Alert), line("The environment: PRODUCTION.", text.Alert),
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

// TestOneColourForOneSign: a warning has the sign and the colour of a warning, as on every page; only what a list has
// in red is red (docs/design/console.md).
func TestOneColourForOneSign(t *testing.T) {
	st := paint.New(paint.Looks{Colour: true}, true)
	for kind, want := range map[text.Kind]paint.Paint{text.Warn: st.Warn, text.Alert: st.Warn, text.Bad: st.Bad} {
		got := paragraphs(st, []text.Line{{Value: safetext.Const("look"), Kind: kind}}, 40)
		if len(got) != 1 || !strings.Contains(got[0], want.On+"look"+want.Off) {
			t.Errorf("kind %d: %q, want it in %q", kind, got, want.On)
		}
	}
	if st.Warn == st.Bad {
		t.Error("both colours are one here, so that this test says nothing")
	}
}
