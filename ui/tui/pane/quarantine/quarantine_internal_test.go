package quarantine

import (
	"slices"
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/text"
)

// TestAHeldWriteTellsWhatItWouldDo: its text alone does not say whether it goes into a note or into an agent's instructions.
func TestAHeldWriteTellsWhatItWouldDo(t *testing.T) {
	for id, want := range map[string]bool{"door/0123456789abcdef0123456789abcdef": true, "AGENT.md": false} {
		e := operator.QuarantineEntry{ID: id, Filed: true}
		page := quarantineText(desktest.New(), e, operator.QuarantineDetail{QuarantineEntry: e, Body: "x", Fields: []model.Field{{Name: "item", Value: "AGENT.md"}}}, nil, detail{})
		told := func(l text.Line) bool { return strings.Contains(l.Value.String(), "AGENT.md") }
		if got := slices.ContainsFunc(page.Head, told); got != want {
			t.Errorf("%s: it names the item: %t, want %t", id, got, want)
		}
	}
}

// TestAHeldWriteWaits: nobody looked at its source, since nothing was written there; that is no failure to look.
func TestAHeldWriteWaits(t *testing.T) {
	d := desktest.New()
	e := operator.QuarantineEntry{ID: "door/0123456789abcdef0123456789abcdef", Filed: true, Live: operator.LiveUnknown}
	full := operator.QuarantineDetail{QuarantineEntry: e, Body: "x"}
	told := tellEntry(d.Esc, e).String()
	for _, l := range append(quarantineText(d, e, full, nil, detail{}).Head, quarantineFacts(d, e, full)...) {
		told += "\n" + l.Value.String()
	}
	for _, c := range quarantineRecord(d, e).Cells {
		told += "\n" + c.String()
	}
	if strings.Contains(told, "unknown") || strings.Contains(told, "nobody could look") {
		t.Errorf("it says:\n%s", told)
	}
	for _, want := range []string{"it waits: nothing was written", "its source is as it was: this text waits", "\nwaits\n"} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in:\n%s", want, told)
		}
	}
}
