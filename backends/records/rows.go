package records

import (
	"database/sql"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"memdesk/model"
)

// KeepRows reads rows of a table, so that InsertRow can write them again. The query selects the
// columns in their order.
func KeepRows(tx Tx, table string, columns []string, query string, args ...any) (out []model.BesideRow, err error) {
	err = tx.Each(query, args, func(scan func(...any) error) error {
		cells := make([]any, len(columns))
		dest := make([]any, len(columns))
		for i := range cells {
			dest[i] = &cells[i]
		}
		if err := scan(dest...); err != nil {
			return err
		}
		row := model.BesideRow{Table: table}
		for i, c := range cells {
			cell := cellOf(columns[i], c)
			if cell.Type == "" {
				return model.Errorf(model.Internal, "keep", "a value of column %.100q cannot be kept: it is a %T", columns[i], c)
			}
			row.Cells = append(row.Cells, cell)
		}
		out = append(out, row)
		return nil
	})
	return out, err
}

// KeepWhole reads the rows of an SQLite table that have a value in a column. The plus keeps the driver from
// converting a value to its column's declared type: a row comes back unchanged.
func KeepWhole(tx Tx, name, table, column string, columns []string, value string) ([]model.BesideRow, error) {
	return KeepRows(tx, name, columns, `SELECT +`+strings.Join(quoted(columns), `, +`)+` FROM `+table+` WHERE `+column+` = ?`, value)
}

// cellOf is a value in a kept row; one that could not be written again has no type.
func cellOf(column string, v any) model.BesideCell {
	c := model.BesideCell{Column: column}
	switch v := v.(type) {
	case nil:
		c.Type = model.CellNull
	case string:
		c.Type, c.Value = model.CellText, v
	case []byte:
		c.Type, c.Value = model.CellBytes, base64.StdEncoding.EncodeToString(v)
	case int64:
		c.Type, c.Value = model.CellInteger, strconv.FormatInt(v, 10)
	case float64:
		c.Type, c.Value = model.CellReal, formatReal(v)
	}
	return c
}

// formatReal writes a number out, for an exponent hides a person's number, and reads back as the same one.
func formatReal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// value is a cell as a statement's argument.
func value(c model.BesideCell) (v any, err error) {
	switch c.Type {
	case model.CellNull:
		return nil, nil
	case model.CellText:
		return c.Value, nil
	case model.CellBytes:
		v, err = base64.StdEncoding.DecodeString(c.Value)
	case model.CellInteger:
		v, err = strconv.ParseInt(c.Value, 10, 64)
	case model.CellReal:
		v, err = strconv.ParseFloat(c.Value, 64)
	default:
		return nil, model.Errorf(model.InvalidInput, "retain", "the kept row has a cell of type %q", string(c.Type))
	}
	if err != nil {
		return nil, model.Errorf(model.InvalidInput, "retain", "the kept row has a value that cannot be read")
	}
	return v, nil
}

// Values are the cells of a row as a statement's arguments. InvalidInput for a row that KeepRows did not read
// from these columns.
func Values(columns []string, r model.BesideRow) ([]any, error) {
	args := make([]any, len(columns))
	if len(r.Cells) != len(columns) {
		return nil, model.Errorf(model.InvalidInput, "retain", "the kept row has other columns than the table")
	}
	for i, c := range r.Cells {
		var err error
		if args[i], err = value(c); err != nil {
			return nil, err
		}
		if c.Column != columns[i] {
			return nil, model.Errorf(model.InvalidInput, "retain", "the kept row has other columns than the table")
		}
	}
	return args, nil
}

// InsertRow writes a kept row into a table. An existing row with its key stays.
func InsertRow(tx Tx, table string, columns []string, r model.BesideRow) error {
	args, err := Values(columns, r)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO `+table+` (`+strings.Join(quoted(columns), `, `)+`) VALUES (?`+strings.Repeat(`, ?`, len(columns)-1)+`) ON CONFLICT DO NOTHING`, args...)
	return err
}

// DropBy removes a table's row by this key column.
func DropBy(table, column string) func(Tx, Row) error {
	return func(tx Tx, r Row) error {
		_, err := tx.Exec(`DELETE FROM `+table+` WHERE `+column+` = ?`, r.Key)
		return err
	}
}

// KeepBy sets Keep, Revive and Drop of a tier whose rows are in one table; name is the table's name in a kept
// row.
func (t Table) KeepBy(name, table, column string, columns []string) Table {
	t.Drop = DropBy(table, column)
	t.Keep = func(tx Tx, r Row) ([]model.BesideRow, error) {
		return KeepWhole(tx, name, table, column, columns, r.Key)
	}
	t.Revive = func(tx Tx, _ string, rows []model.BesideRow) error {
		for _, r := range rows {
			if err := InsertRow(tx, table, columns, r); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}

// DropNamed removes the rows of a table that concern a subject and whose owner, named in column owner, no
// longer exists: only their text says whose they are. They stay where the request refuses the layer.
func DropNamed(tx Tx, table, owner string, columns []string, layer string, req model.ScrubRequest, stands func(owner string) (bool, error)) (n int64, err error) {
	if req.Concerns == nil {
		return 0, nil
	}
	named := map[string][]int64{}
	err = tx.Each(`SELECT rowid, COALESCE(`+owner+`, ''), `+strings.Join(columns, `, `)+` FROM `+table, nil, func(scan func(...any) error) error {
		var id int64
		var of string
		texts := make([]sql.NullString, len(columns))
		dest := []any{&id, &of}
		for i := range texts {
			dest = append(dest, &texts[i])
		}
		err := scan(dest...)
		if slices.ContainsFunc(texts, func(t sql.NullString) bool { return req.Concerns([]byte(t.String)) }) {
			named[of] = append(named[of], id)
		}
		return err
	})
	if err != nil || len(named) == 0 {
		return 0, err
	}
	if _, may := req.Permits(layer, nil); !may {
		return 0, nil
	}
	for of, ids := range named {
		there := false
		if err == nil {
			there, err = stands(of)
		}
		for _, id := range ids {
			if err != nil || there {
				break
			}
			var gone int64
			gone, err = tx.Exec(`DELETE FROM `+table+` WHERE rowid = ?`, id)
			n += gone
		}
	}
	return n, err
}
