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

const value = `CASE WHEN json_valid(m.payload) THEN json_extract(m.payload, '$.`

func key(name string) string { return value + name + `') END` }

func (s *store) tables() []records.Table {
	out := []records.Table{s.memories()}
	if s.files.history != "" && !s.python {
		out = append(out, s.messages())
	}
	return out
}

func (s *store) memories() records.Table {
	part := func(name string) string {
		return `COALESCE('/` + name + `=' || ` + key(name) + `, '')`
	}
	t := records.Table{
		Tier: model.TierSpec{Name: "memory", Title: "what was remembered of somebody", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		From: "vectors m", Key: "m.id", Scope: `substr(` + part("user_id") + ` || ` + part("agent_id") + ` || ` + part("run_id") + `, 2)`,
		At:      `COALESCE(` + strings.Join([]string{key("updatedAt"), key("updated_at"), key("createdAt"), key("created_at")}, ", ") + `)`,
		Size:    `COALESCE(length(CAST(CASE WHEN json_valid(m.payload) THEN json_extract(m.payload, '$.data') ELSE m.payload END AS BLOB)), 0)`,
		Gone:    key("expiration_date") + ` < date('now')`,
		Vector:  "m.vector",
		Columns: []string{"m.payload", `COALESCE(` + key("expiration_date") + ` < date('now'), 0)`},
		Item:    memory,
		ReadOnly: func(r records.Row, it model.Item) string {
			if it.Has(model.FlagUnreadable) {
				return "the payload is no JSON object: the memory can be forgotten, not edited"
			}
			return ""
		},
		Save: s.save,
		Drop: func(tx records.Tx, r records.Row) error {
			if err := s.dropHistory(tx, r.Key); err != nil {
				return err
			}
			return s.dropMemory(tx, r)
		},
	}
	if s.files.history != "" {
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
	return records.Updated(tx.Exec(`UPDATE main.vectors SET payload = ? WHERE id = ? AND payload = ?`, string(o.Line), c.Row.Key, c.Row.Text(0)))
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

func (s *store) appendHistory(tx records.Tx, c *records.Change, now string) error {
	var err error
	switch {
	case s.files.history == "":
	case s.python:
		_, err = tx.Exec(`INSERT INTO `+historyName+`.history (id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted) VALUES (lower(hex(randomblob(16))), ?, ?, ?, 'UPDATE', ?, ?, 0)`,
			c.Row.Key, c.Old.Body, c.New.Body, now, now)
	default:
		_, err = tx.Exec(`INSERT INTO `+historyName+`.memory_history (memory_id, previous_value, new_value, action, created_at, updated_at, is_deleted) VALUES (?, ?, ?, 'UPDATE', ?, ?, 0)`,
			c.Row.Key, c.Old.Body, c.New.Body, now, now)
	}
	return err
}

// dropHistory removes every earlier text of a memory (M04).
func (s *store) dropHistory(tx records.Tx, id string) error {
	if s.files.history == "" {
		return nil
	}
	_, err := tx.Exec(`DELETE FROM `+s.historyTable()+` WHERE memory_id = ?`, id)
	return err
}

func (s *store) historyTable() string {
	if s.python {
		return historyName + ".history"
	}
	return historyName + ".memory_history"
}

// dropMemory removes a memory and its id from the entities that link to it; an entity with no
// link left goes too (M04).
func (s *store) dropMemory(tx records.Tx, r records.Row) error {
	if s.entities != "" {
		if err := unlink(tx, r.Key); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`DELETE FROM main.vectors WHERE id = ?`, r.Key)
	return err
}

func unlink(tx records.Tx, id string) error {
	type entity struct{ id, payload string }
	var linked []entity
	err := tx.Each(`SELECT id, payload FROM `+entitiesName+`.vectors WHERE instr(payload, ?) > 0`, []any{id}, func(scan func(...any) error) error {
		var e entity
		err := scan(&e.id, &e.payload)
		linked = append(linked, e)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range linked {
		o, err := jsonedit.Parse([]byte(e.payload))
		if err != nil {
			continue // Health names it
		}
		var links []string
		if json.Unmarshal(o.Raw("linkedMemoryIds"), &links) != nil || !slices.Contains(links, id) {
			continue
		}
		links = slices.DeleteFunc(links, func(l string) bool { return l == id })
		if len(links) == 0 {
			_, err = tx.Exec(`DELETE FROM `+entitiesName+`.vectors WHERE id = ?`, e.id)
		} else {
			var list []byte
			if list, err = json.Marshal(links); err == nil {
				o.Set(list, "linkedMemoryIds")
				_, err = tx.Exec(`UPDATE `+entitiesName+`.vectors SET payload = ? WHERE id = ?`, string(o.Line), e.id)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// messages are what was said in a session: a record, which is not edited (M03).
func (s *store) messages() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "message", Title: "a record of what was said: it can be forgotten, not edited", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		Prefix: "message/", From: historyName + ".messages m", Key: "m.id", Scope: "m.session_scope", At: "m.created_at",
		Size: `COALESCE(length(CAST(m.content AS BLOB)), 0)`, Columns: []string{"m.content", "m.role", "m.name"},
		Item: func(r records.Row) model.Item {
			it := model.Item{Body: r.Text(0), Meta: []model.Field{{Name: "role", Value: r.Text(1), ReadOnly: true}, {Name: "session_scope", Value: r.Scope, ReadOnly: true}}}
			if r.Text(2) != "" {
				it.Meta = append(it.Meta, model.Field{Name: "name", Value: r.Text(2), ReadOnly: true})
			}
			return it
		},
		Drop: func(tx records.Tx, r records.Row) error {
			_, err := tx.Exec(`DELETE FROM `+historyName+`.messages WHERE id = ?`, r.Key)
			return err
		},
	}
}

// sum is the hash that mem0 keeps of a text.
func sum(text string) string {
	h := md5.Sum([]byte(text))
	return hex.EncodeToString(h[:])
}
