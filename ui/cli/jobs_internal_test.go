package cli

import (
	"context"
	"path/filepath"
	"testing"

	"memdesk/internal/clock"
	"memdesk/jobs"
)

// TestAnInterruptWaitsForItsJobs: the work that an interrupt stops ends in its own time, and the words of its end
// must not be followed by an error of closing.
func TestAnInterruptWaitsForItsJobs(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	p := Program{Clock: clock.System{}, Dir: t.TempDir(), Terminal: func(any) bool { return false }, Env: func(key string) string {
		if key == "XDG_STATE_HOME" {
			return state
		}
		return ""
	}}
	ctx, interrupt := context.WithCancel(t.Context())
	begun, ended := make(chan struct{}), false
	err := p.app().withJobs(ctx, func(r *jobs.Runner) error {
		_, err := r.Start(ctx, jobs.Spec{Kind: "copy", Title: "a to b", Run: func(ctx context.Context, _ *jobs.Handle) error {
			close(begun)
			<-ctx.Done()
			ended = true
			return context.Cause(ctx)
		}})
		<-begun
		interrupt()
		return err
	})
	if err != nil || !ended {
		t.Errorf("%v, the job had ended: %v", err, ended)
	}
}
