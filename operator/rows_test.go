package operator

import (
	"testing"
	"time"

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

func TestAuditFilterFindsTheTimeThatIsShown(t *testing.T) {
	e := AuditEvent{At: time.Date(2031, 5, 1, 9, 2, 7, 0, time.UTC)}
	for words, want := range map[string]bool{"2031-05-01": true, "2031-05 09:02": true, "2031-05-02": false, "!2031-05-01": false} {
		f, err := ParseAuditFilter(words, e.At)
		if err != nil || f.Match(e) != want {
			t.Errorf("%q: %v, want %v; %v", words, !want, want, err)
		}
	}
}
