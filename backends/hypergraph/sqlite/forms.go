package sqlite

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/model"
)

// formTables are the tables of a recurse file whose columns store one value in several forms.
var formTables = []struct {
	name, key string
	edge      bool
	columns   []string
}{
	{"nodes", "id", false, []string{"subtype", "content", "created_at", "updated_at", "last_accessed", "access_count", "tier", "confidence", "provenance", "metadata", "embedding"}},
	{vectorRows, "node_id", false, vectorTimes},
	{"decisions", "node_id", false, []string{"confidence", "prompt", "files", "branch", "commit_hash"}},
	{"hyperedges", "id", true, []string{"label", "weight", "created_at", "metadata"}},
}

// vectorRows is the table of vectors. Its times are in no item, so a new row has them from the forms alone.
const vectorRows = "node_embeddings"

var vectorTimes = []string{"created_at", "updated_at"}

// oddTime is the longest unreadable time that is kept, formBytes the most of a value that a document cannot hold, in
// bytes.
const oddTime, formBytes = 64, "1048576"

func isTime(column string) bool { return strings.HasSuffix(column, "_at") || column == "last_accessed" }

// Forms implements hypergraph.Forms. A column of the own schema has one form.
func (o ops) Forms(ctx context.Context, id string, edge bool) (out []model.BesideRow, err error) {
	if o.s.layout.own {
		return nil, nil
	}
	err = o.view(ctx, "forms", func(q *query) error {
		out = nil
		for _, t := range formTables {
			if t.edge != edge || t.name == vectorRows && !o.s.layout.vectors {
				continue
			}
			var selected []string
			var dest []any
			kinds, values := make([]string, len(t.columns)), make([]string, len(t.columns))
			for i, c := range t.columns {
				value := `''`
				switch {
				case isTime(c):
					value = `COALESCE(substr(CAST(` + c + ` AS TEXT), 1, ?2), '')`
				case c == "embedding", c == "metadata", c == "provenance", c == "files":
					types := `('blob')`
					if c == "embedding" { // of the others the form of a text is the usual one
						types = `('blob', 'text')`
					}
					value = `CASE WHEN typeof(` + c + `) IN ` + types + ` AND octet_length(` + c + `) <= ` + formBytes + ` THEN CAST(` + c + ` AS BLOB) ELSE '' END`
				}
				selected = append(selected, `typeof(`+c+`), `+value)
				dest = append(dest, &kinds[i], &values[i])
			}
			found, err := q.One(`SELECT `+strings.Join(selected, `, `)+` FROM `+t.name+` WHERE `+t.key+` = ?1 AND ?2 > 0`, []any{id, oddTime + 1}, dest...)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			row := model.BesideRow{Table: t.name}
			for i, c := range t.columns {
				if cell, odd := formOf(c, kinds[i], values[i]); odd || t.name == vectorRows && isKeptTime(cell) {
					row.Cells = append(row.Cells, cell)
				}
			}
			if len(row.Cells) > 0 {
				out = append(out, row)
			}
		}
		return nil
	})
	return out, err
}

func isKeptTime(c model.BesideCell) bool {
	return (c.Type == model.CellText || c.Type == model.CellInteger) && len(c.Value) <= oddTime
}

// PutVectorForms implements hypergraph.Forms.
func (o ops) PutVectorForms(ctx context.Context, node string, forms []model.BesideRow) error {
	if o.s.layout.own || !o.s.layout.vectors {
		return nil
	}
	return o.change(ctx, "forms", func(q *query) error {
		for _, r := range forms {
			for _, c := range r.Cells {
				if r.Table != vectorRows || !slices.Contains(vectorTimes, c.Column) || !isKeptTime(c) && c.Type != model.CellNull {
					continue
				}
				value := any(c.Value)
				if c.Type == model.CellNull {
					value = nil
				}
				if _, err := q.Exec(`UPDATE node_embeddings SET `+c.Column+` = ? WHERE node_id = ?`, value, node); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// formOf is the cell of a value; odd is false where memdesk writes the same form, and where the form is
// not kept.
func formOf(column, kind, value string) (c model.BesideCell, odd bool) {
	c = model.BesideCell{Column: column, Type: model.CellType(kind)}
	switch {
	case kind == "null":
		return c, column != "last_accessed" && column != "embedding"
	case isTime(column):
		c.Value = value
		return c, isKeptTime(c) && recurseTime(value).Format(time.RFC3339Nano) != value
	case column == "embedding" && kind == "text":
		c.Value = value
		return c, utf8.ValidString(value)
	case kind == "blob":
		c.Type = model.CellBytes
		if column == "embedding" || !utf8.ValidString(value) {
			c.Value = base64.StdEncoding.EncodeToString([]byte(value))
		}
		return c, true
	}
	return c, false
}

// Form implements sqlgraph.NodeTable. It ignores a form that reads as a value other than the one to be
// written: forms come from files beside the store.
func (d dialect) Form(forms []model.BesideRow, table, column string, v any) any {
	if d.layout.own {
		return v
	}
	if v == "" && (column == "status" || column == "role") { // read from NULL: recurse's lists of values have no empty one
		return nil
	}
	for _, r := range forms {
		for _, c := range r.Cells {
			if r.Table == table && c.Column == column {
				return formed(c, v)
			}
		}
	}
	return v
}

func formed(c model.BesideCell, v any) any {
	text, isText := v.(string)
	switch {
	case isTime(c.Column):
		at := recurseTime(c.Value)
		if c.Type == model.CellNull && c.Value == "" {
			return nil
		}
		if isKeptTime(c) && (at.IsZero() || isText && at.Equal(recurseTime(text))) {
			return c.Value
		}
	case c.Type == model.CellText && c.Column == "embedding":
		return c.Value
	case c.Type == model.CellBytes && (c.Column == "embedding" || isText):
		raw, err := base64.StdEncoding.DecodeString(c.Value)
		if err == nil && (c.Column == "embedding" || c.Value != "" && string([]rune(string(raw))) == text) {
			return raw
		}
		return []byte(text)
	case c.Type == model.CellNull && v == readNull(c.Column, v):
		return nil
	}
	return v
}

// readNull is the value that a NULL column reads as.
func readNull(column string, v any) any {
	switch v.(type) {
	case float64:
		return 1.0
	case int64:
		return int64(0)
	}
	if column == "tier" {
		return "task"
	}
	return ""
}
