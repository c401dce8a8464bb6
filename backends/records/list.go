package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/internal/cursor"
	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// bookmark is the row at which a page ends; a cursor holds it.
type bookmark struct {
	At    string // the order's value
	Table int
	Key   string
}

// window is one read of a list: a number of places from a place on.
type window struct {
	tier, scope string
	order       model.Order
	hidden      bool
	reverse     bool
	after       *bookmark
	limit       int
	needle      string // folded text that the items must contain; empty: any
}

// List returns one page. A query is searched in ids, titles, texts and metadata without regard to letter
// case; its total is a lower bound until the list was read to its end.
func (a *store) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	const op = "list"
	if err := a.begin(ctx, op, false); err != nil {
		return model.Page{}, err
	}
	w, back, err := a.window(op, req)
	if err != nil {
		return model.Page{}, err
	}
	var page model.Page
	err = a.DB.View(ctx, op, func(tx Tx) error {
		page = model.Page{}
		if err := a.checkScope(tx, op, req.Scope); err != nil {
			return err
		}
		items, places, more, lost, err := a.fill(ctx, tx, w, req)
		if err != nil {
			return err
		}
		if w.reverse {
			slices.Reverse(items)
			slices.Reverse(places)
		}
		for _, it := range items {
			page.Items = append(page.Items, it.Header)
		}
		if n := len(places); n > 0 {
			border := func(p bookmark, before bool) string {
				return listOf(req).Encode(cursor.Place{Before: before, Number: int64(p.Table), Text: p.At, ID: p.Key})
			}
			if w.reverse && more || !w.reverse && w.after != nil {
				page.Prev = border(places[0], true)
			}
			if !w.reverse && more || w.reverse && back {
				page.Next = border(places[n-1], false)
			}
		}
		if page.Total, err = a.total(tx, w, req, int64(len(items)), more); err != nil {
			return err
		}
		page.Problems, err = a.unread(tx, lost)
		page.Total.AtLeast = page.Total.AtLeast || len(page.Problems) > 0
		return err
	})
	return page, model.Wrap(op, err)
}

// bound says which part of the store could not be read; nothing where it is complete.
func (a *store) bound(tx Tx) ([]string, error) {
	if a.Bound == nil {
		return nil, nil
	}
	why, err := a.Bound(tx)
	if why == "" {
		return nil, err
	}
	return []string{why}, err
}

// unread is bound, and the rows that cannot be items: SQLite permits NULL and bytes in the primary keys of other programs'
// tables. lost is the number of rows that were found and could not be read by their keys.
func (a *store) unread(tx Tx, lost int) ([]string, error) {
	out, err := a.bound(tx)
	if lost > 0 {
		out = append(out, fmt.Sprintf("rows that cannot be read by their keys (%d) are not shown", lost))
	}
	for i := range a.Tables {
		t := &a.Tables[i]
		if err != nil || a.Collate != "" {
			break // PostgreSQL permits none
		}
		var n int64
		if _, err = One(tx, `SELECT count(*) FROM `+t.From+` WHERE `+t.nameless(), nil, &n); n > 0 {
			out = append(out, fmt.Sprintf("rows of tier %s without an id of text (%d) are not shown: give them one, or delete them, with a program for SQLite", t.Tier.Name, n))
		}
	}
	return out, err
}

// window reads the request; back says that the page lies before a known place.
func (a *store) window(op string, req model.PageRequest) (w window, back bool, err error) {
	w = window{tier: req.Tier, scope: req.Scope, order: cmp.Or(req.Order, model.OrderID), hidden: req.Hidden, limit: model.PageLimit(req.Limit), reverse: req.End}
	if !slices.Contains([]model.Order{model.OrderID, model.OrderNewest, model.OrderOldest}, w.order) {
		return w, false, model.Errorf(model.InvalidInput, op, "unknown order %q: there are id, newest and oldest", string(req.Order))
	}
	if len(req.Query) > longestQuery {
		return w, false, model.Errorf(model.InvalidInput, op, "the query is longer than %d bytes", longestQuery)
	}
	if req.Tier != "" {
		if _, err := a.table(op, req.Tier); err != nil {
			return w, false, err
		}
	}
	if req.Cursor == "" {
		return w, false, nil
	}
	if req.End {
		return w, false, model.Errorf(model.InvalidInput, op, "the end of a list has no cursor")
	}
	p, err := listOf(req).Decode(op, req.Cursor)
	if err == nil && (p.Number < 0 || p.Number >= int64(len(a.Tables))) {
		err = cursor.Foreign(op)
	}
	w.after, w.reverse = &bookmark{At: p.Text, Table: int(p.Number), Key: p.ID}, p.Before
	return w, p.Before, err
}

func listOf(req model.PageRequest) cursor.List {
	return cursor.ListOf("rows", req.Tier, req.Scope, req.Query, cmp.Or(req.Order, model.OrderID), req.Hidden)
}

// checkScope is InvalidInput for a scope that no item has.
func (a *store) checkScope(tx Tx, op, scope string) error {
	if scope == "" {
		return nil
	}
	for i := range a.Tables {
		t := &a.Tables[i]
		if t.Scope == "" {
			continue
		}
		var one int64
		cond, arg := t.inScope(scope)
		found, err := One(tx, `SELECT 1 FROM `+t.From+t.where(true, cond)+` LIMIT 1`, []any{arg}, &one)
		if err != nil || found {
			return err
		}
	}
	return model.Errorf(model.InvalidInput, op, "no item is of scope %.200q", scope)
}

// fill collects a page, filtered by the request's query; more says that the list continues, and lost is as for unread.
func (a *store) fill(ctx context.Context, tx Tx, w window, req model.PageRequest) (items []model.Item, places []bookmark, more bool, lost int, err error) {
	const batch = 500
	want := w.limit
	if req.Query != "" {
		w.limit = max(batch, want)
	}
	needle := snippet.Fold(strings.TrimSpace(req.Query))
	w.needle = needle
	for {
		found, on, err := a.places(tx, w)
		if err != nil {
			return nil, nil, false, 0, err
		}
		rows, err := a.items(tx, found)
		if err != nil {
			return nil, nil, false, 0, err
		}
		for i, it := range rows {
			if it.ID == "" {
				lost++
				continue
			}
			if needle != "" && !Matches(it, needle) {
				continue
			}
			if len(items) == want {
				return items, places, true, lost, nil
			}
			items, places = append(items, it), append(places, found[i])
		}
		if !on || req.Query == "" {
			return items, places, on, lost, nil
		}
		if err := model.FromContext(ctx, "list"); err != nil {
			return nil, nil, false, 0, err
		}
		w.after = &found[len(found)-1]
	}
}

// Matches reports whether an item contains a folded text.
func Matches(it model.Item, needle string) bool {
	has := func(s string) bool { return strings.Contains(snippet.Fold(s), needle) }
	return has(it.Body) || has(it.Title) || has(it.ID) || slices.ContainsFunc(it.Meta, func(f model.Field) bool { return has(f.Value) })
}

// places returns the next places of a window, and whether there are more.
func (a *store) places(tx Tx, w window) (out []bookmark, more bool, err error) {
	var parts []string
	var args []any
	for i := range a.Tables {
		part, with, ok := a.part(i, w)
		if ok {
			parts, args = append(parts, part), append(args, with...)
		}
	}
	if len(parts) == 0 {
		return nil, false, nil
	}
	text := parts[0]
	if len(parts) > 1 {
		text = `SELECT t, k, a FROM (` + strings.Join(parts, ` UNION ALL `) + `) u` + w.sort("a", "t", "k"+a.collate()) + ` LIMIT ` + strconv.Itoa(w.limit+1)
	}
	err = tx.Each(text, args, func(scan func(...any) error) error {
		var p bookmark
		if err := scan(&p.Table, &p.Key, &p.At); err != nil {
			return err
		}
		out = append(out, p)
		return nil
	})
	if len(out) > w.limit {
		return out[:w.limit], true, err
	}
	return out, false, err
}

func (a *store) collate() string {
	if a.Collate == "" {
		return ""
	}
	return " " + a.Collate
}

// part selects a window's places in one table; false where it has none.
func (a *store) part(i int, w window) (text string, args []any, ok bool) {
	t := &a.Tables[i]
	if w.tier != "" && w.tier != t.Tier.Name || w.scope != "" && t.Scope == "" {
		return "", nil, false
	}
	at := "''"
	if w.order != model.OrderID && t.At != "" {
		at = a.instant(`COALESCE(` + t.At + `, '')`)
	}
	var cond []string
	if w.scope != "" {
		these, arg := t.inScope(w.scope)
		cond, args = append(cond, these), append(args, arg)
	}
	if may, with := a.mayHold(t.searched(), t.SearchJSON, w.needle); may != "" {
		cond, args = append(cond, may), append(args, with...)
	}
	if p := w.after; p != nil {
		on := " > "
		if w.down() {
			on = " < "
		}
		rest := "" // rows of the same time
		switch {
		case p.Table == i:
			rest = `(` + t.Key + `)` + a.collate() + on + `?`
		case p.Table < i == !w.down():
			rest = "1 = 1"
		}
		switch {
		case w.order == model.OrderID && rest == "":
			return "", nil, false
		case w.order == model.OrderID:
			cond = append(cond, rest)
		case rest == "":
			cond, args = append(cond, `(`+at+`)`+a.collate()+on+`?`), append(args, p.At)
		default:
			cond = append(cond, `((`+at+`)`+a.collate()+on+`? OR ((`+at+`) = ? AND `+rest+`))`)
			args = append(args, p.At, p.At)
		}
		if p.Table == i {
			args = append(args, p.Key)
		}
	}
	text = `SELECT ` + strconv.Itoa(i) + ` AS t, ` + t.Key + ` AS k, ` + at + ` AS a FROM ` + t.From + t.where(w.hidden, cond...) +
		w.sort("a", "", `(`+t.Key+`)`+a.collate()) + ` LIMIT ` + strconv.Itoa(w.limit+1)
	return `SELECT t, k, a FROM (` + text + `) p` + strconv.Itoa(i), args, true
}

// searched is Search, with the id where that is more than the key.
func (t *Table) searched() []string {
	if t.Prefix == "" || len(t.Search)+len(t.SearchJSON) == 0 {
		return t.Search
	}
	return append(slices.Clip(t.Search), `'`+t.Prefix+`' || `+t.Key)
}

// instant is a text that sorts a time by its instant, whatever zone it is written in: in UTC, then as it is
// written. A time that is none of ISO 8601 with a date sorts as it is written.
func (a *store) instant(at string) string {
	if a.Collate == "" { // SQLite
		return `(SELECT CASE WHEN x LIKE '____-__-__%' THEN COALESCE(strftime('%Y-%m-%dT%H:%M:%f', x) || ' ', '') ELSE '' END || x FROM (SELECT ` + at + ` AS x) times)`
	}
	// A cast to a time would end the query at a day that does not exist, and `?` is a parameter here.
	return `(SELECT COALESCE(to_char(make_date(q[1]::int, q[2]::int, 1) + (q[3]::int - 1) + (q[4] || q[5])::interval - COALESCE(q[8] || COALESCE(q[9], ':00'), '+00:00')::interval, 'YYYY-MM-DD"T"HH24:MI:SS.US') || ' ', '') || x
		FROM (SELECT x, regexp_match(x, '^([1-9][0-9]{3})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])[T ]([01][0-9]|2[0-3])(:[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9}){0,1})(Z|([+-][0-9]{2})(:[0-5][0-9]){0,1}){0,1}$') AS q FROM (SELECT ` + at + ` AS x) w) v)`
}

// down reports whether places are read from the last to the first: newest is oldest backwards.
func (w window) down() bool { return w.reverse != (w.order == model.OrderNewest) }

// sort orders by time, table number and key; empty ones are left out.
func (w window) sort(at, table, key string) string {
	way := ""
	if w.down() {
		way = " DESC"
	}
	var by []string
	for _, column := range []string{at, table, key} {
		if column != "" && (column != at || w.order != model.OrderID) {
			by = append(by, column+way)
		}
	}
	return ` ORDER BY ` + strings.Join(by, `, `)
}

// nameless is the condition of rows that cannot be items: without a prefix an empty key is no id, and no text equals bytes.
func (t *Table) nameless() string {
	cond := `(` + t.Key + `) IS NULL`
	if t.lite {
		cond += ` OR (` + t.Key + `) < '' OR (` + t.Key + `) >= x''` // numbers, and bytes: by the index
	}
	if t.Prefix == "" {
		cond += ` OR (` + t.Key + `) = ''`
	}
	return cond
}

// where joins a table's own conditions with more.
func (t *Table) where(hidden bool, more ...string) string {
	var cond []string
	for _, c := range append([]string{t.Where, `NOT (` + t.nameless() + `)`}, more...) {
		if c != "" {
			cond = append(cond, c)
		}
	}
	if !hidden && t.Gone != "" {
		cond = append(cond, `NOT COALESCE((`+t.Gone+`), FALSE)`)
	}
	return ` WHERE ` + strings.Join(cond, ` AND `)
}

// items reads the rows of places, in their order. A place that gives no row gives an item without an id.
func (a *store) items(tx Tx, places []bookmark) ([]model.Item, error) {
	out := make([]model.Item, len(places))
	for i := range a.Tables {
		at := map[string]int{}
		var keys []string
		for n, p := range places {
			if p.Table == i {
				at[p.Key] = n
				keys = append(keys, p.Key)
			}
		}
		t := &a.Tables[i]
		for part := range slices.Chunk(keys, 200) {
			err := t.rows(tx, part, func(r Row) { out[at[r.Key]] = t.item(r) })
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// rows reads the rows with these keys.
func (t *Table) rows(tx Tx, keys []string, yield func(Row)) error {
	cond, args := t.keyed(keys)
	return t.read(tx, true, cond, args, yield)
}

// keyed is the condition of the rows with these keys.
func (t *Table) keyed(keys []string) (cond string, args []any) {
	if t.Lookup != nil {
		return t.Lookup(keys)
	}
	for _, k := range keys {
		args = append(args, k)
	}
	return `(` + t.Key + `) IN (?` + strings.Repeat(`,?`, len(keys)-1) + `)`, args
}

// read reads the rows of a condition, in no order.
func (t *Table) read(tx Tx, hidden bool, cond string, args []any, yield func(Row)) error {
	text := `SELECT ` + strings.Join(append([]string{t.Key, `COALESCE(` + cmp.Or(t.Scope, "''") + `, '')`, `COALESCE(` + cmp.Or(t.At, "''") + `, '')`}, t.Columns...), `, `) +
		` FROM ` + t.From + t.where(hidden, cond)
	return tx.Each(text, args, func(scan func(...any) error) error {
		var r Row
		var when string
		r.Cells = make([]any, len(t.Columns))
		dest := []any{&r.Key, &r.Scope, &when}
		for i := range r.Cells {
			dest = append(dest, &r.Cells[i])
		}
		if err := scan(dest...); err != nil {
			return err
		}
		r.At = Time(when)
		yield(r)
		return nil
	})
}

// row reads one row.
func (t *Table) row(tx Tx, key string) (r Row, found bool, err error) {
	err = t.rows(tx, []string{key}, func(got Row) { r, found = got, true })
	return r, found, err
}

// row reads one row; an absent one of a store that was not read whole is Unsupported: it may be there.
func (a *store) row(tx Tx, op string, t *Table, key string) (Row, bool, error) {
	r, found, err := t.row(tx, key)
	if err != nil || found {
		return r, found, err
	}
	why, err := a.bound(tx)
	if len(why) > 0 {
		err = model.Errorf(model.Unsupported, op, "whether the store has the item is unknown: %s", why[0])
	}
	return r, false, err
}

// Time reads the spellings of times in foreign tables: ISO 8601 with T or a space, with or without a zone,
// and seconds, milliseconds, microseconds or nanoseconds since 1970. It is zero for anything else.
func Time(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999-07", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		switch { // the ranges meet in the year 5138
		case n > 1e17:
			return time.Unix(0, n).UTC()
		case n > 1e14:
			return time.UnixMicro(n).UTC()
		case n > 1e11:
			return time.UnixMilli(n).UTC()
		}
		return time.Unix(n, 0).UTC()
	}
	return time.Time{}
}

// total counts a list. With a query only the page's own items are known.
func (a *store) total(tx Tx, w window, req model.PageRequest, shown int64, more bool) (model.Count, error) {
	if req.Query != "" {
		return model.Count{N: shown, AtLeast: more || w.after != nil}, nil
	}
	var n int64
	for i := range a.Tables {
		t := &a.Tables[i]
		if w.tier != "" && w.tier != t.Tier.Name || w.scope != "" && t.Scope == "" {
			continue
		}
		var cond []string
		var args []any
		if w.scope != "" {
			these, arg := t.inScope(w.scope)
			cond, args = append(cond, these), append(args, arg)
		}
		var c int64
		if _, err := One(tx, `SELECT count(*) FROM `+t.From+t.where(w.hidden, cond...), args, &c); err != nil {
			return model.Count{}, err
		}
		n += c
	}
	return model.Count{N: n}, nil
}

// Read returns one item.
func (a *store) Read(ctx context.Context, id string) (model.Item, error) {
	const op = "read"
	if err := a.begin(ctx, op, false); err != nil {
		return model.Item{}, err
	}
	t, key, err := a.locate(op, id)
	if err != nil {
		return model.Item{}, err
	}
	var it model.Item
	err = a.DB.View(ctx, op, func(tx Tx) error {
		r, found, err := a.row(tx, op, t, key)
		if err == nil && !found {
			err = absent(op, id)
		}
		if err == nil {
			it = t.item(r)
		}
		return err
	})
	return it, model.Wrap(op, err)
}

// Tiers counts items and bytes by scope and tier.
func (a *store) Tiers(ctx context.Context) ([]model.TierCount, error) {
	const op = "tiers"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	var out []model.TierCount
	err := a.DB.View(ctx, op, func(tx Tx) error {
		out = nil
		for i := range a.Tables {
			t := &a.Tables[i]
			if t.Size == "" {
				continue
			}
			err := tx.Each(`SELECT s, count(*), CAST(COALESCE(sum(n), 0) AS BIGINT) FROM (SELECT COALESCE(`+cmp.Or(t.Scope, "''")+`, '') AS s, `+t.Size+` AS n FROM `+t.From+t.where(true)+`) x GROUP BY s ORDER BY s`, nil,
				func(scan func(...any) error) error {
					c := model.TierCount{Tier: t.Tier.Name}
					if err := scan(&c.Scope, &c.Items, &c.Bytes); err != nil {
						return err
					}
					c.Scope = t.scope(c.Scope)
					out = append(out, c)
					return nil
				})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		out, err = a.countItems(ctx, op, out)
	}
	return out, model.Wrap(op, err)
}

// countItems counts the tiers whose rows have no size.
func (a *store) countItems(ctx context.Context, op string, out []model.TierCount) ([]model.TierCount, error) {
	for i := range a.Tables {
		t := &a.Tables[i]
		if t.Size != "" {
			continue
		}
		at := map[string]int{}
		_, err := a.each(ctx, op, t.Tier.Name, true, func(it model.Item) bool {
			n, known := at[it.Scope]
			if !known {
				n = len(out)
				at[it.Scope], out = n, append(out, model.TierCount{Tier: t.Tier.Name, Scope: it.Scope})
			}
			out[n].Items++
			out[n].Bytes += it.Bytes
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// each reads all rows in the order of their ids, a batch at a time, until yield returns false. Rows written
// meanwhile may be seen or not. lost is as for unread.
func (a *store) each(ctx context.Context, op, tier string, hidden bool, yield func(model.Item) bool) (lost int, err error) {
	w := window{tier: tier, order: model.OrderID, hidden: hidden, limit: 500}
	for {
		var found []bookmark
		var items []model.Item
		var more bool
		err := a.DB.View(ctx, op, func(tx Tx) (err error) {
			if found, more, err = a.places(tx, w); err == nil {
				items, err = a.items(tx, found)
			}
			return err
		})
		if err != nil {
			return lost, err
		}
		for _, it := range items {
			if it.ID == "" {
				lost++
			} else if !yield(it) {
				return lost, nil
			}
		}
		if !more {
			return lost, nil
		}
		w.after = &found[len(found)-1]
	}
}

// EachText yields the texts of all items.
func (a *store) EachText(ctx context.Context, yield func(model.Text, error) bool) ([]string, error) {
	const op = "texts"
	if err := a.begin(ctx, op, false); err != nil {
		return nil, err
	}
	lost, err := a.each(ctx, op, "", true, func(it model.Item) bool {
		return yield(model.Text{ID: it.ID, Body: it.Body, Meta: it.Meta, Whole: func() model.Item { return it }}, nil)
	})
	var problems []string
	if err == nil {
		err = a.DB.View(ctx, op, func(tx Tx) (err error) {
			problems, err = a.unread(tx, lost)
			return err
		})
	}
	return problems, model.Wrap(op, err)
}
