package sqlite

import (
	"context"

	"memdesk/model"
)

// Migrator is the facet of a store of the own schema; nil for a recurse database, whose schema is never
// changed.
func (s *Store) Migrator() model.Migrator {
	if s.kind != OwnSchema {
		return nil
	}
	return migrator{s}
}

type migrator struct{ s *Store }

// Schema implements model.Migrator.
func (m migrator) Schema(ctx context.Context) (model.SchemaState, error) {
	var at int64
	err := m.s.view(ctx, "schema", func(q *query) error {
		_, err := q.One(`PRAGMA user_version`, nil, &at)
		return err
	})
	out := model.SchemaState{Current: int(at), Latest: int(schemaVersion())}
	for _, step := range migrations {
		out.Steps = append(out.Steps, model.SchemaStep{Version: int(step.version), What: step.what, Applied: step.version <= at, Items: len(step.items) > 0})
	}
	return out, err
}

// Migrate implements model.Migrator.
func (m migrator) Migrate(ctx context.Context, target int) (model.SchemaState, error) {
	if err := m.s.Migrate(ctx, int64(target)); err != nil {
		state, _ := m.Schema(ctx) // the version it stopped at, if readable
		return state, err
	}
	return m.Schema(ctx)
}
