package postgres

import (
	"context"

	"memdesk/model"
)

// LookFor is Look with another bound, in seconds, for a lock held too long.
func (s *Store) LookFor(ctx context.Context, held int) []model.HealthFinding {
	return s.look(ctx, held)
}

// Run executes a statement past every check of the program.
func Run(ctx context.Context, s *Store, text string) error {
	_, err := s.pool.Exec(ctx, text)
	return err
}

// PollOften lets a watcher of a distributed database poll without a pause until the test ends.
func PollOften(t interface{ Cleanup(func()) }) {
	old := pollPause
	pollPause = 1
	t.Cleanup(func() { pollPause = old })
}
