package postgres

import (
	"context"

	"memdesk/model"
)

// LookFor is Look with another patience for locks, in seconds.
func (s *Store) LookFor(ctx context.Context, held int) []model.HealthFinding {
	return s.look(ctx, held)
}
