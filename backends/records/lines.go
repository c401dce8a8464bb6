package records

import (
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// Lines is a transaction over a file of lines, each of one item at most.
type Lines interface {
	Tx
	// Line returns the place of an item's line, counted from 0, and its bytes; -1 for none.
	Line(id string) (at int, raw []byte)
	// InsertLine inserts a line at a place; a place after the last line means the end.
	InsertLine(at int, raw []byte) error
}

// lineColumns are the columns of a line in an undo entry.
var lineColumns = []string{"at", "text"}

// KeepLine sets Keep and Revive of a tier with one line per item: a restored line has its old bytes and
// place. The table's transactions are Lines.
func (t Table) KeepLine() Table {
	t.Keep = func(tx Tx, r Row) ([]model.BesideRow, error) {
		at, raw := tx.(Lines).Line(t.Prefix + r.Key)
		if at < 0 {
			return nil, nil
		}
		text := cellOf(lineColumns[1], string(raw))
		if !utf8.Valid(raw) {
			text = cellOf(lineColumns[1], raw)
		}
		return []model.BesideRow{{Table: "line", Cells: []model.BesideCell{cellOf(lineColumns[0], int64(at)), text}}}, nil
	}
	t.Revive = func(tx Tx, _ string, rows []model.BesideRow) error {
		for _, r := range rows {
			args, err := Values(lineColumns, r)
			if err != nil {
				return err
			}
			at, ok := args[0].(int64)
			text, isText := args[1].(string)
			if raw, isRaw := args[1].([]byte); isRaw {
				text, isText = string(raw), true
			}
			if !ok || !isText || at < 0 || strings.Contains(text, "\n") {
				return model.Errorf(model.InvalidInput, "retain", "what was kept is no line of the file")
			}
			if err := tx.(Lines).InsertLine(int(at), []byte(text)); err != nil {
				return err
			}
		}
		return nil
	}
	return t
}
