package audit

import (
	"context"
	"testing"
	"time"

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
		if w, _ := writingOfEvent(d, t.Context(), operator.AuditEvent{Actor: "agent bo"}); w.Source != source {
			t.Errorf("it is noted as %q, and the writer is %q", source, w.Source)
		}
	}
}
