package cli

import (
	"context"
	"path/filepath"
	"testing"

	"memdesk/audit"
	"memdesk/internal/clock"
)

// TestAnInterruptIsNoTampering: a monitor must be able to tell a broken log from a verification that did not end.
func TestAnInterruptIsNoTampering(t *testing.T) {
	log, err := audit.Open(audit.Options{Dir: filepath.Join(t.TempDir(), "audit"), Clock: clock.System{}, Tool: "test", Actor: audit.Actor{ID: "ada"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close(t.Context()) }()
	if err := log.Note(t.Context(), audit.Entry{Action: "copy"}, audit.Result{Verdict: audit.OK}); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := new(app).auditVerify(ctx, log, nil, nil); err == nil || exitCode(err) == exitTampered {
		t.Errorf("%v: exit %d", err, exitCode(err))
	}
}
