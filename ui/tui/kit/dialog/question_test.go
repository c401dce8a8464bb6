package dialog

import (
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/loop"
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
		5: {"Forget a?", "This removes", "cannot be put back", "PRODUCTION", ", more: PgDn"},
		3: {"Forget a?", "This removes", ", more: PgDn"},
		1: {"there is more: PgDn"},
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

// A name with characters that the screen shows escaped must be typed as it is shown, or as it is; it is escaped once.
func TestNameIsTypedAsShown(t *testing.T) {
	for _, plain := range []bool{false, true} {
		st := paint.New(paint.Looks{Ascii: plain}, true)
		for _, name := range []string{"pins.md", "caf\u00e9.md", "^C.md", "a\u200bb.md", "<U+00E9>.md"} {
			shown := st.Esc.Line(name)
			d := &Dialog{Name: shown, NoReason: true}
			if !d.IsName(st.Esc, shown.String()) || !d.IsName(st.Esc, name) || d.IsName(st.Esc, "x"+name) || d.IsName(st.Esc, "") {
				t.Errorf("plain %v: %q, shown as %q, cannot be typed", plain, name, shown)
			}
			rows, _ := d.answers(st, 80)
			if got := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(got, "type "+shown.String()+" to confirm") {
				t.Errorf("plain %v: %q is shown as\n%s", plain, shown, got)
			}
		}
	}
}

// A required reason must be asked for by the choices that write, not by one that only leads on.
func TestAReasonIsForTheChoiceThatWrites(t *testing.T) {
	md := &Modal{Loop: &loop.Loop{Ctx: t.Context(), St: paint.New(paint.Looks{}, true), Say: func(paint.Tone, safetext.Text) {}}}
	nothing := func(context.Context, Filled) Acted { return Acted{} }
	for n, goes := range []bool{true, false} {
		d := &Dialog{Must: true, Choices: []Choice{{Verb: "Edit again", Act: nothing}, {Verb: "Overwrite", Typed: true, Act: nothing}}}
		md.Dialog = d
		for i, s := range d.stops() {
			if s == (stop{onChoice, n}) {
				d.at = i
			}
		}
		if md.Enter(); d.Busy != goes {
			t.Errorf("%s without a reason: begun %v", d.Choices[n].Verb, d.Busy)
		}
	}
}

// TestYActsOnceAllIsTyped: y says what is missing only while it is missing, and then pushes the button.
func TestYActsOnceAllIsTyped(t *testing.T) {
	nothing := func(context.Context, Filled) Acted { return Acted{} }
	d := &Dialog{Name: safetext.Const("ada"), Must: true, Choices: []Choice{{Verb: "Forget", Typed: true, Act: nothing}}}
	for _, step := range []struct {
		field *text.Input
		value string
		lacks int
	}{{nil, "", onReason}, {&d.Reason, "moved", onName}, {&d.typed, "ada", onCancel}} {
		if step.field != nil {
			step.field.Set(step.value)
		}
		if _, no, lacks := d.yes(); lacks != step.lacks || (no == "") != (lacks == onCancel) {
			t.Errorf("with %q: %q, stop %d, want %d", step.value, no, lacks, step.lacks)
		}
	}
}
