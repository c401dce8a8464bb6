package audit

import (
	"context"
	"strings"
	"testing"
	"time"

	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
)

// noted is a ledger with a damaged line, which every plan names, and a row of each source that it has.
type noted struct {
	desk.OriginSource
	source string
}

func (n noted) PlanTakeback(_ context.Context, source string, _ time.Time) ([]origin.Taken, error) {
	out := []origin.Taken{{Action: origin.ActSkip, Reason: "1 line of the notes on writers cannot be read"}}
	if source == n.source {
		out = append(out, origin.Taken{Store: "a", ID: "x", Action: origin.ActForget})
	}
	return out, nil
}

// TestWriterBesideADamagedLine: a damaged line of the notes on writers is no write of "agent NAME".
func TestWriterBesideADamagedLine(t *testing.T) {
	for _, source := range []string{"agent bo", "bo"} {
		d := desktest.New()
		d.Origins = noted{source: source}
		if w := writingOfEvent(d, t.Context(), operator.AuditEvent{Actor: "agent bo"}); w.Source != source {
			t.Errorf("it is noted as %q, and the writer is %q", source, w.Source)
		}
	}
}

// TestAStoresEventIsNoRecord: the log's own note and what a store tells must not be called by one word, and an event has
// no number and no result to be missed.
func TestAStoresEventIsNoRecord(t *testing.T) {
	d := desktest.New()
	at := time.Date(2026, 11, 28, 20, 38, 0, 0, time.UTC)
	event := operator.AuditEvent{Noted: true, At: at, Actor: "the store", Action: "run.started", Store: "harbor", Phase: "event"}
	if word := auditRecord(d, event).Cells[4].String(); word != "event" {
		t.Errorf("the outcome of an event is %q", word)
	}
	if word := auditRecord(d, operator.AuditEvent{Seq: 7, At: at, Action: "audit.erase", Phase: "note", Result: "ok"}).Cells[4].String(); word != "note" {
		t.Errorf("the outcome of a note is %q", word)
	}
	if said := tellEvent(d.Esc, event).String(); said != "Event of the store harbor, 2026-11-28 20:38: run.started" {
		t.Error(said)
	}
	if title := auditText(d, operator.AuditEvent{Seq: 7, Action: "forget"}).Head[0].Value.String(); title != "record 7: forget" {
		t.Error(title)
	}
}

// TestTakeBackIsOfWrites: what is no write of memdesk's has nothing to take back.
func TestTakeBackIsOfWrites(t *testing.T) {
	for action, want := range map[string]bool{"retain": true, "append": true, "forget": false, "scrub": false, "gdpr-approve": false} {
		if got := wrote(operator.AuditEvent{Action: action}); got != want {
			t.Errorf("%s: %v", action, got)
		}
	}
	if wrote(operator.AuditEvent{Action: "retain", Noted: true}) {
		t.Error("a store's own event can be taken back")
	}
}

// TestStepsAreInTheirAct: the page of an act names what it did through others, in the order of time.
func TestStepsAreInTheirAct(t *testing.T) {
	e := operator.AuditEvent{Seq: 9, Action: "gdpr-erase", Phase: "outcome", Steps: []operator.AuditEvent{{Seq: 8, Action: "scrub", Store: "b"}, {Seq: 6, Action: "forget", Store: "a", Target: "a:x"}}}
	var said []string
	for _, l := range auditText(desktest.New(), e).Head {
		said = append(said, l.Name.String()+" "+l.Value.String())
	}
	if got := strings.Join(said, "\n"); !strings.Contains(got, "2 steps on this page of the log; a filter lists all\nforget a:x  record 6\nscrub b  record 8") {
		t.Error(got)
	}
}

// TestAnActOnARequestNamesIt: the page of a record names what its row names, once.
func TestAnActOnARequestNamesIt(t *testing.T) {
	page := auditText(desktest.New(), operator.AuditEvent{Seq: 49, Action: "gdpr-erase", Scope: "er-1", Fields: []model.Field{{Name: "role", Value: "operator"}, {Name: "scope", Value: "er-1"}}})
	var all []string
	for _, l := range page.Head {
		all = append(all, l.Name.String()+": "+l.Value.String())
	}
	if got := strings.Join(all, "\n"); !strings.Contains(got, "target: er-1") || strings.Contains(got, "scope: ") || !strings.Contains(got, "role: operator") {
		t.Errorf("%s", got)
	}
}
