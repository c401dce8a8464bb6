package gdpr

import (
	"context"
	"path/filepath"
	"testing"

	"memdesk/audit"
	"memdesk/model"
)

// A caller who goes away while the log is read or written must be told as anywhere else: no rule refused the act.
func TestAnInterruptIsNoRefusal(t *testing.T) {
	log, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit")})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Act(t.Context(), audit.Entry{Action: "gdpr-plan"}, func(context.Context) (map[string]int64, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &Desk{Log: log}
	_, _, err = d.onRecord(ctx, audit.Filter{}, func(audit.Row) bool { return true })
	for _, err := range []error{err, d.notePolicy(ctx, d.Policy.rules(), "")} {
		if model.IsRefusal(err) || model.KindOf(err) != model.Timeout {
			t.Errorf("told as %v", err)
		}
	}
}
