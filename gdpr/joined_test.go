package gdpr_test

import (
	"strings"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// TestOtherIdsThatHoldHers erases u1 where other ids end or begin with it: the bystanders' texts must
// stay byte for byte, and the plan must say that they were left alone.
func TestOtherIdsThatHoldHers(t *testing.T) {
	w := newWorld(t)
	theirs := []string{"x-u1 asked for tea", "team.u1 asked for tea", "u1.backup ran", "mail u1@host.example", "u1-b left", "u10 left"}
	for i, text := range theirs {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: "b" + string(rune('a'+i)), Content: text, DataSubjectID: strings.Fields(text)[0]})
	}
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "n1", Content: "asked u1. Then left"})
	w.put("db", model.RetainRequest{Tier: "longterm", Key: "n2", Content: "likes tea", DataSubjectID: "u1"})
	w.agent(map[string]string{
		"AGENT.md":            "The agent.\nAsk u1 for keys.\nAsk team.u1 for tea.\n",
		"daily/2026-02-01.md": "- 2026-02-01T00:00:00Z — x-u1 called\n",
		"daily/2026-02-02.md": "- 2026-02-02T00:00:00Z — user-u1 called\n- quiet\n- quiet\n",
	})
	before := w.contents()
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: "u1", Received: "2026-02-20", Ground: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	if len(p.Stores[0].Notes) != 1 || !strings.Contains(p.Stores[0].Notes[0], "team.u1") || !strings.Contains(p.Stores[0].Notes[0], "u1@host") {
		t.Errorf("the plan does not tell of the other ids: %q", p.Stores[0].Notes)
	}
	w.complete(p)
	after := w.contents()
	touched := 0
	for ref, was := range before {
		if hers := strings.Contains(was, "asked u1.") || strings.Contains(was, "likes tea") || strings.Contains(was, "Ask u1") || strings.Contains(was, "user-u1"); hers {
			touched++
			if after[ref] == was {
				t.Errorf("%s is as it was: %q", ref, was)
			}
			if strings.Contains(was, "team.u1") && !strings.Contains(after[ref], "Ask team.u1 for tea.") {
				t.Errorf("%s: %q", ref, after[ref])
			}
		} else if after[ref] != was {
			t.Errorf("the bystander's %s was %q, is %q", ref, was, after[ref])
		}
	}
	if touched != 4 {
		t.Errorf("%d items of hers; want 4", touched)
	}
}
