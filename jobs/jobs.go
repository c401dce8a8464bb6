// Package jobs runs long work away from the screen that started it: with
// progress, cancel, pause, and a journal from which a killed job goes on. It
// does not know what the work is, and it audits nothing.
//
// A job belongs to the process that runs it, not to the terminal or the request
// that asked for it. What the process has not finished when it dies is shown as
// interrupted and can be recovered: steps that the journal holds are skipped.
// Spawn starts such a process in a session of its own.
//
// Kinds, titles, units and notes are stored in clear and outlive what
// they speak of: they must not hold personal data, content or paths. Step keys
// may name items; the journal holds their salted hash only.
package jobs

import (
	"context"
	"errors"
	"time"
)

// State is the state of a job.
type State string

// The states. Done, Failed and Cancelled are ends; Interrupted is a job whose process is gone. Recover
// continues it, like a failed one. Unreadable is a job whose journal cannot be read, so nothing is known of it.
const (
	Queued      State = "queued"
	Running     State = "running"
	Paused      State = "paused"
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted"
	Unreadable  State = "unreadable"
)

// Ended reports whether the job is over; an interrupted one is not.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// UnderWay reports whether the job runs or waits for its turn.
func (s State) UnderWay() bool { return s == Queued || s == Running || s == Paused }

// Errors for callers.
var (
	ErrNotFound  = errors.New("no such job")
	ErrRunning   = errors.New("job is running")
	ErrEnded     = errors.New("job has ended")
	ErrCancelled = errors.New("job was cancelled")
	ErrClosed    = errors.New("jobs are closed")
)

// ID names a job; ids sort by start time.
type ID string

// Spec is a job to run.
type Spec struct {
	Kind  string // the verb, which tells a recovery which work to run: "gdpr-erase"
	Title string // for lists; no personal data
	// Run does the work. Its context ends with Cancel and Close, not with the
	// caller's. It returns the context's error when that ended it.
	Run func(ctx context.Context, h *Handle) error
	// Classify names an error's class for the journal; nil means "failed". The text
	// of an error is never stored.
	Classify func(error) string
}

// Status is a job as lists show it.
type Status struct {
	ID          ID
	Kind, Title string
	State       State
	Done, Total int64 // Total 0 means unknown
	Unit, Note  string
	Steps       int    // completed steps in the journal
	Class       string // class of the error that ended it
	PID         int
	Started     time.Time
	Updated     time.Time
	// Err is the error itself, in the process that ran the job only; of an unreadable job, why it cannot be
	// read.
	Err error
}
