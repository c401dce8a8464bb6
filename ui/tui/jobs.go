package tui

import "context"

// Jobs runs long work so that it is journalled, listed by memdesk jobs and can be
// cancelled from there too.
type Jobs interface {
	// Run does work and returns when it is over. The end of ctx cancels it, and it
	// returns then. kind and title are stored in clear: no names in them.
	Run(ctx context.Context, kind, title string, work func(ctx context.Context, j Job) error) error
}

// Job is long work as it sees itself.
type Job interface {
	// Step runs fn; it is where the job pauses and ends. The key may name an item.
	Step(ctx context.Context, key string, fn func(context.Context) error) error
	// Progress says how far the work is; a total of 0 means unknown. No names in the
	// note.
	Progress(done, total int64, unit, note string)
}
