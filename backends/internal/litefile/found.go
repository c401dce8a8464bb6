package litefile

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// teller returns a function that shows the rows of a table to Found, each as it is read; names: the row names the
// subject.
func (m Medium) teller(q *Query, table sideTable, key []string, req model.ScrubRequest) (func(p part, at, cells []any, names bool), error) {
	if req.Found == nil {
		return func(part, []any, []any, bool) {}, nil
	}
	theirs, err := m.belonging(q, table, key, req)
	if err != nil {
		return nil, err
	}
	whole, err := m.wholeRows(q, table.name, key)
	layer := m.tableLayer(table.name)
	return func(p part, at, cells []any, names bool) {
		row := fmt.Sprint(at)
		switch {
		case theirs[row], names && whole[row]:
			req.Found(layer, rowText(p.columns, cells), true)
		case names:
			for i := range cells {
				if clean(at, cells[i:i+1], req, nil) != nil {
					req.Found(layer, words(cells[i]), false)
				}
			}
		}
	}, err
}

// belonging are the rows of a table, by their key, that belong to removed items or to the person.
func (m Medium) belonging(q *Query, table sideTable, key []string, req model.ScrubRequest) (map[string]bool, error) {
	out := map[string]bool{}
	mark := func(cond string, args ...any) error {
		return eachRow(q, table.name, key, nil, ` WHERE `+cond, args, func(at, _ []any) error {
			out[fmt.Sprint(at)] = true
			return nil
		})
	}
	ties, err := m.allTies(q, table.name, req.Removed)
	for _, t := range ties {
		cond, list := t.these()
		err = cmp.Or(err, mark(cond, list))
	}
	if err != nil || table.items {
		return out, err
	}
	conditions, err := m.owned(q, table.name)
	for _, cond := range conditions {
		for _, s := range req.Subjects {
			if err := mark(cond, s); err != nil {
				return nil, err
			}
		}
	}
	return out, err
}

// rowText is a row, one cell to a line.
func rowText(columns []string, cells []any) string {
	var b strings.Builder
	for i, c := range cells {
		text := cellWords(c)
		if !utf8.ValidString(text) {
			text = fmt.Sprintf("(%d bytes that are no text)", len(text))
		}
		if text != "" {
			b.WriteString(columns[i] + ": " + text + "\n")
		}
	}
	return b.String()
}

// cellWords is a cell's text, or its number.
func cellWords(c any) string {
	switch c.(type) {
	case int64, float64:
		return fmt.Sprint(c)
	}
	return cellText(c)
}
