package records

import (
	"context"
	"slices"
	"strings"

	"memdesk/backends/internal/litefile"
	"memdesk/model"
)

// Lite is a DB over an SQLite file.
type Lite struct{ *litefile.File }

// View runs fn on one snapshot of the file.
func (l Lite) View(ctx context.Context, op string, fn func(Tx) error) error {
	return l.File.View(ctx, op, func(q *litefile.Query) error { return fn(q) })
}

// Change runs fn in one immediate transaction.
func (l Lite) Change(ctx context.Context, op string, fn func(Tx) error) error {
	return l.File.Change(ctx, op, func(q *litefile.Query) error { return fn(q) })
}

// Columns names the columns of a table in an SQLite file, none where it is not there.
func Columns(tx Tx, table string) (names []string, err error) {
	err = tx.Each(`SELECT name FROM pragma_table_info(?)`, []any{table}, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}

// Missing names the wanted columns, written `table.column`, that a file has not.
func Missing(tx Tx, wanted map[string][]string) (missing []string, err error) {
	for table, columns := range wanted {
		have, err := Columns(tx, table)
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, c) }) {
				missing = append(missing, table+"."+c)
			}
		}
	}
	slices.Sort(missing)
	return missing, nil
}

// Updated is Conflict when a conditional write met no row: another program changed it.
func Updated(n int64, err error) error {
	if err == nil && n == 0 {
		return model.Errorf(model.Conflict, "retain", "another program has changed the row meanwhile: read it again")
	}
	return err
}
