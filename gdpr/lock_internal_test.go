package gdpr

import (
	"context"
	"os"
	"testing"
	"time"

	"memdesk/internal/clock"
	"memdesk/internal/filelock"
	"memdesk/model"
)

// TestAHeldRequestsLock: another program that hangs with the lock of the requests must not stop this one for good.
func TestAHeldRequestsLock(t *testing.T) {
	d := &Desk{State: t.TempDir(), Clock: clock.System{}, Ensure: func() error { return nil }}
	if err := d.prepare(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(d.dir("requests.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer filelock.Close(f)
	if got, err := filelock.Try(f, true); !got || err != nil {
		t.Fatal(got, err)
	}
	wait := requestsWait
	defer func() { requestsWait = wait }()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		wait time.Duration
	}{{t.Context(), 50 * time.Millisecond}, {canceled, time.Hour}} {
		requestsWait = c.wait
		done := make(chan error, 1)
		go func() { done <- d.edit(c.ctx, &Request{ID: "er-1"}, func(*Request) error { return nil }) }()
		select {
		case err := <-done:
			if model.KindOf(err) != model.Locked {
				t.Errorf("%v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it still waits")
		}
	}
}
