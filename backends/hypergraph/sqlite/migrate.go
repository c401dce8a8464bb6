package sqlite

import (
	"context"
	"fmt"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// schemaVersion is the last migration this program knows.
func schemaVersion() int64 { return migrations[len(migrations)-1].version }

// migrate makes the schema of a new file, and with create brings an older one to the present version. A file of a newer version
// is Unsupported and unchanged. Opening alone changes no schema: a migration is an act of its own, with a record.
func (s *Store) migrate(ctx context.Context, found contents, create bool) error {
	switch {
	case found.application == applicationID && found.version == schemaVersion():
		return nil
	case found.application == applicationID && found.version < schemaVersion() && len(found.tables) > 0 && !create:
		s.notes = append(s.notes, "it takes no changes and no search: "+outdated(found.version))
		return nil
	case found.application == applicationID && found.version > schemaVersion():
		return model.Errorf(model.Unsupported, "open", "%q has schema %d of a newer memdesk, this one knows %d: open it with the newer program",
			s.file.Name, found.version, schemaVersion())
	case s.file.ReadOnlyReason() != "":
		return model.Errorf(model.PermissionDenied, "open", "%q has schema %d and is read-only: it can be brought to %d where it can be written",
			s.file.Name, found.version, schemaVersion())
	}
	if len(found.tables) == 0 {
		if err := s.file.Direct(ctx, "open", `PRAGMA journal_mode = WAL`); err != nil { // no transaction allows it
			return err
		}
	}
	return s.Migrate(ctx, schemaVersion())
}

func outdated(version int64) string {
	return fmt.Sprintf("its schema is version %d and this memdesk works with %d: `memdesk migrate --store NAME` brings it up to date", version, schemaVersion())
}

// current is PermissionDenied in a file of the own schema whose version is another: for changes, and for what reads the index of
// words. It asks each time, because another process may migrate the file.
func (s *Store) current(q sqlgraph.Query) error {
	if !s.layout.own {
		return s.sameTables(q)
	}
	var version int64
	if _, err := q.One(`PRAGMA user_version`, nil, &version); err != nil || version == schemaVersion() {
		return err
	}
	return model.Errorf(model.PermissionDenied, q.Op(), "%q takes no changes and no search: %s", s.file.Name, outdated(version))
}

// sameTables is Unavailable in a recurse file that has a table of vectors since it was opened: edits would leave the old text's
// vector in it.
func (s *Store) sameTables(q sqlgraph.Query) error {
	var vectors bool
	if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'node_embeddings')`, nil, &vectors); err != nil || vectors == s.layout.vectors {
		return err
	}
	return model.Errorf(model.Unavailable, q.Op(), "the tables of %q have changed: open the store again", s.file.Name)
}

// changing is a transaction of the items.
func (s *Store) changing(ctx context.Context, op string, fn func(*query) error) error {
	return s.file.Change(ctx, op, func(q *query) error {
		if err := s.current(q); err != nil {
			return err
		}
		return fn(q)
	})
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
