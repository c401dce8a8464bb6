package tui

import (
	"testing"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// TestNewsLeavesTheResultOfAnAct: news replaces other news, and is kept among the messages otherwise.
func TestNewsLeavesTheResultOfAnAct(t *testing.T) {
	a := New(Options{})
	stands := func(want string) {
		t.Helper()
		if got := a.Saying().String(); got != want {
			t.Errorf("%q stands there, not %q", got, want)
		}
	}
	a.News(paint.ToneBad, safetext.Const("ferry is down"))
	stands("ferry is down")
	a.News(paint.ToneInfo, safetext.Const("ferry is up again"))
	stands("ferry is up again")
	a.D.Say(paint.ToneInfo, safetext.Const("put back"))
	a.News(paint.ToneBad, safetext.Const("ferry is down"))
	stands("put back")
	if n := len(a.said.kept); n != 4 {
		t.Errorf("%d messages are kept", n)
	}
}
