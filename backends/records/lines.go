package records

import (
	"cmp"
	"slices"
	"sort"
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

// Places are the places of items' lines by id. Set them to nil when the lines change.
type Places map[string]int

// Sort brings ids into the order of their lines; id returns the id at each of n places.
func (p *Places) Sort(ids []string, n int, id func(at int) string) {
	if *p == nil {
		*p = make(Places, n)
		for i := range n {
			(*p)[id(i)] = i
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare((*p)[a], (*p)[b]) })
}

// lineColumns are the columns of a line in an undo entry.
var lineColumns = []string{"at", "text"}

// KeepLine sets Keep and Revive of a tier with one line per item: a restored line has its old bytes and
// place. An undo restores an item before what fell with it, so the place does not count the lines that fall from before it.
// The table's transactions are Lines; its Falls, set before, names lines in the order of the file.
func (t Table) KeepLine() Table {
	t.Keep = func(tx Tx, r Row) ([]model.BesideRow, error) {
		lines := tx.(Lines)
		at, raw := lines.Line(t.Prefix + r.Key)
		if at < 0 {
			return nil, nil
		}
		if t.Falls != nil {
			falls, err := t.Falls(tx, r)
			if err != nil {
				return nil, err
			}
			at -= sort.Search(len(falls), func(i int) bool { n, _ := lines.Line(falls[i]); return n > at })
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
