package mem0

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// fixed are the keys that say whose a memory is and what the program keeps of it.
var fixed = []string{"user_id", "agent_id", "run_id", "hash", "createdAt", "updatedAt", "created_at", "updated_at"}

// lemmatized are the spellings of the second copy of the text.
var lemmatized = []string{"textLemmatized", "text_lemmatized"}

// engine is how a database spells what the statements need; m is a row of the memories.
type engine struct {
	memories, entities string // the tables; no entities: there is no entity store
	id, vector         string // of row m
	payload            string // of row m, as text
	object             string // condition: the payload of row m is JSON
	key                func(name string) string
	today              string
	row                string // condition: the row with this id
	json               string // a parameter that is a payload
	holds              string // condition: the payload holds a text
	lookup             func(keys []string) (cond string, args []any)
	unescape           func(id string) (key string, ok bool)
	insert             string // a row of id, vector and payload into the table of this name, %s
}

var lite = engine{
	memories: "main.vectors", id: "m.id", vector: "m.vector", payload: "m.payload", object: "json_valid(m.payload)",
	key: func(name string) string {
		return `CASE WHEN json_valid(m.payload) THEN json_extract(m.payload, '$.` + name + `') END`
	},
	today: "date('now')", row: "id = ?", json: "?", holds: "instr(payload, ?) > 0",
	insert: `INSERT INTO %s (id, vector, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
}

func (s *store) tables() []records.Table {
	out := []records.Table{s.memoryTable()}
	if s.spoken != "" {
		out = append(out, s.messages())
	}
	return out
}

func (s *store) memoryTable() records.Table {
	part := func(name string) string {
		return `COALESCE('/` + name + `=' || ` + s.key(name) + `, '')`
	}
	expired := s.key("expiration_date") + ` < ` + s.today
	t := records.Table{
		Tier: model.TierSpec{Name: "memory", Title: "what was remembered of somebody", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		From: s.memories + " m", Key: s.id, Scope: `substr(` + part("user_id") + ` || ` + part("agent_id") + ` || ` + part("run_id") + `, 2)`,
		At:      `COALESCE(` + strings.Join([]string{s.key("updatedAt"), s.key("updated_at"), s.key("createdAt"), s.key("created_at")}, ", ") + `)`,
		Size:    `COALESCE(octet_length(CASE WHEN ` + s.object + ` THEN ` + s.key("data") + ` ELSE ` + s.payload + ` END), 0)`,
		Gone:    expired,
		Vector:  s.vector,
		Columns: []string{s.payload, `CASE WHEN ` + expired + ` THEN '1' ELSE '0' END`},
		Search:  []string{s.id}, SearchJSON: []string{s.payload},
		Lookup: s.lookup, Unescape: s.unescape,
		Item: memory,
		ReadOnly: func(r records.Row, it model.Item) string {
			if it.Has(model.FlagUnreadable) {
				return "the payload is no JSON object: the memory can be forgotten, not edited"
			}
			return ""
		},
		Save: s.save, Keep: s.keep, Revive: s.revive,
		Drop: func(tx records.Tx, r records.Row) error {
			if err := s.dropHistory(tx, r.Key); err != nil {
				return err
			}
			return s.dropMemory(tx, r)
		},
	}
	if s.history != "" {
		t.DropKeeping = s.dropMemory
	}
	return t
}

// memory reads a payload: data is the text, every other key a field (M02).
func memory(r records.Row) model.Item {
	var it model.Item
	o, err := jsonedit.Parse([]byte(r.Text(0)))
	if err != nil {
		return model.Item{Body: r.Text(0), Header: model.Header{Flags: []model.Flag{model.FlagUnreadable}}}
	}
	it.Body, _ = o.Text("data")
	seen := map[string]bool{"data": true}
	for _, m := range o.Members {
		if !seen[m.Name] {
			seen[m.Name] = true
			v, _ := o.Text(m.Name)
			it.Meta = append(it.Meta, model.Field{Name: m.Name, Value: v, ReadOnly: slices.Contains(fixed, m.Name)})
		}
	}
	if r.Text(1) != "0" {
		it.Flags = []model.Flag{model.FlagExpired}
	}
	return it
}

// save sets text and hash, drops the lemmatized copy of the old text and appends a row to the
// history, as the program does. Every other key keeps its place and spelling (M02). What an
// erasure removes is not written down again.
func (s *store) save(tx records.Tx, c *records.Change) error {
	o, err := jsonedit.Parse([]byte(c.Row.Text(0)))
	if err != nil {
		return model.Errorf(model.Unsupported, "retain", "the payload is no JSON object")
	}
	if err := setFields(o, c.Old.Meta, c.New.Meta); err != nil {
		return err
	}
	now := c.Now.Format("2006-01-02T15:04:05.000Z")
	o.Set(jsonedit.Quote(c.New.Body), "data")
	o.Set(jsonedit.Quote(sum(c.New.Body)), "hash")
	updated := []string{"updatedAt", "updated_at"}
	if o.Find("createdAt") < 0 && o.Find("created_at") >= 0 {
		slices.Reverse(updated)
	}
	o.Set(jsonedit.Quote(now), updated...)
	for _, name := range lemmatized {
		o.Remove(name)
	}
	if c.New.Body != c.Old.Body {
		c.Warnings = append(c.Warnings, "semantic recall finds it by the old meaning until the program re-embeds it")
		if !strings.Contains(c.New.Body, model.Erased) {
			if err := s.appendHistory(tx, c, now); err != nil {
				return err
			}
		}
	}
	return records.Updated(tx.Exec(`UPDATE `+s.memories+` SET payload = `+s.json+` WHERE `+s.row+` AND payload = `+s.json, string(o.Line), c.Row.Key, c.Row.Text(0)))
}

// setFields writes the caller's own keys. A value that was a number, an object or a list stays
// one; another is text.
func setFields(o *jsonedit.Object, old, want []model.Field) error {
	keep := map[string]bool{}
	for _, f := range want {
		keep[f.Name] = true
		if f.Name == "data" {
			return model.Errorf(model.InvalidInput, "retain", "the text is the body, not the field data")
		}
		have, isText := o.Text(f.Name)
		switch {
		case o.Find(f.Name) >= 0 && have == f.Value:
		case o.Find(f.Name) >= 0 && !isText && json.Valid([]byte(f.Value)):
			o.Set([]byte(f.Value), f.Name)
		default:
			o.Set(jsonedit.Quote(f.Value), f.Name)
		}
	}
	for _, f := range old {
		if !keep[f.Name] && !f.ReadOnly {
			o.Remove(f.Name)
		}
	}
	return nil
}

var spokenColumns = []string{"id", "session_scope", "role", "content", "name", "created_at"}

// messages are what was said in a session: a record, which is not edited (M03).
func (s *store) messages() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "message", Title: "a record of what was said: it can be forgotten, not edited", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		Prefix: "message/", Search: []string{"m.content", "m.id", "m.role", "m.name", "m.session_scope"}, From: s.spoken + " m", Key: "m.id", Scope: "m.session_scope", At: "m.created_at",
		Size: `COALESCE(length(CAST(m.content AS BLOB)), 0)`, Columns: []string{"m.content", "m.role", "m.name"},
		Item: func(r records.Row) model.Item {
			it := model.Item{Body: r.Text(0), Meta: []model.Field{{Name: "role", Value: r.Text(1), ReadOnly: true}, {Name: "session_scope", Value: r.Scope, ReadOnly: true}}}
			if r.Text(2) != "" {
				it.Meta = append(it.Meta, model.Field{Name: "name", Value: r.Text(2), ReadOnly: true})
			}
			return it
		},
		Drop: func(tx records.Tx, r records.Row) error {
			_, err := tx.Exec(`DELETE FROM `+s.spoken+` WHERE id = ?`, r.Key)
			return err
		},
		Keep: func(tx records.Tx, r records.Row) ([]model.BesideRow, error) {
			return records.KeepRows(tx, "messages", spokenColumns, `SELECT `+strings.Join(spokenColumns, `, `)+` FROM `+s.spoken+` WHERE id = ?`, r.Key)
		},
		Revive: func(tx records.Tx, _ string, rows []model.BesideRow) error {
			for _, r := range rows {
				if err := records.InsertRow(tx, s.spoken, spokenColumns, r); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// sum is the hash that mem0 keeps of a text.
func sum(text string) string {
	h := md5.Sum([]byte(text))
	return hex.EncodeToString(h[:])
}
