package sqlite

import (
	"context"
	"slices"

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

// Reindex builds the index of words and the counters anew, in one transaction, and counts the nodes in the index. nil for a
// recurse database, which has neither.
func (s *Store) Reindex() func(context.Context) (int64, error) {
	if s.kind != OwnSchema {
		return nil
	}
	return func(ctx context.Context) (n int64, err error) {
		err = s.changing(ctx, "reindex", func(q *query) error {
			for _, text := range slices.Concat(textDown, textUp) {
				if _, err := q.Exec(text); err != nil {
					return err
				}
			}
			_, err := q.One(`SELECT count(*) FROM nodes`, nil, &n)
			return err
		})
		return n, err
	}
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
