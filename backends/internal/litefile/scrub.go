package litefile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/jsonedit"
	"memdesk/model"
)

// Scrub cleans the tables that are no items, then the medium: the text indexes
// are merged into one segment without the dead words, the file is rewritten
// without free pages and the log is emptied (erasure-physical.md, "Recommended
// recipe"). While another program reads an older snapshot the log cannot be
// emptied: the verdict is pending.
func (m Medium) Scrub(ctx context.Context, req model.ScrubRequest) ([]model.LayerResult, error) {
	if req.Beneath != nil {
		return nil, m.beneath(ctx, req)
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
// the subject, or belong to the subject. Rows tied to an item go with it, and are not asked about. It shows all of
// these rows to Found.
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
			n, err := m.belongs(q, table.name, req)
			if err != nil {
				return err
			}
			found = n > 0
		}
		tell, err := m.teller(q, table, key, req)
		if err != nil {
			return err
		}
		for _, p := range table.parts {
			where, args, err := m.apart(q, table.name, p.where, req.Held)
			if err != nil {
				return err
			}
			err = eachRow(q, table.name, key, p.columns, where, args, func(at, cells []any) error {
				names := (!found || req.Found != nil) && clean(at, cells, req, nil) != nil
				found = found || names
				tell(p, at, cells, names)
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

// indexTables are the names of a full-text index's own tables, behind the index's name.
var indexTables = map[string][]string{
	"fts5": {"data", "idx", "content", "docsize", "config"},
	"fts4": {"content", "segments", "segdir", "docsize", "stat"},
	"fts3": {"content", "segments", "segdir"},
}

// plainTables are the names of the tables of other kinds of virtual tables that hold numbers alone.
var plainTables = map[string]*regexp.Regexp{
	"rtree": regexp.MustCompile(`^(node|rowid|parent)$`),
	"vec0":  regexp.MustCompile(`^(info|chunks|rowids|vector_chunks\d\d|metadatachunks\d\d)$`),
}

// left reports whether no row of a table is looked at: it is a virtual table, or one of its tables, whose words
// are merged away, whose texts lie in another table or which has none. A text index that keeps its texts itself
// is looked at. unknown: the table may be part of a virtual table of a kind that memdesk does not know.
func left(tables map[string]string, table string) (left, unknown bool) {
	if isVirtual(tables[table]) {
		return !keepsTexts(tables, table), false
	}
	for name, ddl := range tables {
		part, below := strings.CutPrefix(table, name+"_")
		if !below || !isVirtual(ddl) {
			continue
		}
		kind := module(ddl)
		source, none := contentOf(ddl)
		switch own, fts := indexTables[kind]; {
		case fts:
			left = left || slices.Contains(own, part) && (part != "content" || source == "" && !none)
		case plainTables[kind] != nil:
			left = left || plainTables[kind].MatchString(part)
		default:
			unknown = true
		}
	}
	return left, unknown
}

// keepsTexts reports whether a table is a full-text index with a table of its own for the texts.
func keepsTexts(tables map[string]string, name string) bool {
	_, own := tables[name+"_content"]
	source, none := contentOf(tables[name])
	return own && source == "" && !none && isVirtual(tables[name]) && indexTables[module(tables[name])] != nil
}

// sqlWords splits a definition into quoted names and texts, comments, blanks, words and single characters.
var sqlWords = regexp.MustCompile("(?s)'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`|\\[[^]]*\\]|--[^\\n]*|/\\*.*?\\*/|\\s+|\\w+|.")

// contentOf is the table or view whose texts a full-text index refers to: its option content, which FTS5 takes
// shortened too. none: the index has no texts at all.
func contentOf(ddl string) (source string, none bool) {
	if !isVirtual(ddl) || indexTables[module(ddl)] == nil {
		return "", false
	}
	var before [3]string // an option is a comma or parenthesis, a name and an equal sign
	start, end := -1, 0
	for _, at := range sqlWords.FindAllStringIndex(ddl, -1) {
		word := ddl[at[0]:at[1]]
		if strings.TrimSpace(word) == "" || strings.HasPrefix(word, "--") || strings.HasPrefix(word, "/*") {
			continue
		}
		if start < 0 && (before[0] == "(" || before[0] == ",") && strings.HasPrefix("content", strings.ToLower(before[1])) && before[2] == "=" {
			start, end = at[0], at[0]
		}
		if start >= 0 && (word == "," || word == ")") {
			source = unquoted(ddl[start:end])
			return source, source == ""
		}
		before, end = [3]string{before[1], before[2], word}, at[1]
	}
	return "", false
}

// unquoted is a name or text of a definition without its quotes.
func unquoted(s string) string {
	if len(s) < 2 || !strings.Contains("'\"`[", s[:1]) {
		return s
	}
	end := s[len(s)-1:]
	return strings.ReplaceAll(s[1:len(s)-1], end+end, end)
}

// module is the kind of a virtual table: the word behind USING.
func module(ddl string) string {
	tokens := Tokens(ddl)
	i := slices.IndexFunc(tokens, func(t string) bool { return strings.EqualFold(t, "USING") })
	if i < 0 || i+1 == len(tokens) {
		return ""
	}
	return strings.ToLower(tokens[i+1])
}

func isVirtual(ddl string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(ddl)), "CREATE VIRTUAL TABLE")
}

// quote makes an identifier of a name that came from the file.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// owned are the conditions of a table's rows that belong to a person, each with one `?` for the id.
func (m Medium) owned(q *Query, table string) (out []string, err error) {
	for _, column := range m.Owners {
		if has, err := hasColumn(q, table, column); err != nil {
			return nil, err
		} else if has {
			out = append(out, quote(column)+` = ?`)
		}
	}
	if cond := m.OwnedRows[table]; cond != "" {
		out = append(out, cond)
	}
	return out, nil
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

// beneath lists the rows that apart leaves out, which are no items.
func (m Medium) beneath(ctx context.Context, req model.ScrubRequest) error {
	if len(req.Held) == 0 {
		return nil
	}
	return m.File.View(ctx, "texts", func(q *Query) error {
		tables, err := m.sideTables(q)
		for _, table := range tables {
			held, herr := m.allTies(q, table.name, req.Held)
			if err = cmp.Or(err, herr); err != nil {
				return err
			}
			for _, t := range held {
				cond, list := t.these()
				for _, p := range table.parts {
					err := eachOf(q, table.name, []string{`CAST(` + t.expr + ` AS TEXT)`}, p.columns, ` WHERE (`+cond+`)`+further(p.where), []any{list}, func(at, cells []any) error {
						of, _ := at[0].(string)
						for _, c := range cells {
							if text := words(c); text != "" {
								req.Beneath(t.of[of], text)
							}
						}
						return nil
					})
					if err != nil {
						return err
					}
				}
			}
		}
		return err
	})
}

// belongs counts the rows of a table that belong to the person, and to no item on hold.
func (m Medium) belongs(q *Query, table string, req model.ScrubRequest) (all int64, err error) {
	conditions, err := m.owned(q, table)
	for _, cond := range conditions {
		for _, s := range req.Subjects {
			where, args, err := m.apart(q, table, ` WHERE `+cond, req.Held, s)
			if err != nil {
				return 0, err
			}
			var n int64
			if _, err := q.One(`SELECT count(*) FROM `+quote(table)+where, args, &n); err != nil {
				return 0, err
			}
			all += n
		}
	}
	return all, err
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
	n, err := m.belongs(q, table, req)
	if err != nil || n == 0 {
		return d, refused, err
	}
	if refused, may := req.Permits(m.tableLayer(table), nil); !may {
		return d, refused, nil
	}
	conditions, err := m.owned(q, table)
	for _, cond := range conditions {
		for _, s := range req.Subjects {
			where, args, err := m.apart(q, table, ` WHERE `+cond, req.Held, s)
			if err == nil {
				err = d.where(where, args...)
			}
			if err != nil {
				return d, refused, err
			}
		}
	}
	return d, refused, err
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
	if err := eachRow(d.q, d.table, d.key, nil, cond, args, func(at, _ []any) error {
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
		return eachRow(q, table, key, columns, where, args, func(at, cells []any) error {
			if r := clean(at, cells, req, lists); r != nil {
				r.drop = r.drop && !p.beside
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
	whole, err := m.wholeRows(q, table, key)
	if err != nil {
		return t, refused, err
	}
	for n, r := range rows {
		r.drop = r.drop || whole[fmt.Sprint(r.at)] && refused.Layer == ""
		if leads, err := m.leading(q, table, key, r.at, columns); err != nil {
			return t, refused, err
		} else if maps.DeleteFunc(r.cells, func(i int, _ any) bool { return leads[columns[i]] }); len(r.cells) == 0 && !r.drop {
			continue
		}
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

// leading are the columns of a row whose values lead to items that are there.
func (m Medium) leading(q *Query, table string, key []string, at []any, columns []string) (map[string]bool, error) {
	out := map[string]bool{}
	for column, cond := range m.Leads {
		if !slices.Contains(columns, column) {
			continue
		}
		var n int64
		if _, err := q.One(`SELECT count(*) FROM `+quote(table)+rowOf(key)+` AND `+cond, at, &n); err != nil {
			return nil, err
		}
		out[column] = n > 0
	}
	return out, nil
}

// rowOf is the condition of the row with a key.
func rowOf(key []string) string {
	where := make([]string, len(key))
	for i, k := range key {
		where[i] = quote(k) + ` IS ?`
	}
	return ` WHERE ` + strings.Join(where, ` AND `)
}

// wholeRows are the rows of a table, by their key, that go as a whole when they name the person.
func (m Medium) wholeRows(q *Query, table string, key []string) (map[string]bool, error) {
	cond := m.NamedRows[table]
	if cond == "" {
		return nil, nil
	}
	out := map[string]bool{}
	err := eachRow(q, table, key, nil, ` WHERE `+cond, nil, func(at, _ []any) error {
		out[fmt.Sprint(at)] = true
		return nil
	})
	return out, err
}

// raw gives the value of a column for the id of an item.
func (m Medium) raw(column, id string) (string, bool) {
	if m.Raw == nil {
		return id, true
	}
	return m.Raw(column, id)
}

func hasColumn(q *Query, table, column string) (bool, error) {
	var n int64
	_, err := q.One(`SELECT count(*) FROM pragma_table_info(?) WHERE name = ?`, []any{table, column}, &n)
	return n > 0, err
}

// rowKey are the columns by which the rows of a table are addressed: the row's
// number, under a name that no column has taken, or the key of a table without;
// none for what is like a view.
func rowKey(q *Query, table string) ([]string, error) {
	var without int64
	found, err := q.One(`SELECT wr FROM pragma_table_list WHERE name = ? AND type IN ('table', 'virtual', 'shadow')`, []any{table}, &without)
	if err != nil || !found {
		return nil, err
	}
	var taken, key []string
	err = q.Each(`SELECT lower(name), name, pk FROM pragma_table_info(?) ORDER BY pk`, []any{table}, func(scan func(...any) error) error {
		var lower, name string
		var pk int64
		if err := scan(&lower, &name, &pk); err != nil {
			return err
		}
		if taken = append(taken, lower); pk > 0 {
			key = append(key, name)
		}
		return nil
	})
	if err != nil || without != 0 {
		return key, err
	}
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.Contains(taken, name) {
			return []string{name}, nil
		}
	}
	return nil, nil
}

// textColumns are the columns that can hold words: any may, whatever type it was
// declared with, and vectors do not.
func textColumns(q *Query, table string) ([]string, error) {
	all, err := Columns(q, table)
	return slices.DeleteFunc(all, func(c string) bool { return c == "embedding" }), err
}

// jsonb is a cell that SQLite keeps as binary JSON, as text: its lengths are part of the bytes,
// so that it is decoded, edited and encoded again.
type jsonb string

// eachRow hands out the key and the cells of the columns. The sign before each says
// nothing to SQLite, and keeps the driver from reading words as the times that a
// column was declared for.
func eachRow(q *Query, table string, key, columns []string, where string, args []any, fn func(at, cells []any) error) error {
	var at []string
	for _, c := range key {
		at = append(at, "+"+quote(c))
	}
	return eachOf(q, table, at, columns, where, args, fn)
}

// eachOf is eachRow with expressions in place of the key.
func eachOf(q *Query, table string, at, columns []string, where string, args []any, fn func(at, cells []any) error) error {
	what := slices.Clone(at)
	for _, c := range columns {
		what = append(what, "+"+quote(c))
	}
	for _, c := range columns { // 8: strictly well-formed JSONB
		what = append(what, "CASE WHEN typeof("+quote(c)+") = 'blob' AND json_valid("+quote(c)+", 8) THEN json("+quote(c)+") END")
	}
	all := make([]any, len(what))
	dest := make([]any, len(what))
	for i := range all {
		dest[i] = &all[i]
	}
	return q.Each(`SELECT `+strings.Join(what, `, `)+` FROM `+quote(table)+where, args, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		cells := all[len(at) : len(at)+len(columns)]
		for i, decoded := range all[len(at)+len(columns):] {
			if text, ok := decoded.(string); ok {
				cells[i] = jsonb(text)
			}
		}
		return fn(slices.Clone(all[:len(at)]), cells)
	})
}

// cleanRow holds the new cells of one row; cells that stay are nil.
type cleanRow struct {
	at    []any // its key
	cells map[int]any
	drop  bool
}

// clean is what becomes of a row; lists are, by column, the ids that a list of ids loses.
func clean(at, cells []any, req model.ScrubRequest, lists []map[string]bool) *cleanRow {
	r := cleanRow{at: at, cells: map[int]any{}}
	for i, c := range cells {
		text := cellText(c)
		if n := number(c); n != "" && req.Concerns != nil && req.Concerns([]byte(spellings(n))) {
			r.drop = r.drop || req.Redact == nil
			r.cells[i] = noNumber{}
		}
		after := text
		if lists != nil && lists[i] != nil {
			var emptied bool
			after, emptied = jsonedit.WithoutTexts(text, func(id string) bool { return lists[i][id] })
			r.drop = r.drop || emptied
		}
		if req.Concerns != nil && after != "" && req.Concerns([]byte(after)) {
			if req.Redact == nil {
				r.drop = true
			} else {
				after = redacted(c, after, req)
			}
		}
		if after != text {
			r.cells[i] = likeCell(c, after)
		}
	}
	if len(r.cells) == 0 && !r.drop {
		return nil
	}
	return &r
}

// redacted returns the rest of a cell: nothing where the person cannot be taken out of it, as
// from one that is compressed.
func redacted(c any, text string, req model.ScrubRequest) string {
	after := req.Redact([]byte(text))
	if !req.Concerns(after) {
		return string(after)
	}
	if _, ok := c.(jsonb); ok {
		return `""`
	}
	return ""
}

// leastDigits is how many digits a number needs before it can be a person's: shorter ones count things.
const leastDigits = 6

// number is a cell's number as its digits; empty for a cell that is none, or whose number is too short or no
// whole one.
func number(c any) string {
	var n int64
	switch v := c.(type) {
	case int64:
		n = v
	case float64:
		if n = int64(v); float64(n) != v || v > 1<<53 || v < -1<<53 {
			return ""
		}
	}
	text := strconv.FormatInt(n, 10)
	if len(strings.TrimPrefix(text, "-")) < leastDigits {
		return ""
	}
	return text
}

// spellings are the ways to write a number: a column of numbers keeps no zeros before it. The marks between
// them join nothing.
func spellings(n string) string { return n + ";0" + n + ";00" + n + ";" }

// words are a cell's text, or the ways to write its number.
func words(c any) string {
	if n := number(c); n != "" {
		return spellings(n)
	}
	return cellText(c)
}

// noNumber stands where a number was: nothing, or where the table wants a number, one that is nobody's.
type noNumber struct{}

// cellText is a cell's text.
func cellText(c any) string {
	switch v := c.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case jsonb:
		return string(v)
	}
	return ""
}

// likeCell is a text as a cell of the kind that another is.
func likeCell(c any, text string) any {
	switch c.(type) {
	case []byte:
		return []byte(text)
	case jsonb:
		return jsonb(text)
	}
	return text
}

// writeOnce writes a row, and once more with numbers behind what is new, or below zero, where the
// table takes a value once only. Of a row that cannot be changed it changes the cells that can; some: the row was changed, or a part of it.
func (r cleanRow) writeOnce(q *Query, table string, key, columns []string, n int) (some bool, err error) {
	for i, v := range r.cells {
		if v != (noNumber{}) {
			continue
		}
		var wanted int64
		if _, err := q.One(`SELECT "notnull" <> 0 OR pk > 0 FROM pragma_table_info(?) WHERE name = ?`, []any{table, columns[i]}, &wanted); err != nil {
			return false, err
		}
		if r.cells[i] = nil; wanted != 0 {
			r.cells[i] = int64(0)
		}
	}
	write := func(r cleanRow) error {
		return q.Atomically(func() error { return r.write(q, table, key, columns) })
	}
	if err = write(r); err == nil || q.broken != nil || r.drop {
		return err == nil, err
	}
	was := maps.Clone(r.cells)
	for i, v := range r.cells {
		switch v := v.(type) {
		case string:
			r.cells[i] = fmt.Sprintf("%s-%d", v, n+1)
		case []byte:
			r.cells[i] = fmt.Appendf(slices.Clone(v), "-%d", n+1)
		case int64:
			r.cells[i] = int64(-n - 1)
		}
	}
	if err = write(r); err == nil || q.broken != nil || len(was) < 2 {
		return err == nil, err
	}
	primary, perr := Texts(q, `SELECT name FROM pragma_table_info(?) WHERE pk > 0`, table)
	if perr != nil {
		return false, perr
	}
	at := slices.Clone(r.at)
	for _, last := range []bool{false, true} { // with another key a row has another address
		for i, c := range columns {
			v, changes := was[i]
			if q.broken != nil || !changes || slices.Contains(primary, c) != last || write(cleanRow{at: at, cells: map[int]any{i: v}}) != nil {
				continue
			}
			some = true
			if k := slices.Index(key, c); k >= 0 {
				at[k] = v
			}
		}
	}
	return some, err
}

func (r cleanRow) write(q *Query, table string, key, columns []string) error {
	this := rowOf(key)
	if r.drop {
		_, err := q.Exec(`DELETE FROM `+quote(table)+this, r.at...)
		return err
	}
	var set []string
	var args []any
	for i, v := range r.cells {
		put := ` = ?`
		if text, ok := v.(jsonb); ok {
			put, v = ` = jsonb(?)`, string(text)
		}
		set, args = append(set, quote(columns[i])+put), append(args, v)
	}
	_, err := q.Exec(`UPDATE `+quote(table)+` SET `+strings.Join(set, `, `)+this, append(args, r.at...)...)
	return err
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

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// mergeIndexes leaves each full-text index one segment without dead words. One
// that ever had secure-delete keeps words in its page index that only a rebuild
// clears (erasure-physical.md, finding 2).
func (m Medium) mergeIndexes(q *Query, step func(string, string)) error {
	_, tables, err := Tables(q)
	if err != nil {
		return err
	}
	for table, ddl := range tables {
		kind := module(ddl)
		if !isVirtual(ddl) || indexTables[kind] == nil {
			continue
		}
		command := "optimize"
		if kind == "fts5" {
			var secure int64
			if _, err := q.One(`SELECT count(*) FROM `+quote(table+"_config")+` WHERE k = 'secure-delete' AND v <> 0`, nil, &secure); err != nil {
				return err
			}
			if _, none := contentOf(ddl); secure > 0 && !none {
				reads, err := readsTexts(q, table)
				if err != nil {
					return err
				}
				if reads {
					command = "rebuild"
				}
			}
		}
		step(m.File.Name, "text index: "+command)
		err := RetryBusy(q.ctx, func() error {
			return direct(q.ctx, q.conn, "scrub", fmt.Sprintf(`INSERT INTO %s (%s) VALUES ('%s')`, quote(table), quote(table), command))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// textIndex is a full-text index over a table or view that holds no items.
type textIndex struct {
	name, source string
	follows      bool // rows of the source change with those of other tables
	lost         bool // the source is missing or cannot be read
}

// foreignIndexes are the full-text indexes over tables and views that hold no items.
func (m Medium) foreignIndexes(q *Query) ([]textIndex, error) {
	names, ddl, err := Tables(q)
	if err != nil {
		return nil, err
	}
	var out []textIndex
	for _, name := range names {
		source, _ := contentOf(ddl[name])
		items := func(table string) bool { return strings.EqualFold(table, source) }
		if source == "" || slices.ContainsFunc(slices.Collect(maps.Keys(m.Items)), items) {
			continue
		}
		ix := textIndex{name: name}
		var follows int64
		found, err := q.One(`SELECT name, type = 'view' OR EXISTS (SELECT 1 FROM pragma_foreign_key_list(m.name)) FROM sqlite_master m
			WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE`, []any{source}, &ix.source, &follows)
		if err != nil {
			return nil, err
		}
		reads := false
		if found {
			if reads, err = readsTexts(q, name); err != nil {
				return nil, err
			}
		}
		ix.follows, ix.lost = follows != 0, !reads
		for _, column := range slices.Concat(m.Tied, m.Owners) { // the store removes such rows with an item
			tied, err := hasColumn(q, ix.source, column)
			if err != nil {
				return nil, err
			}
			ix.follows = ix.follows || tied
		}
		out = append(out, ix)
	}
	return out, nil
}

// readsTexts reports whether a full-text index can read the texts that it refers to.
func readsTexts(q *Query, index string) (bool, error) {
	return works(q, `SELECT * FROM `+quote(index)+` LIMIT 1`)
}

// works reports whether SQLite can carry out a query.
func works(q *Query, query string) (bool, error) {
	apart := &Query{ctx: q.ctx, conn: q.conn, op: q.op} // that it cannot breaks no transaction
	var n int64
	_, err := apart.One(`SELECT count(*) FROM (`+query+`)`, nil, &n)
	if model.KindOf(err) == model.Internal {
		return false, nil
	}
	return err == nil, err
}

// rebuildIndexes rebuilds each foreign index whose source has changed rows, because it keeps the words that these rows had.
// It runs in the transaction that changes the rows: no later run sees that they changed. The other indexes stay, because a
// rebuild also indexes rows that their program left out.
func (m Medium) rebuildIndexes(q *Query, req model.ScrubRequest, done []model.LayerResult, step func(string, string)) error {
	indexes, err := m.foreignIndexes(q)
	if err != nil {
		return err
	}
	some := len(req.Removed)+len(req.Edited) > 0
	changed := map[string]bool{}
	for _, r := range done {
		some = some || r.Rows > 0
		changed[r.Layer] = changed[r.Layer] || r.Rows > 0 || r.Verdict == model.VerdictUnaudited
	}
	for _, ix := range indexes {
		rows, looked := changed[m.tableLayer(ix.source)]
		if ix.lost || !rows && !(some && (ix.follows || !looked)) {
			continue
		}
		step(m.File.Name, "text index: rebuild")
		if _, err := q.Exec(fmt.Sprintf(`INSERT INTO %s (%s) VALUES ('rebuild')`, quote(ix.name), quote(ix.name))); err != nil {
			return err
		}
	}
	return nil
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
