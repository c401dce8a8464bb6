package litefile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"memdesk/model"
)

// sideRows lists the rows beside the items: all where the request has Concerns, else those of items on hold, which apart
// leaves out.
func (m Medium) sideRows(ctx context.Context, req model.ScrubRequest) error {
	if len(req.Held) == 0 && req.Concerns == nil {
		return nil
	}
	return m.File.View(ctx, "texts", func(q *Query) error {
		tables, err := m.sideTables(q)
		for _, table := range tables {
			if err == nil {
				err = m.tableRows(q, table, req)
			}
		}
		return err
	})
}

// tableRows reads a row with what says whose it is: the key of each item that it is tied to, whether it belongs to the
// person, and whether it would go as a whole.
func (m Medium) tableRows(q *Query, table sideTable, req model.ScrubRequest) error {
	held, err := m.allTies(q, table.name, req.Held)
	var at, these []string
	var args []any
	for _, t := range held {
		cond, list := t.these()
		at, these, args = append(at, `CASE WHEN `+cond+` THEN CAST(`+t.expr+` AS TEXT) END`), append(these, cond), append(args, list)
	}
	if err != nil || len(held) == 0 && req.Concerns == nil {
		return err
	}
	theirs := ``
	if !table.items && req.Concerns != nil {
		var of []any
		if theirs, of, err = m.owned(q, table.name, req.Subjects); err != nil {
			return err
		}
		args = append(args, of...)
	}
	where := ``
	if req.Concerns == nil {
		where, args = ` WHERE (`+strings.Join(these, ` OR `)+`)`, append(args, args...)
	}
	at = append(at, cmp.Or(theirs, `FALSE`), cmp.Or(m.NamedRows[table.name], `FALSE`))
	for _, p := range table.parts {
		of := p.where
		if where != `` {
			of = where + further(p.where)
		}
		if err := (selection{table.name, at, quoted(p.columns), of, args}).each(q, func(at, cells []any) error {
			row := model.SideRow{Layer: m.tableLayer(table.name)}
			for i, t := range held {
				if raw, ok := at[i].(string); ok {
					row.Of = append(row.Of, t.of[raw])
				}
			}
			for i, c := range cells {
				row.Cells = append(row.Cells, model.SideCell{Column: p.columns[i], Text: cellWords(c), Words: words(c)})
			}
			whole := func(i int) bool { return at[len(held)+i] == any(int64(1)) }
			row.Whole = whole(0) || whole(1) && slices.ContainsFunc(row.Cells, func(c model.SideCell) bool { return req.Concerns != nil && req.Concerns([]byte(c.Words)) })
			req.SideRows(row)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// cellWords is a cell's text, or its number.
func cellWords(c any) string {
	switch c.(type) {
	case int64, float64:
		return fmt.Sprint(c)
	}
	return cellText(c)
}
