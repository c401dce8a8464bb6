package vitals_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

func now() time.Time { return time.Date(2026, 5, 21, 9, 0, 0, 0, time.FixedZone("x", 3600)) }

// TestOneLookAtATime: a hanging check must not be joined by a second one, and answers late.
func TestOneLookAtATime(t *testing.T) { synctest.Test(t, testOneLookAtATime) }

func testOneLookAtATime(t *testing.T) {
	var g vitals.Gate
	release, looks := make(chan struct{}), make(chan struct{}, 9)
	hang := func(context.Context) []model.HealthFinding {
		looks <- struct{}{}
		<-release
		return nil
	}
	for range 3 {
		if st := g.Check(t.Context(), 10*time.Millisecond, now, hang, nil); st.OK || st.Message != "health check timeout" || st.CheckedAt.Location() != time.UTC {
			t.Errorf("= %+v", st)
		}
	}
	if len(looks) != 1 {
		t.Errorf("%d looks ran", len(looks))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if st := g.Check(gone, time.Minute, now, hang, nil); st.OK || st.Message != "health check cancelled" {
		t.Errorf("cancelled: %+v", st)
	}
	close(release)
	if st := g.Check(t.Context(), time.Minute, now, hang, nil); !st.OK || st.Message != "" {
		t.Errorf("joined: %+v", st)
	}
	if st := g.Check(t.Context(), time.Minute, now, func(context.Context) []model.HealthFinding { return vitals.Down("x", "ill") }, nil); st.OK || st.Message != "ill" {
		t.Errorf("ill: %+v", st)
	}
}

// TestALookEndsWithItsLimit, and not with the caller that started it.
func TestALookEndsWithItsLimit(t *testing.T) { synctest.Test(t, testALookEndsWithItsLimit) }

func testALookEndsWithItsLimit(t *testing.T) {
	var g vitals.Gate
	caller, cancel := context.WithCancel(t.Context())
	began := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		<-began
		cancel()
	}()
	g.Check(caller, 20*time.Millisecond, now, func(ctx context.Context) []model.HealthFinding {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return vitals.Down("x", "x")
	}, nil)
	if err := <-ended; err != context.DeadlineExceeded {
		t.Errorf("the look ended with %v", err)
	}
}

// TestManyFindings: a store with a finding for each row must answer with the first of each kind and a count.
func TestManyFindings(t *testing.T) {
	var g vitals.Gate
	st := g.Check(t.Context(), time.Minute, now, func(context.Context) (out []model.HealthFinding) {
		for i := range 5000 {
			out = append(out, vitals.Degraded("orphan", fmt.Sprint(i), "its thread is gone")...)
		}
		return append(out, vitals.Down("x", "ill")...)
	}, nil)
	n := len(st.Findings)
	if n != 102 || st.OK || !slices.ContainsFunc(st.Findings, func(f model.HealthFinding) bool {
		return f.Kind == "orphan" && f.Message == "and 4900 more of this kind"
	}) {
		t.Errorf("%d findings, ok %v", n, st.OK)
	}
}

// TestDeepProbes run beside the check: the answer must wait for the first probe no longer than its limit.
// Later answers must hold the last known result with its time, and Close must end a running probe.
func TestDeepProbes(t *testing.T) { synctest.Test(t, testDeepProbes) }

func testDeepProbes(t *testing.T) {
	var g vitals.Gate
	fine := func(context.Context) []model.HealthFinding { return nil }
	release := make(chan struct{})
	slow := func(context.Context) []model.HealthFinding {
		<-release
		return vitals.Degraded(model.FindingCounters, "edges", "off by one")
	}
	if st := g.Check(t.Context(), 10*time.Millisecond, now, fine, slow); st.State != model.HealthOK || !st.DeepCheckedAt.IsZero() || !st.Probing {
		t.Errorf("while the first deep probe runs: %+v", st)
	}
	close(release)
	for range 2 { // the second answer starts no further probe: fine would have been asked
		st := g.Check(t.Context(), time.Minute, now, fine, slow)
		if !st.OK || st.State != model.HealthDegraded || st.Message != "" || len(st.Findings) != 1 ||
			st.Findings[0].Ref != "edges" || st.Findings[0].CheckedAt.IsZero() || st.DeepCheckedAt.IsZero() || st.Probing {
			t.Errorf("after it: %+v", st)
		}
	}
	if st := g.Check(t.Context(), time.Minute, now, func(context.Context) []model.HealthFinding { return vitals.Down("x", "ill") }, slow); st.OK || st.Message != "ill" || len(st.Findings) != 2 {
		t.Errorf("both: %+v", st)
	}

	var other vitals.Gate
	ended := make(chan struct{})
	other.Check(t.Context(), time.Millisecond, now, fine, func(ctx context.Context) []model.HealthFinding {
		<-ctx.Done()
		close(ended)
		return vitals.Down("x", "broken off")
	})
	other.Close()
	select {
	case <-ended:
	default:
		t.Error("the deep probe runs on after Close")
	}
	if st := other.Check(t.Context(), time.Minute, now, fine, fine); !st.OK || !st.DeepCheckedAt.IsZero() {
		t.Errorf("a broken-off probe has left a verdict: %+v", st)
	}
}
