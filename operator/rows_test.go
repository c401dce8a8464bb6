package operator

import (
	"testing"

	"memdesk/model"
)

func TestWhatAnEventIsAbout(t *testing.T) {
	for name, c := range map[string]struct {
		event AuditEvent
		want  string
	}{
		"an item":                   {AuditEvent{Store: "notes", Target: "a.md"}, "notes:a.md"},
		"a reference":               {AuditEvent{Store: "notes", Target: "notes:a.md"}, "notes:a.md"},
		"a store":                   {AuditEvent{Store: "notes"}, "notes"},
		"a request":                 {AuditEvent{Scope: "er-20261126-1df41fc8", Target: "SHA256:key"}, "er-20261126-1df41fc8"},
		"an item with a scope":      {AuditEvent{Store: "notes", Scope: "crew", Target: "a.md"}, "notes:a.md"},
		"a field that a store sent": {AuditEvent{Target: "a.md", Fields: []model.Field{{Name: "scope", Value: "er-forged"}}}, "a.md"},
		"nothing":                   {},
	} {
		if got := c.event.About(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
