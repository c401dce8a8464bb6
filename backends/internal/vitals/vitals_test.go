package vitals_test

import (
	"context"
	"testing"
	"time"

	"memdesk/backends/internal/vitals"
)

func now() time.Time { return time.Date(2026, 5, 21, 9, 0, 0, 0, time.FixedZone("x", 3600)) }

// TestOneLookAtATime: what hangs is not joined by a second, and answers late.
func TestOneLookAtATime(t *testing.T) {
	var g vitals.Gate
	release, looks := make(chan struct{}), make(chan struct{}, 9)
	hang := func(context.Context) string {
		looks <- struct{}{}
		<-release
		return ""
	}
	for range 3 {
		if st := g.Check(t.Context(), 10*time.Millisecond, now, hang); st.OK || st.Message != "health check timeout" || st.CheckedAt.Location() != time.UTC {
			t.Errorf("= %+v", st)
		}
	}
	if len(looks) != 1 {
		t.Errorf("%d looks ran", len(looks))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if st := g.Check(gone, time.Minute, now, hang); st.OK || st.Message != "health check cancelled" {
		t.Errorf("cancelled: %+v", st)
	}
	close(release)
	if st := g.Check(t.Context(), time.Minute, now, hang); !st.OK || st.Message != "" {
		t.Errorf("joined: %+v", st)
	}
	if st := g.Check(t.Context(), time.Minute, now, func(context.Context) string { return "ill" }); st.OK || st.Message != "ill" {
		t.Errorf("ill: %+v", st)
	}
}

// TestALookEndsWithItsLimit, and not with the caller that began it.
func TestALookEndsWithItsLimit(t *testing.T) {
	var g vitals.Gate
	caller, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		<-began
		cancel()
	}()
	g.Check(caller, 20*time.Millisecond, now, func(ctx context.Context) string {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return "x"
	})
	if err := <-ended; err != context.DeadlineExceeded {
		t.Errorf("the look ended with %v", err)
	}
}
