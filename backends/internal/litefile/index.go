package litefile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"memdesk/model"
)

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

// contentOf is the table or view whose texts a full-text index refers to: its option content, which FTS5 takes
// shortened too. none: the index has no texts at all.
func contentOf(ddl string) (source string, none bool) {
	if !isVirtual(ddl) || indexTables[module(ddl)] == nil {
		return "", false
	}
	var before [3]string // an option is a comma or parenthesis, a name and an equal sign
	start, end := -1, 0
	for _, at := range tokens(ddl) {
		word := ddl[at[0]:at[1]]
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
	words := Tokens(ddl)
	i := slices.IndexFunc(words, func(t string) bool { return strings.EqualFold(t, "USING") })
	if i < 0 || i+1 == len(words) {
		return ""
	}
	return strings.ToLower(words[i+1])
}

func isVirtual(ddl string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(ddl)), "CREATE VIRTUAL TABLE")
}

// quote makes an identifier of a name that came from the file.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

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
