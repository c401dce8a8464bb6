package records

import (
	"context"
	"database/sql"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// Memory is a table in memory: an index of items whose owner has no database. It is filled as a whole, and
// read by the statements of this package.
type Memory struct {
	db     *sql.DB
	clear  string
	insert string
}

// NewMemory makes an empty table with these columns, and an index over each of these lists.
func NewMemory(table string, columns []string, indexes ...string) (*Memory, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, litefile.Worded("open", err)
	}
	db.SetMaxOpenConns(1) // each connection of a memory database has its own
	schema := `CREATE TABLE ` + table + ` (` + strings.Join(columns, `, `) + `)`
	for i, list := range indexes {
		schema += `; CREATE INDEX by_` + string(rune('a'+i)) + ` ON ` + table + ` (` + list + `)`
	}
	if _, err := db.Exec(schema); err != nil {
		_ = db.Close() // the first error counts
		return nil, litefile.Worded("open", err)
	}
	return &Memory{db, `DELETE FROM ` + table, `INSERT INTO ` + table + ` VALUES (?` + strings.Repeat(`, ?`, len(columns)-1) + `)`}, nil
}

// Fill replaces all rows by those that fn puts.
func (m *Memory) Fill(ctx context.Context, fn func(put func(cells ...any) error) error) error {
	return m.Edit(ctx, func(put func(...any) error, exec func(string, ...any) error) error {
		if err := exec(m.clear); err != nil {
			return err
		}
		return fn(put)
	})
}

// Edit puts rows and runs statements, all or none of them.
func (m *Memory) Edit(ctx context.Context, fn func(put func(cells ...any) error, exec func(text string, args ...any) error) error) error {
	// A transaction whose context ends takes its connection along, and the table with it.
	tx, err := m.db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return litefile.Worded("open", err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	put, err := tx.PrepareContext(ctx, m.insert)
	if err != nil {
		return litefile.Worded("open", err)
	}
	defer put.Close()
	err = fn(func(cells ...any) error {
		_, err := put.ExecContext(ctx, cells...)
		return err
	}, func(text string, args ...any) error {
		_, err := tx.ExecContext(ctx, text, args...)
		return err
	})
	if err == nil {
		err = tx.Commit()
	}
	return litefile.Worded("open", err)
}

// Tx reads the table. The caller keeps others from filling it meanwhile.
func (m *Memory) Tx(ctx context.Context) Tx { return memoryTx{m.db, ctx} }

// Close releases the table.
func (m *Memory) Close() error { return litefile.Worded("close", m.db.Close()) }

type memoryTx struct {
	db  *sql.DB
	ctx context.Context
}

// Each implements Tx.
func (t memoryTx) Each(text string, args []any, fn func(scan func(...any) error) error) error {
	rows, err := t.db.QueryContext(t.ctx, text, args...)
	if err != nil {
		return litefile.Worded("read", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return model.Wrap("read", err)
		}
	}
	return litefile.Worded("read", rows.Err())
}

// Exec implements Tx. The rows index other data, so none is written alone.
func (t memoryTx) Exec(string, ...any) (int64, error) {
	return 0, model.Errorf(model.Internal, "retain", "an index in memory is not written")
}
