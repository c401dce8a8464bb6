package audit

import (
	"context"
	"testing"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/pane"
)

type shelf struct{ desk.QuarantineSource }

func (shelf) Entry(_ context.Context, store, id string) (out operator.QuarantineDetail, err error) {
	if store != "harbor" || id != ".quarantine/52b9.md" {
		return out, model.NotFound
	}
	out.SourceID = "daily/2026-11-27.md"
	return out, nil
}

// TestAReleaseNamesItsSource: the operator knows the item, and not the store's file of it.
func TestAReleaseNamesItsSource(t *testing.T) {
	d := &pane.Bench{Desk: desktest.New()}
	d.Quarantine = shelf{}
	for _, c := range []struct{ action, target, want string }{
		{"release", "harbor:.quarantine/52b9.md", "daily/2026-11-27.md"},
		{"release", "harbor:.quarantine/gone.md", ""},
		{"forget", "harbor:.quarantine/52b9.md", ""},
		{"release", "", ""},
	} {
		e := operator.AuditEvent{Seq: 7, Action: c.action, Store: "harbor", Target: c.target}
		source := blocked(t.Context(), d, e)
		told := ""
		for _, l := range auditText(d.Desk, e, source).Head {
			if l.Name.String() == "its source" {
				told = l.Value.String()
			}
		}
		if source != c.want || told != c.want {
			t.Errorf("%s %s: source %q, told %q, want %q", c.action, c.target, source, told, c.want)
		}
	}
}
