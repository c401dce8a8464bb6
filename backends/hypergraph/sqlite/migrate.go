package sqlite

import (
	"context"
	"fmt"

	"memdesk/model"
)

// schemaVersion is the last migration this program knows.
func schemaVersion() int64 { return migrations[len(migrations)-1].version }

// migrate brings a file of memdesk's own schema to the present version; a file of a newer version is
// Unsupported and unchanged.
func (s *Store) migrate(ctx context.Context, found contents) error {
	switch {
	case found.application == applicationID && found.version == schemaVersion():
		return nil
	case found.application == applicationID && found.version > schemaVersion():
		return model.Errorf(model.Unsupported, "open", "%q has schema %d of a newer memdesk, this one knows %d: open it with the newer program",
			s.file.Name, found.version, schemaVersion())
	case s.file.ReadOnlyReason() != "":
		return model.Errorf(model.PermissionDenied, "open", "%q has schema %d and must be brought to %d first: open it once with write access",
			s.file.Name, found.version, schemaVersion())
	}
	if len(found.tables) == 0 {
		if err := s.file.Direct(ctx, "open", `PRAGMA journal_mode = WAL`); err != nil { // no transaction allows it
			return err
		}
	}
	return s.Migrate(ctx, schemaVersion())
}

// Migrate takes a store of the own schema up or down to a version, one step per transaction that also records
// the version. It stops at the first failure and names the step; earlier steps stay (provider-contract.md
// H16). Going below the tables of items is refused while there are any. A recurse database is Unsupported.
func (s *Store) Migrate(ctx context.Context, to int64) error {
	const op = "migrate"
	if s.kind != OwnSchema {
		return model.Errorf(model.Unsupported, op, "a recurse database is never migrated")
	}
	if to < 0 || to > schemaVersion() {
		return model.Errorf(model.InvalidInput, op, "there is no schema %d, the last is %d", to, schemaVersion())
	}
	for {
		done := false
		if err := s.file.Change(ctx, op, func(q *query) (err error) {
			done, err = migrateStep(q, to)
			return err
		}); err != nil || done {
			return err
		}
	}
}

// migrateStep takes one step towards a version and reports whether none is left. It reads the version
// inside the transaction: another process may have migrated meanwhile.
func migrateStep(q *query, to int64) (done bool, err error) {
	var now int64
	if _, err := q.One(`PRAGMA user_version`, nil, &now); err != nil {
		return false, err
	}
	if now == to {
		return true, nil
	}
	for i, m := range migrations {
		switch {
		case now < to && m.version == now+1:
			return false, runStep(q, m.version, m.version, m.up)
		case now > to && m.version == now:
			if err := refuseToDrop(q, to, now); err != nil {
				return false, err
			}
			return false, runStep(q, m.version, now-1, migrations[i].down)
		}
	}
	return false, model.Errorf(model.Unsupported, q.Op(), "schema %d is not one of this program's", now)
}

// refuseToDrop checks, before the first step down, for items that a later step would remove; the last
// step checks again in its own transaction.
func refuseToDrop(q *query, to, now int64) error {
	for _, m := range migrations {
		if m.version <= to || m.version > now {
			continue
		}
		for _, table := range m.items {
			var any bool
			if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM `+table+`)`, nil, &any); err != nil {
				return err
			}
			if any {
				return model.RefuseToDrop(int(m.version))
			}
		}
	}
	return nil
}

func runStep(q *query, step, becomes int64, statements []string) error {
	statements = append(statements[:len(statements):len(statements)],
		fmt.Sprintf(`PRAGMA user_version = %d`, becomes), fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	for _, text := range statements {
		if _, err := q.Exec(text); err != nil {
			return model.Errorf(model.KindOf(err), q.Op(), "schema step %d: %w", step, err)
		}
	}
	return nil
}
