package records

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// Own is where Save writes: columns of one row. An undo writes them back as they were, with the kinds of JSON values
// and the NULLs that a document does not show.
type Own struct {
	Table, Row string // Row is the condition of the row; its parameter is the key
	Columns    []string
	// Read and Write are the expressions of the columns; m is the row that is read.
	Read, Write []string
}

// OwnColumns are columns of an SQLite table. The plus is that of KeepWhole.
func OwnColumns(table, key string, columns ...string) *Own {
	o := &Own{Table: table, Row: key + ` = ?`, Columns: columns}
	for _, c := range quoted(columns) {
		o.Read, o.Write = append(o.Read, `+m.`+c), append(o.Write, `?`)
	}
	return o
}

// read returns the row, and a digest of it.
func (o *Own) read(tx Tx, key string) (rows []model.BesideRow, digest string, err error) {
	rows, err = KeepRows(tx, o.Table, o.Columns, `SELECT `+strings.Join(o.Read, `, `)+` FROM `+o.Table+` m WHERE m.`+o.Row, key)
	h := sha256.New()
	for _, r := range rows {
		for _, c := range r.Cells {
			for _, part := range []string{c.Column, string(c.Type), c.Value} {
				sum := sha256.Sum256([]byte(part))
				h.Write(sum[:])
			}
		}
	}
	return rows, hex.EncodeToString(h.Sum(nil)), err
}

// save writes an edit. It returns the columns that it displaced, for the undo. An undo writes them back whole where
// nobody wrote since the edit; elsewhere it says which of them stay different.
func (t *Table) save(tx Tx, c *Change, req model.RetainRequest) (*model.Beside, error) {
	if t.Own == nil || req.Erase { // an erasure has no undo
		return nil, t.Save(tx, c)
	}
	was, seen, err := t.Own.read(tx, c.Row.Key)
	if err == nil {
		err = t.Save(tx, c)
	}
	if err != nil {
		return nil, err
	}
	b := req.Beside
	restore := req.Restore && b != nil && b.Left != ""
	if restore && seen == b.Left {
		if err = t.Own.put(tx, c.Row.Key, b.Rows); err != nil {
			return nil, err
		}
		if c.whole = true; t.Vector != "" { // it is in the row, and of this text; the program may have made one that lies elsewhere anew
			c.Warnings = nil
		}
	}
	is, left, err := t.Own.read(tx, c.Row.Key)
	if err == nil && restore && !c.whole {
		compare(c, b.Rows, is)
	}
	return &model.Beside{Rows: was, Left: left}, err
}

func (o *Own) put(tx Tx, key string, rows []model.BesideRow) error {
	for _, r := range rows {
		args, err := Values(o.Columns, r)
		if err != nil {
			return err
		}
		set := make([]string, len(o.Columns))
		for i, c := range quoted(o.Columns) {
			set[i] = c + ` = ` + o.Write[i]
		}
		if _, err := tx.Exec(`UPDATE `+o.Table+` SET `+strings.Join(set, `, `)+` WHERE `+o.Row, append(args, key)...); err != nil {
			return err
		}
	}
	return nil
}

// shows reports whether an item has the text and the fields of a document, in any order: a field that comes back stands
// last in the document, and in its old place in a row that is put back.
func shows(it model.Item, doc model.Document) bool {
	sorted := func(d model.Document) model.Revision {
		d.Meta = slices.SortedStableFunc(slices.Values(d.Meta), func(a, b model.Field) int { return strings.Compare(a.Name, b.Name) })
		return model.RevisionOf(d)
	}
	return sorted(it.Document()) == sorted(doc)
}

// compare warns of what is not as in the kept rows: columns, or the members of one that is a JSON object.
func compare(c *Change, kept, now []model.BesideRow) {
	if len(now) != 1 || len(kept) != 1 || len(now[0].Cells) != len(kept[0].Cells) {
		return
	}
	var differ []string
	for i, was := range kept[0].Cells {
		is := now[0].Cells[i]
		if is == was {
			continue
		}
		a, aerr := jsonedit.Parse([]byte(was.Value))
		b, berr := jsonedit.Parse([]byte(is.Value))
		if aerr != nil || berr != nil {
			differ = append(differ, was.Column)
			continue
		}
		for _, m := range slices.Concat(a.Members, b.Members) {
			name := was.Column + "." + m.Name
			if string(a.Raw(m.Name)) != string(b.Raw(m.Name)) && !slices.Contains(differ, name) {
				differ = append(differ, name)
			}
		}
	}
	if len(differ) > 0 {
		const most = 10
		more := ""
		if len(differ) > most {
			differ, more = differ[:most], " and more"
		}
		c.Warnings = append(c.Warnings, "another program wrote the row since: not as they were before are "+strings.Join(differ, ", ")+more)
	}
}
