package backendtest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder is a TB that records a case's messages.
type recorder struct {
	real *testing.T

	mu       sync.Mutex
	failures []string
	logs     []string
	skipped  string
}

func newRecorder(t *testing.T) *recorder { return &recorder{real: t} }

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.real.Context() }

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) {
	r.mu.Lock()
	r.skipped = fmt.Sprint(args...)
	r.mu.Unlock()
	runtime.Goexit()
}

// replay passes the case's messages to the real test.
func (r *recorder) replay(t *testing.T) {
	t.Helper()
	for _, l := range r.logs {
		t.Log(l)
	}
	for _, f := range r.failures {
		t.Error(f)
	}
	if r.skipped != "" && len(r.failures) == 0 {
		t.Skip(r.skipped)
	}
}
