package litefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"memdesk/model"
)

// Scrub cleans the tables that are no items, then the medium: the text indexes
// are merged into one segment without the dead words, the file is rewritten
// without free pages and the log is emptied (erasure-physical.md, "Recommended
// recipe"). While another program reads an older snapshot the log cannot be
// emptied: the verdict is pending.
func (m Medium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.SideRows != nil {
		return nil, m.sideRows(ctx, req)
	}
	if req.Dry { // the rows lie in one file
		if len(req.Removed) > 0 {
			req.Permits(m.File.Name, nil)
		}
		return nil, m.File.View(ctx, "scrub", func(q *Query) error {
			if err := m.wouldClean(q, req); err != nil {
				return err
			}
			_, err := m.cleanEdited(q, req)
			return err
		})
	}
	if slices.Contains(req.HeldFiles, m.File.Path) {
		return []model.LayerResult{{Layer: m.File.Name, Method: "left alone", Verdict: model.VerdictResidue, Reason: "the file is on hold"}}, nil
	}
	step := req.Step
	if step == nil {
		step = func(string, string) {}
	}
	out, err := m.scrubTables(ctx, req, step)
	if err != nil {
		return nil, err
	}
	file := model.LayerResult{Layer: m.File.Name, Method: "text index optimised, VACUUM, checkpoint TRUNCATE", Verdict: model.VerdictClean}
	if err := m.rewrite(ctx, step); err != nil {
		file.Verdict, file.Reason = verdictOf(err), err.Error()
	} else if named, err := m.schemaNames(ctx, req); err != nil {
		file.Verdict, file.Reason = verdictOf(err), err.Error()
	} else if named != "" {
		file.Verdict, file.Reason = model.VerdictResidue, "the definition of the "+named+" names the person: the program whose database it is has to change it"
	}
	return append(out, file), nil
}

// schemaNames is the kind of a table, view, index or trigger whose name or definition names the subject; empty for none.
func (m Medium) schemaNames(ctx context.Context, req model.ScrubRequest) (kind string, err error) {
	if req.Concerns == nil {
		return "", nil
	}
	err = m.File.View(ctx, "scrub", func(q *Query) error {
		return q.Each(`SELECT type, name || ' ' || COALESCE(sql, '') FROM sqlite_master ORDER BY type`, nil, func(scan func(...any) error) error {
			var of, text string
			if err := scan(&of, &text); err != nil {
				return err
			}
			if kind == "" && req.Concerns([]byte(text)) {
				kind = of
			}
			return nil
		})
	})
	return kind, err
}

// wouldClean asks about each table whose rows the scrub would change because they name
// the subject, or belong to the subject. Rows tied to an item go with it, and are not asked about.
func (m Medium) wouldClean(q *Query, req model.ScrubRequest) error {
	tables, err := m.sideTables(q)
	if err != nil {
		return err
	}
	for _, table := range tables {
		key, err := rowKey(q, table.name)
		if err != nil {
			return err
		}
		if table.unknown || len(key) == 0 {
			continue // nothing of it can be changed: the scan of its layer tells what it holds
		}
		found := false
		if !table.items {
			_, _, n, err := m.belonging(q, table.name, req)
			if err != nil {
				return err
			}
			found = n > 0
		}
		for _, p := range table.parts {
			where, args, err := m.apart(q, table.name, p.where, req.Held)
			if err != nil {
				return err
			}
			err = selection{table.name, quoted(key), m.changeable(p.columns), where, args}.each(q, func(at, cells []any) error {
				found = found || clean(at, cells, req, nil) != nil
				return nil
			})
			if err != nil {
				return err
			}
		}
		if found {
			req.Permits(m.tableLayer(table.name), nil)
		}
	}
	return nil
}

// verdictOf tells what a failed step says of its layer: a lock is waited for.
func verdictOf(err error) model.Verdict {
	if model.KindOf(err) == model.Locked {
		return model.VerdictPending
	}
	return model.VerdictFailed
}

// scrubTables cleans the rows that are no items, in one transaction.
func (m Medium) scrubTables(ctx context.Context, req model.ScrubRequest, step func(string, string)) ([]model.LayerResult, error) {
	var out []model.LayerResult
	err := m.File.Change(ctx, "scrub", func(q *Query) error {
		out = nil
		var tied []func() error // tables with rows that could not be changed alone
		if m.Rows != nil {
			var err error
			if out, err = m.Rows(q, req); err != nil {
				return err
			}
		}
		tables, err := m.sideTables(q)
		if err != nil {
			return err
		}
		for _, table := range tables {
			step(table.name, "rows that name the person or what is gone")
			res := model.LayerResult{Layer: m.tableLayer(table.name), Method: "rows rewritten or removed", Verdict: model.VerdictClean}
			key, err := rowKey(q, table.name)
			if err != nil {
				return err
			}
			if table.unknown || len(key) == 0 {
				res.Verdict, res.Reason = model.VerdictUnaudited, "the table has no row numbers and no key to address its rows by"
				if table.unknown {
					res.Reason = "the table may be part of a virtual table of a kind that memdesk does not know: clean it with the program whose table it is"
				}
				out = append(out, res)
				continue
			}
			var dropped dropping
			var refused model.LayerResult
			if !table.items {
				if dropped, refused, err = m.dropRows(q, table.name, key, req); err != nil {
					return err
				}
				res.Rows = dropped.gone
			}
			first, err := m.cleanParts(q, table, key, req, dropped.kept, &res, refused)
			if err != nil {
				return err
			}
			if at := len(out); first.kept > 0 {
				tied = append(tied, func() error {
					again, err := m.cleanParts(q, table, key, req, dropped.kept, &out[at], refused)
					out[at].Rows -= min(again.done, first.partly)
					return err
				})
			}
			out = append(out, res)
		}
		alone := slices.Clone(out)
		if err := cleanTied(q, tied); errors.Is(err, errTied) {
			out = alone
		} else if err != nil {
			return err
		}
		edited, err := m.cleanEdited(q, req)
		out = append(out, edited...)
		if err != nil {
			return err
		}
		return m.rebuildIndexes(q, req, out, step)
	})
	return out, err
}

// tally counts the rows that were changed, and those that the table's own rules kept: a row changed in part is both.
type tally struct{ done, kept, partly int64 }

// cleanParts goes through a table, and adds to its result. stuck rows of it cannot be removed; refused is the result
// of rows that had to stay; empty: none.
func (m Medium) cleanParts(q *Query, table sideTable, key []string, req model.ScrubRequest, stuck int64, res *model.LayerResult, refused model.LayerResult) (all tally, err error) {
	clean := model.LayerResult{Layer: res.Layer, Method: "rows rewritten or removed", Verdict: model.VerdictClean, Rows: res.Rows}
	for _, p := range table.parts {
		t, more, err := m.cleanTable(q, table.name, p, key, req)
		if err != nil {
			return tally{}, err
		}
		all = tally{all.done + t.done, all.kept + t.kept, all.partly + t.partly}
		if more.Layer != "" {
			refused = more
		}
		if leads, err := m.leads(q, table.name, p, req); err != nil {
			return tally{}, err
		} else if leads {
			clean.Reason = "the ids of items that stay name the person: forget these items as a whole, or keep them back"
		}
	}
	if refused.Layer != "" {
		clean.Method, clean.Verdict, clean.Reason = refused.Method, refused.Verdict, refused.Reason
	}
	clean.Rows += all.done
	if n := all.kept + stuck; n > 0 {
		clean.Verdict, clean.Reason = model.VerdictFailed, fmt.Sprintf("%d rows cannot be changed, because of the table's own rules: change them with the program whose table it is", n)
	}
	*res = clean
	return all, nil
}

// errTied ends an attempt that would leave rows without the rows that they refer to.
var errTied = errors.New("rows refer to others that would be gone")

// cleanTied changes rows that refer to one another by what has to change, such as a key with a telephone number: SQLite
// checks their foreign keys when all of them are changed.
func cleanTied(q *Query, tables []func() error) error {
	if len(tables) == 0 {
		return nil
	}
	dangling := func() (n int64, err error) {
		apart := &Query{ctx: q.ctx, conn: q.conn, op: q.op} // that a table is missing breaks no transaction
		_, err = apart.One(`SELECT count(*) FROM pragma_foreign_key_check`, nil, &n)
		return n, err
	}
	err := q.Atomically(func() error {
		if _, err := q.Exec(`PRAGMA defer_foreign_keys = ON`); err != nil {
			return err
		}
		before, err := dangling()
		if err != nil {
			return errTied
		}
		for _, clean := range tables {
			if err := clean(); err != nil {
				return err
			}
		}
		if after, err := dangling(); err != nil || after > before {
			return errTied
		}
		return nil
	})
	if err == nil || errors.Is(err, errTied) { // each later row answers for itself again
		if _, off := q.Exec(`PRAGMA defer_foreign_keys = OFF`); off != nil {
			return off
		}
	}
	return err
}

// belonging is the condition of the rows of a table that belong to the person, and to no item on hold; n are there.
func (m Medium) belonging(q *Query, table string, req model.ScrubRequest) (where string, args []any, n int64, err error) {
	cond, args, err := m.owned(q, table, req.Subjects)
	if err != nil || cond == "" {
		return "", nil, 0, err
	}
	if where, args, err = m.apart(q, table, ` WHERE (`+cond+`)`, req.Held, args...); err == nil {
		_, err = q.One(`SELECT count(*) FROM `+quote(table)+where, args, &n)
	}
	return where, args, n, err
}

// dropRows removes the rows of a table that are tied to a removed item or belong to the person. The person's rows stay
// where the request refuses the table.
func (m Medium) dropRows(q *Query, table string, key []string, req model.ScrubRequest) (d dropping, refused model.LayerResult, err error) {
	d = dropping{q: q, table: table, key: key}
	gone, err := m.ties(q, table, req.Removed)
	for _, t := range gone {
		cond, list := t.these()
		if err := d.where(` WHERE `+cond, list); err != nil { // where it names an item on hold too: it tells what is gone
			return d, refused, err
		}
	}
	if err != nil {
		return d, refused, err
	}
	where, args, n, err := m.belonging(q, table, req)
	if err != nil || n == 0 {
		return d, refused, err
	}
	if refused, may := req.Permits(m.tableLayer(table), nil); !may {
		return d, refused, nil
	}
	return d, refused, d.where(where, args...)
}

// dropping removes rows of one table, and counts them and those that the table's own rules keep.
type dropping struct {
	q          *Query
	table      string
	key        []string
	gone, kept int64
}

// where removes the rows of a condition at once, or one by one where the table's own rules, such as a row of another program
// that refers to one of them, refuse that.
func (d *dropping) where(cond string, args ...any) error {
	err := d.q.Atomically(func() error {
		n, err := d.q.Exec(`DELETE FROM `+quote(d.table)+cond, args...)
		d.gone += n
		return err
	})
	if err == nil || d.q.broken != nil {
		return err
	}
	var rows []cleanRow
	if err := (selection{d.table, quoted(d.key), nil, cond, args}).each(d.q, func(at, _ []any) error {
		rows = append(rows, cleanRow{at: at, drop: true})
		return nil
	}); err != nil {
		return err
	}
	for left := -1; left != len(rows); { // the rows may refer to one another
		left = len(rows)
		rows = slices.DeleteFunc(rows, func(r cleanRow) bool {
			return d.q.Atomically(func() error { return r.write(d.q, d.table, d.key, nil) }) == nil
		})
		d.gone += int64(left - len(rows))
	}
	d.kept += int64(len(rows))
	return d.q.broken
}

// cleanTable goes through one part of a table row by row: a list of ids loses the removed ones, a text that
// names the person is redacted. A row of an item always stays.
// Rows that name the person stay where the request refuses the table.
func (m Medium) cleanTable(q *Query, table string, p part, key []string, req model.ScrubRequest) (t tally, refused model.LayerResult, err error) {
	if p.beside && req.Redact == nil {
		req.Redact = func([]byte) []byte { return nil }
	}
	columns := p.columns
	if len(columns) == 0 {
		return t, refused, nil
	}
	var rows []cleanRow
	lists := make([]map[string]bool, len(columns))
	for i, c := range columns {
		if slices.Contains(m.Lists, c) {
			lists[i] = map[string]bool{}
			for _, id := range req.Removed {
				if raw, ok := m.raw(c, id); ok {
					lists[i][raw] = true
				}
			}
		}
	}
	where, args, err := m.apart(q, table, p.where, req.Held)
	if err != nil {
		return t, refused, err
	}
	named := false
	read := func() error {
		rows = nil
		whole := append(quoted(key), cmp.Or(m.NamedRows[table], `FALSE`))
		return selection{table, whole, m.changeable(columns), where, args}.each(q, func(at, cells []any) error {
			if r := clean(at[:len(key)], cells, req, lists); r != nil {
				r.drop = r.drop && !p.beside || at[len(key)] == any(int64(1)) && refused.Layer == ""
				rows, named = append(rows, *r), named || clean(at, cells, req, nil) != nil
			}
			return nil
		})
	}
	if err := read(); err != nil {
		return t, refused, err
	}
	if named {
		var may bool
		if refused, may = req.Permits(m.tableLayer(table), nil); !may {
			req.Concerns = nil // the rows of removed items go all the same
			if err := read(); err != nil {
				return t, refused, err
			}
		}
	}
	for n, r := range rows {
		some, err := r.writeOnce(q, table, key, columns, n)
		if q.broken != nil {
			return t, refused, err
		}
		if some {
			t.done++
		}
		if err != nil {
			t.kept++
		}
		if some && err != nil {
			t.partly++
		}
	}
	return t, refused, nil
}

// changeable are the expressions of the cells that a scrub may change: a value that leads to an item that is there is empty.
func (m Medium) changeable(columns []string) []string {
	out := quoted(columns)
	for i, c := range columns {
		if cond := m.Leads[c]; cond != "" {
			out[i] = `CASE WHEN ` + cond + ` THEN NULL ELSE ` + out[i] + ` END`
		}
	}
	return out
}

// leads reports whether such a value of a table names the person.
func (m Medium) leads(q *Query, table string, p part, req model.ScrubRequest) (named bool, err error) {
	for column, cond := range m.Leads {
		if err != nil || req.Concerns == nil || !slices.Contains(p.columns, column) {
			continue
		}
		where, args, aerr := m.apart(q, table, ` WHERE `+cond+further(p.where), req.Held)
		if err = aerr; err == nil {
			err = selection{table, nil, quoted([]string{column}), where, args}.each(q, func(_, cells []any) error {
				named = named || req.Concerns([]byte(words(cells[0])))
				return nil
			})
		}
	}
	return named, err
}

// rewrite makes the file anew without what was deleted.
func (m Medium) rewrite(ctx context.Context, step func(string, string)) error {
	if err := m.File.RefuseWhenReadOnly("scrub"); err != nil {
		return err
	}
	if err := m.enoughSpace(); err != nil {
		return err
	}
	conn, err := Connect(ctx, m.File.writer)
	if err != nil {
		return waitedForLock("scrub", err)
	}
	defer conn.Close()
	q := &Query{ctx: ctx, conn: conn, op: "scrub"}
	if err := m.mergeIndexes(q, step); err != nil {
		return err
	}
	if err := m.dropSamples(q); err != nil { // before the rewrite, which removes their bytes
		return err
	}
	step(m.File.Name, "the file is rewritten (VACUUM)")
	const inMemory = 256 << 20 // a larger copy goes to a file, which SQLite unlinks at once
	temp := `PRAGMA temp_store = DEFAULT`
	if size(m.File.Path) < inMemory {
		temp = `PRAGMA temp_store = MEMORY`
	}
	for _, text := range []string{temp, `VACUUM`} {
		if err := RetryBusy(ctx, func() error { return direct(ctx, conn, "scrub", text) }); err != nil {
			return err
		}
	}
	step(m.File.Name, "the log is emptied (checkpoint)")
	return m.truncateLog(q)
}

// enoughSpace refuses a rewrite that would fill the disk: VACUUM needs about
// twice the file (erasure-physical.md, finding 5).
func (m Medium) enoughSpace() error {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(m.File.Path), &st); err != nil {
		return nil // unknown: SQLite itself says when the disk is full
	}
	free := int64(st.Bavail) * int64(st.Bsize) //nolint:unconvert // the types differ between systems
	if need := 2 * size(m.File.Path); free < need {
		return model.Errorf(model.Unavailable, "scrub", "rewriting the file needs %d bytes of free space, %d are there: free some and run it again", need, free)
	}
	return nil
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// dropSamples removes the samples of key text that ANALYZE may have stored
// (erasure-physical.md, finding 6); the planner does without until the next one.
func (m Medium) dropSamples(q *Query) error {
	var n int64
	if _, err := q.One(`SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat4'`, nil, &n); err != nil || n == 0 {
		return err
	}
	_, err := q.Exec(`DELETE FROM sqlite_stat4`)
	return err
}

// truncateLog empties the write-ahead log. One open reader of an older snapshot is
// enough to prevent it. A rollback journal that is kept between transactions goes.
func (m Medium) truncateLog(q *Query) error {
	var busy, log, moved int64
	var mode string
	if _, err := q.One(`PRAGMA journal_mode`, nil, &mode); err != nil {
		return err
	}
	if mode == "persist" { // a kept journal holds the pages as they were; leaving the mode deletes it
		if _, err := q.One(`PRAGMA journal_mode = DELETE`, nil, &mode); err != nil {
			return err
		}
	}
	if _, err := q.One(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &log, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return model.Errorf(model.Locked, "scrub", "another program reads an older state of the database: the log cannot be emptied before it is done")
	}
	return nil
}
