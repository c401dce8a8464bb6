package litefile

import (
	"maps"
	"slices"
	"strings"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/jsonedit"
)

// owned is the condition of a table's rows that belong to one of the persons; empty: none can.
func (m Medium) owned(q *Query, table string, persons []string) (cond string, args []any, err error) {
	var own, all []string
	for _, column := range m.Owners {
		if has, err := hasColumn(q, table, column); err != nil {
			return "", nil, err
		} else if has {
			own = append(own, quote(column)+` = ?`)
		}
	}
	if cond := m.OwnedRows[table]; cond != "" {
		own = append(own, cond)
	}
	for _, cond := range own {
		for _, person := range persons {
			all, args = append(all, cond), append(args, person)
		}
	}
	return strings.Join(all, ` OR `), args, nil
}

// tie is what ties rows of a table to items: each item by what an expression gives in its rows.
type tie struct {
	expr string
	of   map[string]string
}

// these is the condition of the tied rows, and its argument: one list, because SQLite takes no more than 1,000 conditions.
func (t tie) these() (cond, list string) {
	return t.expr + ` IN (SELECT value FROM json_each(?))`, string(jsonedit.QuoteList(slices.Sorted(maps.Keys(t.of))))
}

// ties are those of a table to items, beside that the items' own rows are theirs.
func (m Medium) ties(q *Query, table string, ids []string) (out []tie, err error) {
	if len(ids) == 0 { // the usual case, asked for each table, part and person
		return nil, nil
	}
	for _, column := range m.Tied {
		has, err := hasColumn(q, table, column)
		if err != nil {
			return nil, err
		}
		t := tie{quote(column), map[string]string{}}
		for _, id := range ids {
			if raw, ok := m.raw(column, id); has && ok {
				t.of[raw] = id
			}
		}
		out = append(out, t)
	}
	for _, expr := range m.TiedRows[table] {
		if gives, err := works(q, `SELECT `+expr+` FROM `+quote(table)+` LIMIT 0`); err != nil {
			return nil, err
		} else if !gives {
			continue
		}
		t := tie{expr, map[string]string{}}
		for _, id := range ids {
			t.of[entity.Name(id)] = id
		}
		out = append(out, t)
	}
	return slices.DeleteFunc(out, func(t tie) bool { return len(t.of) == 0 }), nil
}

// allTies are those of all rows of a table that belong to items, the rows of the items themselves among them.
func (m Medium) allTies(q *Query, table string, ids []string) ([]tie, error) {
	out, err := m.ties(q, table, ids)
	if m.Own == nil {
		return out, err
	}
	own := map[string]tie{}
	for _, id := range ids {
		of, column, key := m.Own(id)
		if of != table {
			continue
		}
		if own[column].of == nil {
			own[column] = tie{quote(column), map[string]string{}}
		}
		own[column].of[key] = id
	}
	for _, column := range slices.Sorted(maps.Keys(own)) {
		out = append(out, own[column])
	}
	return out, err
}

// further joins a statement's own condition, which may be empty, to one before it.
func further(where string) string {
	if own, ok := strings.CutPrefix(where, ` WHERE `); ok {
		return ` AND (` + own + `)`
	}
	return where
}

// apart narrows a condition to the rows that belong to no item on hold.
func (m Medium) apart(q *Query, table, where string, ids []string, more ...any) (string, []any, error) {
	held, err := m.allTies(q, table, ids)
	var all []string
	var args []any
	for _, t := range held {
		cond, list := t.these()
		all, args = append(all, cond), append(args, list)
	}
	if len(all) > 0 {
		where = ` WHERE NOT COALESCE((` + strings.Join(all, ` OR `) + `), FALSE)` + further(where)
	}
	return where, append(args, more...), err
}

// raw gives the value of a column for the id of an item.
func (m Medium) raw(column, id string) (string, bool) {
	if m.Raw == nil {
		return id, true
	}
	return m.Raw(column, id)
}
