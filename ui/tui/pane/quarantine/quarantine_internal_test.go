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
		e := operator.QuarantineEntry{ID: id}
		page := quarantineText(desktest.New(), e, operator.QuarantineDetail{QuarantineEntry: e, Body: "x", Fields: []model.Field{{Name: "item", Value: "AGENT.md"}}}, nil, detail{})
		told := func(l text.Line) bool { return strings.Contains(l.Value.String(), "AGENT.md") }
		if got := slices.ContainsFunc(page.Head, told); got != want {
			t.Errorf("%s: it names the item: %t, want %t", id, got, want)
		}
	}
}
