package langgraph

import (
	"encoding/json"
	"fmt"
	"strings"

	"memdesk/backends/records"
	"memdesk/model"
)

// threads are conversations: the messages of the newest checkpoint (LG5). An edit would have to
// change every later checkpoint, and a resumed graph would replay the old text (LG6).
func (l layout) threads() records.Table {
	c := l.table("checkpoints")
	from := `(SELECT thread_id, max(checkpoint_id) FILTER (WHERE checkpoint_ns = '') AS newest, count(*) AS n FROM ` + c + ` GROUP BY thread_id) m
		LEFT JOIN ` + c + ` c ON c.thread_id = m.thread_id AND c.checkpoint_ns = '' AND c.checkpoint_id = m.newest`
	columns := []string{"COALESCE((c.checkpoint->'channel_values'->'messages')::text, '')", "m.n", "COALESCE(c.metadata::text, '')"}
	if l.has("checkpoint_blobs") {
		from += ` LEFT JOIN ` + l.table("checkpoint_blobs") + ` b ON b.thread_id = m.thread_id AND b.checkpoint_ns = '' AND b.channel = 'messages' AND b.version = c.checkpoint->'channel_versions'->>'messages'`
		columns = append(columns, "COALESCE(b.type, '')", "b.blob")
	} else {
		columns = append(columns, "''", "NULL::bytea")
	}
	return records.Table{
		Tier:   model.TierSpec{Name: "thread", Title: "a conversation of a graph: an edit would have to change every later checkpoint, so it can only be forgotten", KeyRule: model.KeyRequired, Document: model.Structured},
		Prefix: "thread/", From: from, Key: "m.thread_id", At: "COALESCE(c.checkpoint->>'ts', '')", Columns: columns, Item: thread,
		Drop: func(tx records.Tx, r records.Row) error {
			for _, t := range checkpointTables {
				if !l.has(t) {
					continue
				}
				if _, err := tx.Exec(`DELETE FROM `+l.table(t)+` WHERE thread_id = ?`, r.Key); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func thread(r records.Row) model.Item {
	var it model.Item
	raw := r.Text(0)
	switch kind := r.Text(3); kind {
	case "", "empty":
	case "json":
		raw = r.Text(4)
	default:
		it.Body = fmt.Sprintf("channel messages is %s, %d bytes: not shown", kind, len(r.Text(4)))
	}
	if it.Body == "" {
		it.Body = messages(raw)
	}
	it.Meta = []model.Field{{Name: "checkpoints", Value: r.Text(1), ReadOnly: true}}
	if r.Text(2) != "" {
		it.Meta = append(it.Meta, model.Field{Name: "metadata", Value: r.Text(2), ReadOnly: true})
	}
	it.Title = r.Key
	return it
}

// message is one of a channel, as LangChain serialises it or as a plain value.
type message struct {
	ID     []string `json:"id"`
	Type   string   `json:"type"`
	Role   string   `json:"role"`
	Kwargs struct {
		Content json.RawMessage `json:"content"`
	} `json:"kwargs"`
	Content json.RawMessage `json:"content"`
}

// messages writes a channel as text: per message its role, then its text.
func messages(raw string) string {
	var all []json.RawMessage
	if raw == "" {
		return ""
	}
	if json.Unmarshal([]byte(raw), &all) != nil {
		return raw
	}
	var out []string
	for _, one := range all {
		var m message
		if json.Unmarshal(one, &m) != nil {
			out = append(out, string(one))
			continue
		}
		role, content := m.Role, m.Content
		if len(m.ID) > 0 {
			role, content = strings.TrimSuffix(m.ID[len(m.ID)-1], "Message"), m.Kwargs.Content
		}
		if role == "" {
			role = m.Type
		}
		out = append(out, strings.ToLower(role)+"\n"+plain(content))
	}
	return strings.Join(out, "\n\n")
}

// plain is a content's text: a string, or the texts of its parts.
func plain(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return string(content)
	}
	var out []string
	for _, p := range parts {
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}
