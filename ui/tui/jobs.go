package tui

import (
	"context"

	"memdesk/jobs"
)

// Jobs runs long work so that it is journalled, listed by memdesk jobs and can be
// cancelled from there too.
type Jobs interface {
	// Run does work and returns when it is over. The end of ctx cancels it, and it
	// returns then. kind and title are stored in clear: no names in them.
	Run(ctx context.Context, kind, title string, work func(ctx context.Context, j Job) error) error
	// List is every job that the journal knows, newest first, those of other
	// processes too.
	List(ctx context.Context) ([]jobs.Status, error)
	// Cancel asks a job to end at its next step, wherever it runs; Conflict when it
	// has ended.
	Cancel(ctx context.Context, id jobs.ID) error
	// Tied reports whether a job ends with this console.
	Tied(id jobs.ID) bool
}

// Job is long work as it sees itself.
type Job interface {
	// ID names the job in the journal.
	ID() jobs.ID
	// Step runs fn; it is where the job pauses and ends. The key may name an item.
	Step(ctx context.Context, key string, fn func(context.Context) error) error
	// Progress says how far the work is; a total of 0 means unknown. No names in the
	// note.
	Progress(done, total int64, unit, note string)
}
