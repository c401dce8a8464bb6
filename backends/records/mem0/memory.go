package mem0

import (
	"crypto/md5"
	"encoding/hex"
	"slices"
	"strings"

	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// fixed are the keys that name a memory's owner, and the program's own.
var fixed = []string{"user_id", "agent_id", "run_id", "hash", "createdAt", "updatedAt", "created_at", "updated_at"}

// lemmatized are the spellings of the second copy of the text.
var lemmatized = []string{"textLemmatized", "text_lemmatized"}

func (s *store) tables() []records.Table {
	out := []records.Table{s.memoryTable()}
	if s.spoken != "" {
		out = append(out, s.messages())
	}
	return out
}

// expired is the condition for memories that Python hides.
func (s *store) expired() string { return s.memories.Key("expiration_date") + ` < ` + s.memories.Today }

func (s *store) memoryTable() records.Table {
	m := s.memories
	part := func(name string) string {
		return `COALESCE('/` + name + `=' || ` + m.Key(name) + `, '')`
	}
	expired := s.expired()
	t := records.Table{
		Tier: model.TierSpec{Name: "memory", Title: "what was remembered of somebody", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		From: m.Table + " m", Key: m.ID, Scope: `substr(` + part("user_id") + ` || ` + part("agent_id") + ` || ` + part("run_id") + `, 2)`,
		At:      `COALESCE(` + strings.Join([]string{m.Key("updatedAt"), m.Key("updated_at"), m.Key("createdAt"), m.Key("created_at")}, ", ") + `)`,
		Size:    `COALESCE(octet_length(CASE WHEN ` + m.Object + ` THEN ` + m.Key("data") + ` ELSE ` + m.Payload + ` END), 0)`,
		Gone:    expired,
		Vector:  m.Vector,
		Columns: []string{m.Payload, `CASE WHEN ` + expired + ` THEN '1' ELSE '0' END`},
		Search:  []string{m.ID}, SearchJSON: []string{m.Payload},
		Lookup: m.Lookup, Unescape: m.Unescape,
		Item: memory,
		ReadOnly: func(r records.Row, it model.Item) string {
			if it.Has(model.FlagUnreadable) {
				return "the payload is no JSON object: the memory can be forgotten, not edited"
			}
			return ""
		},
		Save: s.save, Own: m.Own(), Keep: s.keep, Revive: s.revive,
		Drop: func(tx records.Tx, r records.Row) error {
			if err := s.dropHistory(tx, r.Key); err != nil {
				return err
			}
			return s.dropMemory(tx, r)
		},
	}
	if s.history == "" {
		t.Stays = func(records.Tx, records.Row) ([]string, error) { return []string{noHistory}, nil }
	} else {
		t.DropKeeping, t.Past = s.dropMemory, s.past
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
	it.Meta = records.Fields(o, fixed, "data")
	if r.Text(1) != "0" {
		it.Flags = []model.Flag{model.FlagExpired}
	}
	return it
}

// save sets text and hash, drops the lemmatized copy of the old text and appends a row to the history, as
// mem0 does. Every other key keeps its place and spelling (M02). Text that an erasure removes is not recorded
// again.
func (s *store) save(tx records.Tx, c *records.Change) error {
	o, err := jsonedit.Parse([]byte(c.Row.Text(0)))
	if err != nil {
		return model.Errorf(model.Unsupported, "retain", "the payload is no JSON object")
	}
	if slices.ContainsFunc(c.New.Meta, func(f model.Field) bool { return f.Name == "data" }) {
		return model.Errorf(model.InvalidInput, "retain", "the text is the body, not the field data")
	}
	records.SetFields(o, c.Old.Meta, c.New.Meta)
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
	return s.memories.Replace(tx, records.PayloadRow{ID: c.Row.Key, Payload: c.Row.Text(0)}, string(o.Line))
}

// messages are the messages of a session: a record, which is not edited (M03).
func (s *store) messages() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "message", Title: "a record of what was said: it can be forgotten, not edited", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		Prefix: "message/", Search: []string{"m.content", "m.id", "m.role", "m.name", "m.session_scope"}, From: s.spoken + " m", Key: "m.id", Scope: "m.session_scope", At: "m.created_at",
		Size: `COALESCE(length(CAST(m.content AS BLOB)), 0)`, Columns: []string{"m.content", "m.role", "m.name"},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Meta: append([]model.Field{{Name: "role", Value: r.Text(1), ReadOnly: true}, {Name: "session_scope", Value: r.Scope, ReadOnly: true}},
				fields.ReadOnly("name", r.Text(2))...)}
		},
	}.KeepBy("messages", s.spoken, "id", s.spokenColumns)
}

// sum is mem0's hash of a text.
func sum(text string) string {
	h := md5.Sum([]byte(text))
	return hex.EncodeToString(h[:])
}
