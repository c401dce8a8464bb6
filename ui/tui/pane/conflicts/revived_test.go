package conflicts

import (
	"testing"

	"memdesk/conflict"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/record"
)

// TestTheNextConflictIsForetold: a redundant copy of a base that is replaced holds the text that was displaced, so the
// question must name it; a base that stays makes no conflict.
func TestTheNextConflictIsForetold(t *testing.T) {
	d := desktest.New()
	rs := &resolutions{d: &pane.Bench{Desk: d}, list: record.New(d, record.Kind[conflict.Copy]{})}
	newer, same := conflict.Copy{Store: "notes", ID: "a (2).md", BaseID: "a.md"}, conflict.Copy{Store: "notes", ID: "a copy.md", BaseID: "a.md", Redundant: true}
	other := conflict.Copy{Store: "desk", ID: "a copy.md", BaseID: "a.md", Redundant: true}
	rs.list.Window.Rows = []record.Row[conflict.Copy]{{Raw: newer}, {Raw: same}, {Raw: other}}
	for _, c := range []struct {
		take conflict.Take
		of   conflict.Copy
		want string
	}{
		{conflict.TakeCopy, newer, "a copy.md is byte for byte the base as it is now: it becomes a conflict. D first removes it."},
		{conflict.TakeMerged, newer, "a copy.md is byte for byte the base as it is now: it becomes a conflict. D first removes it."},
		{conflict.TakeBase, newer, ""}, {conflict.TakeBoth, newer, ""}, {conflict.TakeCopy, same, ""},
	} {
		got := ""
		for _, l := range rs.revived([]conflict.Copy{c.of}, c.take) {
			got += l.Value.String()
		}
		if got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.take, c.of.ID, got, c.want)
		}
	}
}
