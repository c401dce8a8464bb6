package records

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/sharedfd"
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

// Columns names the columns of a table in an SQLite file; none for a missing table.
func Columns(tx Tx, table string) ([]string, error) { return ColumnsIn(tx, "main", table) }

// ColumnsIn are the columns of a table in one of the files of a connection.
func ColumnsIn(tx Tx, file, table string) ([]string, error) {
	return litefile.Texts(tx, `SELECT name FROM pragma_table_info(?, ?)`, table, file)
}

// Numbered is the Lookup of a table whose key is this numeric column: another spelling of a number is no key.
func Numbered(column string) func(keys []string) (cond string, args []any) {
	return func(keys []string) (cond string, args []any) {
		for _, k := range keys {
			if n, err := strconv.ParseInt(k, 10, 64); err == nil && strconv.FormatInt(n, 10) == k {
				args = append(args, n)
			}
		}
		if len(args) == 0 {
			return "FALSE", nil
		}
		return column + ` IN (?` + strings.Repeat(`, ?`, len(args)-1) + `)`, args
	}
}

// Missing names the wanted columns, written `table.column`, that a file lacks.
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

// OwnRow finds an item's table, its key column and its key, for litefile.Medium. tables names the table of each prefix
// of ids; the key column of all is id.
func OwnRow(tables map[string]string) func(id string) (table, column, key string) {
	return func(id string) (table, column, key string) {
		for prefix, t := range tables {
			if raw, ok := strings.CutPrefix(id, prefix); ok {
				if key, ok := Unescape(raw); ok {
					return t, "id", key
				}
			}
		}
		return "", "", ""
	}
}

// Updated returns Conflict when a conditional write changed no row: another program changed it.
func Updated(n int64, err error) error {
	if err == nil && n == 0 {
		return model.Errorf(model.Conflict, "retain", "another program has changed the row meanwhile: read it again")
	}
	return err
}

// Have returns the columns of a table, written `file.table`, and the wanted ones that it lacks; none for a
// missing table.
func Have(tx Tx, table string, wanted ...string) (have, missing []string, err error) {
	file, name, ok := strings.Cut(table, ".")
	if !ok {
		return nil, nil, nil
	}
	if have, err = ColumnsIn(tx, file, name); len(have) == 0 {
		return nil, nil, err
	}
	for _, c := range wanted {
		if !slices.Contains(have, c) {
			missing = append(missing, name+"."+c)
		}
	}
	return have, missing, err
}

// Databases are the SQLite files of a directory, detected by magic bytes.
func Databases(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, litefile.Worded("open", err)
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && isSQLite(filepath.Join(dir, e.Name())) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// IsFile reports whether the path is a regular file.
func IsFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

func isSQLite(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	f, err := sharedfd.Open(info, func() (*os.File, error) { return os.Open(path) })
	if err != nil {
		return false
	}
	defer f.Close()
	magic := make([]byte, 16)
	n, _ := io.ReadFull(f, magic) // a shorter file is no database
	return string(magic[:n]) == "SQLite format 3\x00"
}

// Tell names the kind whose columns an SQLite file has; empty for none, or for an unreadable file. The error is
// Locked, PermissionDenied or the end of ctx: the file could not be told. A file that a crashed writer left in
// the middle of a change is rolled back first, unless it is opened for reading only.
func Tell(ctx context.Context, path string, readOnly bool, kinds map[string]map[string][]string) (kind string, err error) {
	if kind, err = tell(ctx, path, true, kinds); errors.Is(err, model.PermissionDenied) && !readOnly {
		kind, err = tell(ctx, path, false, kinds)
	}
	if errors.Is(err, model.Locked) || errors.Is(err, model.Timeout) || errors.Is(err, model.PermissionDenied) {
		return "", model.Errorf(model.KindOf(err), "open", "%q: %w", filepath.Base(path), errors.Unwrap(err))
	}
	return kind, nil // an unreadable file is no candidate
}

func tell(ctx context.Context, path string, readOnly bool, kinds map[string]map[string][]string) (kind string, err error) {
	f, err := litefile.Open(path, readOnly)
	if err != nil {
		return "", err
	}
	defer f.Close()
	err = Lite{f}.View(ctx, "open", func(tx Tx) error {
		for name, columns := range kinds {
			missing, err := Missing(tx, columns)
			if err != nil {
				return err
			}
			if len(missing) == 0 {
				kind = name
			}
		}
		return nil
	})
	return kind, err
}
