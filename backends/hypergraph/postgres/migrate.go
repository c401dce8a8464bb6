package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"memdesk/model"
)

// Schema implements model.Migrator.
func (s *Store) Schema(ctx context.Context) (model.SchemaState, error) {
	var at int
	err := s.ops.read(ctx, "schema", func(q *query) (err error) {
		at, err = schemaVersion(q)
		return err
	})
	return state(at), err
}

func state(at int) model.SchemaState {
	out := model.SchemaState{Current: at, Latest: latest()}
	for _, st := range steps {
		out.Steps = append(out.Steps, model.SchemaStep{Version: st.version, What: st.what, Applied: st.version <= at, Items: len(st.items) > 0})
	}
	return out
}

// schemaVersion is 0 where there is no schema.
func schemaVersion(q *query) (int, error) {
	var there bool
	if _, err := q.One(`SELECT to_regclass('memdesk.schema_migrations') IS NOT NULL`, nil, &there); err != nil || !there {
		return 0, err
	}
	var at int
	_, err := q.One(`SELECT COALESCE(max(version), 0) FROM memdesk.schema_migrations`, nil, &at)
	return at, err
}

// Migrate implements model.Migrator: up or down to a version, one transaction per step that also records it,
// under a lock that excludes other processes. Going below the tables of items is refused while there are any.
func (s *Store) Migrate(ctx context.Context, target int) (model.SchemaState, error) {
	const op = "migrate"
	if target < 0 || target > latest() {
		return model.SchemaState{}, model.Errorf(model.InvalidInput, op, "there is no schema %d: they go from 0, which is none, to %d", target, latest())
	}
	if s.asked {
		return model.SchemaState{}, model.Errorf(model.PermissionDenied, op, "the store is read-only: opened for reading only")
	}
	if target > 0 {
		if err := s.makeLedger(ctx, op); err != nil {
			return model.SchemaState{}, err
		}
	}
	for {
		at, done := 0, false
		err := s.migration(ctx, op, func(q *query) (err error) {
			at, done, err = s.migrateStep(q, target)
			return err
		})
		if err != nil {
			return state(at), err
		}
		if done {
			break
		}
	}
	if target > 0 {
		if err := s.indexVectors(ctx); err != nil {
			return state(target), err
		}
		return state(target), s.prepare(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = 0
	return state(0), nil
}

// Reindex builds the index of words anew beside the old one, exchanges the two, and counts the workspace's nodes. Writers
// wait while it is built, readers only for the exchange. Of two at once, one is Locked.
func (s *Store) Reindex(ctx context.Context) (n int64, err error) {
	const op = "reindex"
	for _, step := range wordsAnew {
		err := s.transactionAt(ctx, op, pgx.ReadCommitted, s.refusal, func(q *query) error {
			if err := lockSchema(q); err != nil {
				return err
			}
			if step.exchange {
				var built bool
				if _, err := q.One(`SELECT to_regclass('memdesk.nodes_by_words_anew') IS NOT NULL`, nil, &built); err != nil {
					return err
				}
				if !built {
					return model.Errorf(model.Locked, op, "another process builds the index of words too; try again when it is done")
				}
			}
			for _, text := range step.statements {
				if _, err := q.Exec(text); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	err = s.ops.read(ctx, op, func(q *query) error {
		_, err := q.One(`SELECT count(*) FROM memdesk.nodes WHERE workspace = $1`, []any{s.workspace}, &n)
		return err
	})
	return n, err
}

// migration is a transaction that an old schema does not refuse. Each of its statements sees all
// commits before it: a single snapshot would predate the lock.
func (s *Store) migration(ctx context.Context, op string, fn func(*query) error) error {
	return s.transactionAt(ctx, op, pgx.ReadCommitted, s.ReadOnlyReason, fn)
}

// migrateStep takes one step towards a version and reports whether none is left. It reads the version
// under the lock: another process may have migrated meanwhile.
func (s *Store) migrateStep(q *query, target int) (at int, done bool, err error) {
	if at, err = schemaVersion(q); err != nil || at == 0 && target == 0 {
		return at, true, err
	}
	if err := lockSchema(q); err != nil {
		return 0, false, err
	}
	if at, err = schemaVersion(q); err != nil || at == target {
		return at, true, err
	}
	var engine, triggers bool
	if _, err := q.One(engines, nil, &engine); err != nil {
		return at, false, err
	}
	if _, err := q.One(tells, nil, &triggers); err != nil {
		return at, false, err
	}
	for _, st := range steps {
		if st.perServer && (engine || s.isDistributed()) {
			st.up, st.what = nil, st.what+": left out, the database is distributed"
		}
		if st.perServer && !triggers {
			st.down = nil
		}
		switch {
		case at < target && st.version == at+1:
			return at, false, run(q, st.version, st.up, `INSERT INTO memdesk.schema_migrations (version, what, applied_at) VALUES ($1, $2, $3)`,
				st.version, st.what, s.clock.Now().UnixNano())
		case at > target && st.version == at:
			if err := refuseToDrop(q, target, at); err != nil {
				return at, false, err
			}
			return at, false, run(q, st.version, st.down, `DELETE FROM memdesk.schema_migrations WHERE version = $1`, st.version)
		}
	}
	return at, false, model.Errorf(model.Unsupported, q.Op(), "schema %d is not one of this program's", at)
}

// refuseToDrop checks, before the first step down, for items that a later step would remove, with the
// tables locked so that none is added meanwhile. The last step checks again.
func refuseToDrop(q *query, target, at int) error {
	for _, st := range steps {
		if st.version <= target || st.version > at {
			continue
		}
		for _, table := range st.items {
			if _, err := q.Exec(`LOCK TABLE memdesk.` + table + ` IN ACCESS EXCLUSIVE MODE`); err != nil {
				return err
			}
			var any bool
			if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM memdesk.`+table+`)`, nil, &any); err != nil {
				return err
			}
			if any {
				return model.RefuseToDrop(st.version)
			}
		}
	}
	return nil
}

// lockSchema blocks every other migration until the transaction ends. It locks a row, because some
// engines have no advisory lock.
func lockSchema(q *query) error {
	if _, err := q.Exec(`INSERT INTO memdesk.schema_migrations (version, what, applied_at) VALUES (0, 'the row that a migration locks', 0) ON CONFLICT DO NOTHING`); err != nil {
		return err
	}
	_, err := q.Exec(`SELECT version FROM memdesk.schema_migrations WHERE version = 0 FOR UPDATE`)
	return err
}

// makeLedger makes the table that records the versions. The schema may already exist, made by a role
// with the right to; another process may make both at the same time.
func (s *Store) makeLedger(ctx context.Context, op string) error {
	var there, schema bool
	look := func(q *query) error {
		_, err := q.One(`SELECT to_regclass('memdesk.schema_migrations') IS NOT NULL, to_regnamespace('memdesk') IS NOT NULL`, nil, &there, &schema)
		return err
	}
	failed := s.migration(ctx, op, func(q *query) error {
		if err := look(q); err != nil || there {
			return err
		}
		if !schema {
			if _, err := q.Exec(`CREATE SCHEMA memdesk`); err != nil {
				return fmt.Errorf("make the schema memdesk: %w", err)
			}
		}
		_, err := q.Exec(`CREATE TABLE memdesk.schema_migrations (version integer PRIMARY KEY, what text NOT NULL, applied_at bigint NOT NULL)`)
		return err
	})
	if failed == nil {
		return nil
	}
	if err := s.migration(ctx, op, look); err != nil || !there {
		return failed
	}
	return nil
}

func run(q *query, version int, statements []string, record string, args ...any) error {
	for _, text := range statements {
		if _, err := q.Exec(text); err != nil {
			return model.Errorf(model.KindOf(err), q.Op(), "schema step %d: %w", version, err)
		}
	}
	_, err := q.Exec(record, args...)
	return err
}
