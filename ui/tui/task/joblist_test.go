package task

import (
	"testing"

	"memdesk/jobs"
	"memdesk/model"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/ui/tui/kit/paint"
)

// A run that came to its end may have left its request partial: the list must not say done.
func TestJobOfAnErasure(t *testing.T) {
	d := desktest.New()
	for _, c := range []struct {
		kind, note, want string
		tone             paint.Tone
	}{
		{"gdpr-erase", "complete", "complete", paint.ToneGood}, {"gdpr-erase", "complete in scope", "complete in scope", paint.ToneWarn}, {"gdpr-erase", "partial", "partial", paint.ToneWarn},
		{"gdpr-erase", "notes verify", "done", paint.ToneGood}, {"copy", "partial", "done", paint.ToneGood},
	} {
		r := jobRecord(d, jobRow{Status: jobs.Status{Kind: c.kind, State: jobs.Done, Note: c.note}})
		if r.Cells[0].String() != c.want || r.Tones[0] != c.tone {
			t.Errorf("%s %q: %s in tone %d, want %s in %d", c.kind, c.note, r.Cells[0], r.Tones[0], c.want, c.tone)
		}
	}
}

// TestLeftIsProved: an item counts as left only where the error proves it.
func TestLeftIsProved(t *testing.T) {
	for kind, want := range map[model.Kind]string{model.Conflict: "left", model.Locked: "left", model.Timeout: "not known", model.Internal: "not known"} {
		if got := Failed(model.E(kind, "retain", nil)); got != want {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
}
