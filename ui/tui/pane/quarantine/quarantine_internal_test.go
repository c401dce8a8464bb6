package quarantine

import (
	"slices"
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/quarantine/review"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/text"
)

// TestAHeldWriteTellsWhatItWouldDo: its text alone does not say whether it goes into a note or into an agent's instructions.
func TestAHeldWriteTellsWhatItWouldDo(t *testing.T) {
	for live, want := range map[review.Liveness]bool{review.Waits: true, review.Poisoned: false} {
		e := operator.QuarantineEntry{Entry: review.Entry{ID: "x", Filed: true, Live: live, Body: "x", Fields: []model.Field{{Name: "item", Value: "AGENT.md"}}}}
		page := quarantineText(desktest.New(), e, e, nil, false)
		told := func(l text.Line) bool { return strings.Contains(l.Value.String(), "AGENT.md") }
		if got := slices.ContainsFunc(page.Head, told); got != want {
			t.Errorf("%s: it names the item: %t, want %t", live, got, want)
		}
	}
}

// TestAHeldWriteWaits: nobody looked at its source, since nothing was written there; that is no failure to look.
func TestAHeldWriteWaits(t *testing.T) {
	d := desktest.New()
	e := operator.QuarantineEntry{Entry: review.Entry{ID: "x", Filed: true, Live: review.Waits, Body: "x"}}
	told := tellEntry(d.Esc, e).String()
	for _, l := range append(quarantineText(d, e, e, nil, false).Head, quarantineFacts(d, e, e)...) {
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

// TestTheTextBeforeTheRest: who reads a list of blocked texts wants each text under one line of why; who wrote it and
// what the keys do can be read below it.
func TestTheTextBeforeTheRest(t *testing.T) {
	d := desktest.New()
	e := operator.QuarantineEntry{Entry: review.Entry{ID: "x", Filed: true, Source: "CREW.md", SourceID: "CREW.md", Live: review.Poisoned, Body: "x"}}
	page := quarantineText(d, e, e, nil, false)
	if n := len(page.Head); n != 4 { // name, verdict, rule and a blank
		t.Errorf("%d lines above the text: %v", n, page.Head)
	}
}
