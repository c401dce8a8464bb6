package postgres

import (
	"context"

	"memdesk/model"
)

// LookFor is Look with another patience for locks, in seconds.
func (s *Store) LookFor(ctx context.Context, held int) []model.HealthFinding {
	return s.look(ctx, held)
}

// Run sends a statement past every check of the program.
func Run(ctx context.Context, s *Store, text string) error {
	_, err := s.pool.Exec(ctx, text)
	return err
}
