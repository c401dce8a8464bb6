// Package clock is the time of day as a value that callers inject: the
// system's, or one that a test moves by hand. It schedules nothing.
package clock

import (
	"sync"
	"time"
)

// Clock gives the time.
type Clock interface {
	// Now is the current time; the system's carries a monotonic reading.
	Now() time.Time
}

// System is the machine's clock.
type System struct{}

// Now is time.Now.
func (System) Now() time.Time { return time.Now() }

// Or is c, or the machine's clock for nil.
func Or(c Clock) Clock {
	if c == nil {
		return System{}
	}
	return c
}

// Fixed is a clock that stands still: for tests and the screenshots (ui/shots).
type Fixed time.Time

// Now is always the same instant.
func (f Fixed) Now() time.Time { return time.Time(f) }

// Fake is a clock that a test moves; safe for concurrent use.
type Fake struct {
	mu  sync.Mutex
	now time.Time
}

// NewFake starts a clock at t.
func NewFake(t time.Time) *Fake { return &Fake{now: t} }

// Now is the instant last set.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Advance moves the clock by d, backwards when d is negative, and returns the
// new time.
func (f *Fake) Advance(d time.Duration) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
	return f.now
}

// Set puts the clock to t.
func (f *Fake) Set(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = t
}
