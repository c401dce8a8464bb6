package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memdesk/model"
)

// itemTables hold items: Retain and Forget change them, Scrub never does.
var itemTables = []string{"nodes", "hyperedges", "membership", "decisions", "counters"}

// Scrub cleans the tables that are no items, then the medium: the text indexes
// are merged into one segment without the dead words, the file is rewritten
// without free pages and the log is emptied (erasure-physical.md, "Recommended
// recipe"). While another program reads an older snapshot the log cannot be
// emptied: the verdict is pending.
func (m maintainer) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Dry { // the rows lie in one file
		if len(req.Removed) > 0 {
			req.Permits(m.s.name, nil)
		}
		return nil, nil
	}
	step := req.Step
	if step == nil {
		step = func(string, string) {}
	}
	out, err := m.scrubTables(ctx, req, step)
	if err != nil {
		return nil, err
	}
	file := model.LayerResult{Layer: m.s.name, Method: "text index optimised, VACUUM, checkpoint TRUNCATE", Verdict: model.VerdictClean}
	if err := m.rewrite(ctx, step); err != nil {
		file.Verdict, file.Reason = verdictOf(err), err.Error()
	}
	return append(out, file), nil
}

// verdictOf tells what a failed step says of its layer: a lock is waited for.
func verdictOf(err error) model.Verdict {
	if model.KindOf(err) == model.Locked {
		return model.VerdictPending
	}
	return model.VerdictFailed
}

// scrubTables cleans the rows that are no items, in one transaction.
func (m maintainer) scrubTables(ctx context.Context, req model.ScrubRequest, step func(string, string)) ([]model.LayerResult, error) {
	var out []model.LayerResult
	err := m.s.transaction(ctx, "scrub", func(q *query) error {
		out = nil
		found, err := readContents(q)
		if err != nil {
			return err
		}
		for _, table := range found.order {
			if slices.Contains(itemTables, table) || isFTS(found, table) {
				continue
			}
			step(table, "rows that name the person or what is gone")
			res := model.LayerResult{Layer: m.s.name + ":" + table, Method: "rows rewritten or removed", Verdict: model.VerdictClean}
			if numbered, err := hasRowNumbers(q, table); err != nil {
				return err
			} else if !numbered {
				res.Verdict, res.Reason = model.VerdictUnaudited, "the table has no row numbers to address its rows by"
				out = append(out, res)
				continue
			}
			if res.Rows, err = cleanTable(q, table, req); err != nil {
				return err
			}
			out = append(out, res)
		}
		return nil
	})
	return out, err
}

// isFTS reports whether a table belongs to a full-text index, which merges its
// own dead words away.
func isFTS(c contents, table string) bool {
	for name, ddl := range c.tables {
		if isVirtual(ddl) && (table == name || strings.HasPrefix(table, name+"_")) {
			return true
		}
	}
	return false
}

func isVirtual(ddl string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(ddl)), "CREATE VIRTUAL TABLE")
}

// quote makes an identifier of a name that came from the file.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// cleanTable goes through one table row by row: a row tied to a removed item goes,
// a list of ids loses the removed ones, a text that names the person is redacted.
// It counts the rows it changed.
func cleanTable(q *query, table string, req model.ScrubRequest) (int64, error) {
	gone, err := dropTied(q, table, req.Removed)
	if err != nil {
		return 0, err
	}
	columns, err := textColumns(q, table)
	if err != nil || len(columns) == 0 {
		return gone, err
	}
	var rows []cleanRow
	removed := make(map[string]bool, len(req.Removed))
	for _, id := range req.Removed {
		removed[id] = true
	}
	err = eachRow(q, table, columns, func(id int64, cells []any) error {
		if r := clean(id, cells, req, removed); r != nil {
			rows = append(rows, *r)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if err := r.write(q, table, columns); err != nil {
			return 0, err
		}
	}
	return gone + int64(len(rows)), nil
}

// dropTied removes the rows whose node_id or hyperedge_id is a removed item.
func dropTied(q *query, table string, removed []string) (int64, error) {
	var gone int64
	for _, column := range []string{"node_id", "hyperedge_id"} {
		has, err := hasColumn(q, table, column)
		if err != nil {
			return 0, err
		}
		if !has {
			continue
		}
		for part := range slices.Chunk(removed, 500) {
			args := make([]any, len(part))
			for i, id := range part {
				args[i] = strings.TrimPrefix(id, "edge/")
			}
			n, err := q.exec(`DELETE FROM `+quote(table)+` WHERE `+quote(column)+` IN (?`+strings.Repeat(`,?`, len(part)-1)+`)`, args...)
			if err != nil {
				return 0, err
			}
			gone += n
		}
	}
	return gone, nil
}

func hasColumn(q *query, table, column string) (bool, error) {
	var n int64
	_, err := q.one(`SELECT count(*) FROM pragma_table_info(?) WHERE name = ?`, []any{table, column}, &n)
	return n > 0, err
}

// hasRowNumbers is false for a view-like or WITHOUT ROWID table.
func hasRowNumbers(q *query, table string) (bool, error) {
	var without int64
	found, err := q.one(`SELECT wr FROM pragma_table_list WHERE name = ? AND type = 'table'`, []any{table}, &without)
	return found && without == 0, err
}

// textColumns are the columns that can hold words; vectors cannot.
func textColumns(q *query, table string) ([]string, error) {
	var out []string
	err := q.each(`SELECT name, upper(type) FROM pragma_table_info(?)`, []any{table}, func(scan func(...any) error) error {
		var name, kind string
		if err := scan(&name, &kind); err != nil {
			return err
		}
		if name != "embedding" && !strings.Contains(kind, "INT") && !strings.Contains(kind, "REAL") {
			out = append(out, name)
		}
		return nil
	})
	return out, err
}

// eachRow hands out the cells of the columns and the row's number.
func eachRow(q *query, table string, columns []string, fn func(id int64, cells []any) error) error {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = quote(c)
	}
	cells := make([]any, len(columns))
	dest := make([]any, len(columns)+1)
	var id int64
	dest[0] = &id
	for i := range cells {
		dest[i+1] = &cells[i]
	}
	return q.each(`SELECT rowid, `+strings.Join(quoted, `, `)+` FROM `+quote(table), nil, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		return fn(id, cells)
	})
}

// cleanRow is what has to be written to one row; cells that stay are nil.
type cleanRow struct {
	id    int64
	cells map[int]any
	drop  bool
}

func clean(id int64, cells []any, req model.ScrubRequest, removed map[string]bool) *cleanRow {
	r := cleanRow{id: id, cells: map[int]any{}}
	for i, c := range cells {
		text, asBytes := "", false
		switch v := c.(type) {
		case string:
			text = v
		case []byte:
			text, asBytes = string(v), true
		}
		after, emptied := withoutIDs(text, removed)
		if emptied {
			r.drop = true
		}
		if req.Concerns != nil && after != "" && req.Concerns([]byte(after)) {
			if req.Redact == nil {
				r.drop = true
			} else {
				after = string(req.Redact([]byte(after)))
			}
		}
		switch {
		case after == text:
		case asBytes:
			r.cells[i] = []byte(after)
		default:
			r.cells[i] = after
		}
	}
	if len(r.cells) == 0 && !r.drop {
		return nil
	}
	return &r
}

// withoutIDs takes removed ids out of a JSON list of ids; emptied says that
// nothing is left of it.
func withoutIDs(text string, removed map[string]bool) (after string, emptied bool) {
	if len(removed) == 0 || !strings.HasPrefix(text, "[") {
		return text, false
	}
	var ids []string
	if json.Unmarshal([]byte(text), &ids) != nil {
		return text, false
	}
	kept := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return removed[id] })
	if len(kept) == len(ids) {
		return text, false
	}
	out, err := json.Marshal(kept)
	if err != nil {
		return text, false
	}
	return string(out), len(kept) == 0
}

func (r cleanRow) write(q *query, table string, columns []string) error {
	if r.drop {
		_, err := q.exec(`DELETE FROM `+quote(table)+` WHERE rowid = ?`, r.id)
		return err
	}
	var set []string
	var args []any
	for i, v := range r.cells {
		set, args = append(set, quote(columns[i])+` = ?`), append(args, v)
	}
	_, err := q.exec(`UPDATE `+quote(table)+` SET `+strings.Join(set, `, `)+` WHERE rowid = ?`, append(args, r.id)...)
	return err
}

// rewrite makes the file anew without what was deleted.
func (m maintainer) rewrite(ctx context.Context, step func(string, string)) error {
	if err := m.s.refuseWhenReadOnly("scrub"); err != nil {
		return err
	}
	if err := m.enoughSpace(); err != nil {
		return err
	}
	conn, err := m.s.writer.Conn(ctx)
	if err != nil {
		return waitedForLock("scrub", err)
	}
	defer conn.Close()
	q := &query{ctx: ctx, conn: conn, op: "scrub"}
	if err := mergeIndexes(q, step, m.s.name); err != nil {
		return err
	}
	step(m.s.name, "the file is rewritten (VACUUM)")
	const inMemory = 256 << 20 // a larger copy goes to a file, which SQLite unlinks at once
	temp := `PRAGMA temp_store = DEFAULT`
	if size(m.s.sidecars.path) < inMemory {
		temp = `PRAGMA temp_store = MEMORY`
	}
	for _, text := range []string{temp, `VACUUM`} {
		if err := retryBusy(ctx, func() error { return direct(ctx, conn, "scrub", text) }); err != nil {
			return err
		}
	}
	if err := m.dropSamples(q); err != nil {
		return err
	}
	step(m.s.name, "the log is emptied (checkpoint)")
	return m.truncateLog(q)
}

// mergeIndexes leaves each full-text index one segment without dead words. One
// that ever had secure-delete keeps words in its page index that only a rebuild
// clears (erasure-physical.md, finding 2).
func mergeIndexes(q *query, step func(string, string), name string) error {
	found, err := readContents(q)
	if err != nil {
		return err
	}
	for table, ddl := range found.tables {
		if !isVirtual(ddl) || !strings.Contains(strings.ToLower(ddl), "fts5") {
			continue
		}
		command := "optimize"
		var secure int64
		if _, err := q.one(`SELECT count(*) FROM `+quote(table+"_config")+` WHERE k = 'secure-delete' AND v <> 0`, nil, &secure); err != nil {
			return err
		}
		if secure > 0 {
			command = "rebuild"
		}
		step(name, "text index: "+command)
		err := retryBusy(q.ctx, func() error {
			return direct(q.ctx, q.conn, "scrub", fmt.Sprintf(`INSERT INTO %s (%s) VALUES ('%s')`, quote(table), quote(table), command))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropSamples removes the samples of key text that ANALYZE may have stored
// (erasure-physical.md, finding 6); the planner does without until the next one.
func (m maintainer) dropSamples(q *query) error {
	var n int64
	if _, err := q.one(`SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat4'`, nil, &n); err != nil || n == 0 {
		return err
	}
	_, err := q.exec(`DELETE FROM sqlite_stat4`)
	return err
}

// truncateLog empties the write-ahead log. One open reader of an older snapshot is
// enough to prevent it. A rollback journal that is kept between transactions goes.
func (m maintainer) truncateLog(q *query) error {
	var busy, log, moved int64
	var mode string
	if _, err := q.one(`PRAGMA journal_mode`, nil, &mode); err != nil {
		return err
	}
	if mode == "persist" { // a kept journal holds the pages as they were; leaving the mode deletes it
		if _, err := q.one(`PRAGMA journal_mode = DELETE`, nil, &mode); err != nil {
			return err
		}
	}
	if _, err := q.one(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &log, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return model.Errorf(model.Locked, "scrub", "another program reads an older state of the database: the log cannot be emptied before it is done")
	}
	return nil
}
