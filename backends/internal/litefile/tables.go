package litefile

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/piped"
	"memdesk/model"
)

// sideTable is a table with rows or columns that are no items.
type sideTable struct {
	name  string
	items bool // the other rows and columns are items
	parts []part
	// unknown says that the table may be part of a virtual table of an unknown kind, so that no row is changed.
	unknown bool
}

// part is what one statement reads of such a table.
type part struct {
	columns []string
	where   string
	beside  bool // columns beside those of the items, in the items' own rows
}

// sideTables are the tables that hold no items, the store's own side tables and those of other programs, and
// what a table of items has beside them. The tables of a full-text index are left out: their words are merged
// away. An index that keeps its texts itself is a table like others.
func (m Medium) sideTables(q *Query) ([]sideTable, error) {
	names, ddl, err := Tables(q)
	if err != nil {
		return nil, err
	}
	var out []sideTable
	for _, name := range names {
		switch t, err := m.sideTable(q, ddl, name); {
		case err != nil:
			return nil, err
		case len(t.parts) > 0:
			out = append(out, t)
		}
	}
	return out, nil
}

// sideTable is one of sideTables, without parts where it is none.
func (m Medium) sideTable(q *Query, ddl map[string]string, name string) (t sideTable, err error) {
	left, unknown := left(ddl, name)
	if left {
		return t, nil
	}
	t.name, t.unknown = name, unknown
	columns, err := textColumns(q, name)
	if err != nil {
		return t, err
	}
	var own []string
	if own, t.items = m.Items[name]; !t.items {
		t.parts = []part{{columns: columns}}
	} else {
		t.parts, err = m.besideItems(q, name, columns, own)
	}
	return t, err
}

// besideItems are the rows and columns of a table of items that are no items.
func (m Medium) besideItems(q *Query, table string, columns, own []string) (out []part, err error) {
	if cond := m.Loose[table]; cond != "" {
		var some bool
		if _, err := q.One(`SELECT EXISTS (SELECT 1 FROM `+quote(table)+` WHERE `+cond+`)`, nil, &some); err != nil {
			return nil, err
		}
		if some {
			out = append(out, part{columns: columns, where: ` WHERE ` + cond})
		}
	}
	isOwn := func(c string) bool {
		return slices.ContainsFunc(own, func(o string) bool { return strings.EqualFold(o, c) })
	}
	if more := slices.DeleteFunc(slices.Clone(columns), isOwn); len(own) > 0 && len(more) > 0 {
		out = append(out, part{columns: more, beside: true})
	}
	return out, nil
}

// tableLayer is the id of a table's layer.
func (m Medium) tableLayer(table string) string { return m.File.Name + ":" + table }

// tables lists each side table as a layer. A cell may be compressed or lie on several
// pages, so that the bytes of the file alone do not show the text in it.
func (m Medium) tables(ctx context.Context) ([]model.Layer, error) {
	var out []model.Layer
	err := m.File.View(ctx, "layers", func(q *Query) error {
		tables, err := m.sideTables(q)
		out = nil
		for _, table := range tables {
			l := model.Layer{ID: m.tableLayer(table.name), Kind: model.LayerDerived, Readable: true, HeldWith: m.File.Path}
			if m.sibling(l.ID) {
				l.Readable, l.Reason = false, "a file beside the database has the same name as this table of it: rename the file"
			}
			out = append(out, l)
		}
		if err != nil {
			return err
		}
		unread := func(index, why string) {
			out = append(out, model.Layer{ID: m.tableLayer(index), Kind: model.LayerDerived,
				Reason: why + ": nobody can tell which of its words stood beside each other; the program whose index it is makes it anew"})
		}
		names, ddl, err := Tables(q)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, none := contentOf(ddl[name]); none {
				unread(name, "a text index without texts")
			}
		}
		indexes, err := m.foreignIndexes(q)
		for _, ix := range indexes {
			if ix.lost {
				unread(ix.name, "a text index whose content table or view is missing or cannot be read")
			}
		}
		return err
	})
	return out, err
}

// sibling reports whether a file with the name of a table's layer stands beside the database.
func (m Medium) sibling(id string) bool {
	_, err := os.Lstat(filepath.Join(filepath.Dir(m.File.Path), id))
	return err == nil
}

// tableOf is the table whose layer an id is; false for that of a file.
func (m Medium) tableOf(ctx context.Context, id string) (table sideTable, ok bool, err error) {
	name, named := strings.CutPrefix(id, m.File.Name+":")
	if !named || m.sibling(id) {
		return sideTable{}, false, nil
	}
	err = m.File.View(ctx, "open-layer", func(q *Query) error {
		_, ddl, err := Tables(q)
		if _, there := ddl[name]; err != nil || !there {
			ok = false
			return err
		}
		table, err = m.sideTable(q, ddl, name)
		ok = len(table.parts) > 0
		return err
	})
	return table, ok, err
}

// openTable gives the cells of a table as a tar archive, each member named by its column.
// A cell of text or bytes is a member, and so a medium of its own for who reads it, which may
// be an archive itself; the numbers of a column are many to a member. The reader holds one
// connection until it is closed.
func (m Medium) openTable(ctx context.Context, table sideTable) io.ReadCloser {
	return piped.Reader(ctx, func(ctx context.Context, w io.Writer) error {
		out, begun := tar.NewWriter(w), false
		err := m.File.View(ctx, "open-layer", func(q *Query) error {
			if begun {
				return model.Errorf(model.Unavailable, "open-layer", "the table cannot be read to the end while another program changes the database; try again")
			}
			for _, p := range table.parts {
				if len(p.columns) == 0 {
					continue
				}
				numbers := make([]strings.Builder, len(p.columns))
				err := selection{table.name, nil, quoted(p.columns), p.where, nil}.each(q, func(_, cells []any) error {
					begun = true
					return writeCells(out, p.columns, cells, numbers)
				})
				for i := range numbers {
					err = errors.Join(err, writeMember(out, p.columns[i], numbers[i].String()))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		return errors.Join(err, out.Close())
	})
}

// manyNumbers is how many bytes of a column's numbers are one member.
const manyNumbers = 64 << 10

func writeCells(out *tar.Writer, columns []string, cells []any, numbers []strings.Builder) error {
	for i, c := range cells {
		if n := number(c); n != "" {
			numbers[i].WriteString(spellings(n) + "\n")
		}
		if err := writeMember(out, columns[i], cellText(c)); err != nil {
			return err
		}
		if numbers[i].Len() >= manyNumbers {
			if err := writeMember(out, columns[i], numbers[i].String()); err != nil {
				return err
			}
			numbers[i].Reset()
		}
	}
	return nil
}

func writeMember(out *tar.Writer, column, text string) error {
	if text == "" {
		return nil
	}
	// A name in quotes is never that of a directory.
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: quote(column), Mode: 0o600, Size: int64(len(text))}); err != nil {
		return err
	}
	_, err := io.WriteString(out, text)
	return err
}
