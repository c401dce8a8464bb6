package langgraph

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// A row's key is its namespace, unit and its key. unit is a control character and \x01: one that a label contains is
// followed by \x02.
const (
	control = "\x1f"
	unit    = control + "\x01"
)

// sqlKey is joined in SQL, of a row.
func sqlKey(row, ns string) string {
	return "replace(" + row + "." + ns + ", chr(31), chr(31) || chr(2)) || chr(31) || chr(1) || " + row + ".key"
}

func joined(space, key string) string {
	return strings.ReplaceAll(space, control, control+"\x02") + unit + key
}

func parted(joined string) (space, key string) {
	space, key, _ = strings.Cut(joined, unit)
	return strings.ReplaceAll(space, control+"\x02", control), key
}

// storeColumns are the columns of the store that both packages know, beside the namespace's.
var storeColumns = []string{"key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes"}

// values are the rows of the store.
func (l layout) values() records.Table {
	ns, sep := l.namespace()
	columns := []string{"m.value::text", "m." + ns, "m.key", l.column("created_at") + "::text", l.column("updated_at") + "::text", "COALESCE(" + l.column("expires_at") + "::text, '')", "COALESCE(" + l.column("expires_at") + " < now(), FALSE)::text"}
	if l.has("store_vectors") {
		columns = append(columns, `EXISTS (SELECT 1 FROM `+l.table("store_vectors")+` v WHERE v.`+ns+` = m.`+ns+` AND v.key = m.key)::text`)
	} else {
		columns = append(columns, "'false'")
	}
	if slices.Contains(l.have["store"], "ttl_minutes") {
		columns = append(columns, "COALESCE(m.ttl_minutes::text, '')")
	} else {
		columns = append(columns, "''")
	}
	known := append(slices.Clone(storeColumns), ns)
	if slices.ContainsFunc(l.have["store"], func(c string) bool { return !slices.Contains(known, c) }) {
		columns = append(columns, `(to_jsonb(m) - ARRAY['`+strings.Join(known, `','`)+`'])::text`)
	} else {
		columns = append(columns, "''")
	}
	vector := ""
	if slices.Contains(l.have["store_vectors"], "embedding") {
		vector = `(SELECT v.embedding::text FROM ` + l.table("store_vectors") + ` v WHERE v.` + ns + ` = m.` + ns + ` AND v.key = m.key LIMIT 1)`
	}
	return records.Table{
		Vector: vector,
		Tier: model.TierSpec{Name: "store", Title: "values by namespace and key", KeyRule: model.KeyRequired, KeyHint: "LABEL/LABEL/KEY, by id", Document: model.Structured, Text: model.TextObject,
			Renews: []string{"updated_at", "vector"}},
		From: l.table("store") + " m", Key: sqlKey("m", ns), Scope: "m." + ns, At: "to_char(" + l.column("updated_at") + " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US')",
		Gone: l.column("expires_at") + " < now()", Columns: columns, Search: []string{"m." + ns, "m.key"}, SearchJSON: []string{"to_jsonb(m)::text"},
		Lookup: func(keys []string) (string, []any) {
			var args []any
			for _, k := range keys {
				space, key := parted(k)
				args = append(args, space, key)
			}
			return `(m.` + ns + `, m.key) IN ((?,?)` + strings.Repeat(`,(?,?)`, len(keys)-1) + `)`, args
		},
		ScopeOf:  func(space string) string { return model.EncodeID(labels(space, sep)) },
		ScopeIn:  func(scope string) string { return spaceOf(scope, sep) },
		Escape:   func(key string) string { return idOf(key, sep) },
		Unescape: func(id string) (string, bool) { return keyOf(id, sep) },
		Item:     func(r records.Row) model.Item { return value(r, sep) },
		Save:     l.save, Create: l.create, Recreate: l.insert, Drop: l.drop, Keep: l.keep, Renew: l.renew,
	}
}

// lasting are the columns that say since when and how long a row is there, each with its type.
func (l layout) lasting() (out [][2]string) {
	for _, c := range [][2]string{{"created_at", "timestamptz"}, {"expires_at", "timestamptz"}, {"ttl_minutes", "int"}} {
		if slices.Contains(l.have["store"], c[0]) {
			out = append(out, c)
		}
	}
	return out
}

// keep reads how long a row is to last: one with a time limit has it again under another key, and after an undo.
func (l layout) keep(tx records.Tx, r records.Row) ([]model.BesideRow, error) {
	ns, _ := l.namespace()
	space, key := parted(r.Key)
	row := model.BesideRow{Table: model.FileRow}
	for _, c := range l.lasting() {
		var text string
		if _, err := records.One(tx, `SELECT COALESCE(`+c[0]+`::text, '') FROM `+l.table("store")+` WHERE `+ns+` = ? AND key = ?`, []any{space, key}, &text); err != nil {
			return nil, err
		}
		row.Cells = append(row.Cells, model.BesideCell{Column: c[0], Type: model.CellText, Value: text})
	}
	return []model.BesideRow{row}, nil
}

// renew writes how long a row is to last.
func (l layout) renew(tx records.Tx, key string, row model.BesideRow) error {
	ns, _ := l.namespace()
	space, name := parted(key)
	for _, c := range l.lasting() {
		for _, cell := range row.Cells {
			if cell.Column != c[0] {
				continue
			}
			if _, err := tx.Exec(`UPDATE `+l.table("store")+` SET `+c[0]+` = NULLIF(?::text, '')::`+c[1]+` WHERE `+ns+` = ? AND key = ?`, cell.Value, space, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// labels writes a namespace as the beginning of an id; a first label that equals the word for threads is marked (LG1).
func labels(space, sep string) string {
	parts := strings.Split(space, sep)
	for i, p := range parts {
		parts[i] = records.Escape(p)
	}
	if parts[0] == "thread" {
		parts[0] = model.Inner + parts[0]
	}
	return strings.Join(parts, "/")
}

// spaceOf is the namespace of a scope.
func spaceOf(scope, sep string) string {
	id, err := model.DecodeID(scope)
	if err != nil {
		return scope
	}
	key, _ := keyOf(id+"/", sep)
	space, _ := parted(key)
	return space
}

// idOf writes labels and key as an id.
func idOf(key, sep string) string {
	space, key := parted(key)
	return labels(space, sep) + "/" + records.Escape(key)
}

func keyOf(id, sep string) (string, bool) {
	if rest, ok := strings.CutPrefix(id, model.Inner+"thread/"); ok {
		id = "thread/" + rest
	}
	parts := entity.Parts(id)
	last := len(parts) - 1
	return joined(strings.Join(parts[:last], sep), parts[last]), last > 0
}

// value reads a row. Its text is the stored JSON, indented (LG2).
func value(r records.Row, sep string) model.Item {
	var b bytes.Buffer
	if json.Indent(&b, []byte(r.Text(0)), "", "  ") != nil {
		b.WriteString(r.Text(0))
	}
	it := model.Item{Body: b.String(), Header: model.Header{Title: heading(r.Text(0), r.Text(2))}, Meta: fields.ReadOnly("key", r.Text(2), "namespace", strings.ReplaceAll(r.Text(1), sep, "/"),
		"created_at", r.Text(3), "updated_at", r.Text(4), "expires_at", r.Text(5), "ttl_minutes", r.Text(8), "vector", map[string]string{"true": "yes", "false": "no"}[r.Text(7)])}
	if r.Text(9) != "" {
		it.Meta = append(it.Meta, model.Field{Name: "columns", Value: r.Text(9), ReadOnly: true, Sealed: true})
	}
	if r.Text(6) == "true" {
		it.Flags = []model.Flag{model.FlagExpired}
	}
	return it
}

// heading is the first of the usual texts in a value, else its first text, else the key.
func heading(raw, key string) string {
	o, err := jsonedit.Parse([]byte(raw))
	if err != nil {
		return key
	}
	text := func(name string) string {
		if v := o.Raw(name); len(v) > 0 && v[0] == '"' {
			s, _ := o.Text(name)
			return s
		}
		return ""
	}
	for _, name := range []string{"text", "content", "data", "title"} {
		if s := text(name); s != "" {
			return s
		}
	}
	for _, m := range o.Members {
		if s := text(m.Name); s != "" {
			return s
		}
	}
	return key
}

// object returns InvalidInput for a text that is not exactly one JSON object.
func object(body string) error {
	if _, err := jsonedit.Parse([]byte(body)); err != nil || !json.Valid([]byte(body)) {
		return model.Errorf(model.InvalidInput, "retain", "a value is one JSON object")
	}
	return nil
}

// save writes a value whose row is unchanged since it was read, and removes its vectors, which hold the old
// text (LG7).
func (l layout) save(tx records.Tx, c *records.Change) error {
	if err := object(c.New.Body); err != nil && (object(c.Row.Text(0)) == nil || !json.Valid([]byte(c.New.Body))) {
		return err // a row made by hand may hold another value, and must stay erasable
	}
	ns, _ := l.namespace()
	set := `value = ?::jsonb`
	if l.python {
		set += `, updated_at = now()`
	}
	space, key := parted(c.Row.Key)
	err := records.Updated(tx.Exec(`UPDATE `+l.table("store")+` SET `+set+` WHERE `+ns+` = ? AND key = ? AND COALESCE(updated_at::text, '') = ? AND value = ?::jsonb`,
		c.New.Body, space, key, c.Row.Text(4), c.Row.Text(0)))
	if err != nil || !l.has("store_vectors") {
		return err
	}
	n, err := tx.Exec(`DELETE FROM `+l.table("store_vectors")+` WHERE `+ns+` = ? AND key = ?`, space, key)
	if n > 0 {
		c.Warnings = append(c.Warnings, "its vectors held the old text and were removed: semantic recall misses it until the agent writes it again")
	}
	return err
}

func (l layout) create(tx records.Tx, key string, doc model.Document, _ string) ([]string, error) {
	if err := object(doc.Body); err != nil {
		return nil, err
	}
	_, sep := l.namespace()
	space, _ := parted(key)
	for i, label := range strings.Split(space, sep) {
		switch {
		case label == "" || strings.Contains(label, ".") || !l.python && strings.ContainsAny(label, `%_\`):
			return nil, model.Errorf(model.InvalidInput, "retain", "LangGraph refuses the label %.100q", label)
		case i == 0 && label == "langgraph":
			return nil, model.Errorf(model.InvalidInput, "retain", "the root label langgraph is LangGraph's own")
		}
	}
	return nil, l.insert(tx, key, doc)
}

// insert makes a row, also one that LangGraph refuses.
func (l layout) insert(tx records.Tx, key string, doc model.Document) error {
	if !json.Valid([]byte(doc.Body)) {
		return object(doc.Body)
	}
	ns, _ := l.namespace()
	space, name := parted(key)
	n, err := tx.Exec(`INSERT INTO `+l.table("store")+` (`+ns+`, key, value) VALUES (?, ?, ?::jsonb) ON CONFLICT DO NOTHING`, space, name, doc.Body)
	if err == nil && n == 0 {
		err = model.Errorf(model.AlreadyExists, "retain", "there is such a row already")
	}
	return err
}

// drop removes a row and its vectors; a hand-made table may lack the cascade (LG8).
func (l layout) drop(tx records.Tx, r records.Row) error {
	ns, _ := l.namespace()
	space, key := parted(r.Key)
	for _, t := range []string{"store_vectors", "store"} {
		if !l.has(t) {
			continue
		}
		if _, err := tx.Exec(`DELETE FROM `+l.table(t)+` WHERE `+ns+` = ? AND key = ?`, space, key); err != nil {
			return err
		}
	}
	return nil
}
