package operator_test

import (
	"errors"
	"testing"
	"time"

	"memdesk/model"
	"memdesk/operator"
)

func TestParseQuery(t *testing.T) {
	now := time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC)
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	type f = operator.ItemFilter
	for line, want := range map[string]operator.Query{
		"":                      {},
		"  tide  tables ":       {Words: "tide  tables"},
		"tier:CREW tide":        {Tier: "CREW", Words: "tide"},
		"tide tier:CREW tables": {Tier: "CREW", Words: "tide tables"},
		`type:fix subject:"Ada Byron" store:notes`:       {Store: "notes", ItemFilter: f{Type: "fix", Subject: "Ada Byron"}},
		"since:2026-05-01 until:36h agent:dara":          {ItemFilter: f{Since: day, Until: now.Add(-36 * time.Hour), Agent: "dara"}},
		"confidence:0.5 archived:only x":                 {Words: "x", ItemFilter: f{Confidence: 0.5, Archived: operator.ArchivedOnly}},
		"type: since:":                                   {}, // still being typed
		`https://a.example at 10:30 "type:fix" Type:fix`: {Words: `https://a.example at 10:30 "type:fix" Type:fix`},
	} {
		if got, err := operator.ParseQuery(line, now); err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", line, got, err, want)
		}
	}
	for _, line := range []string{"since:soon", "confidence:2", "confidence:x", "archived:yes", "since:1h until:2h"} {
		if q, err := operator.ParseQuery(line, now); !errors.Is(err, model.InvalidInput) {
			t.Errorf("%q passes for %+v, %v", line, q, err)
		}
	}
}
