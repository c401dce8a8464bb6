package langgraph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"memdesk/backends/internal/fields"
	"memdesk/backends/records"
	"memdesk/model"
)

// threads are conversations: the messages of the newest checkpoint (LG5). They cannot be edited: every later
// checkpoint would have to change, and a resumed graph would replay the old text (LG6).
func (l layout) threads() records.Table {
	c := l.table("checkpoints")
	columns, blobs := l.channel()
	from := `(SELECT thread_id, max(checkpoint_id) FILTER (WHERE checkpoint_ns = '') AS newest, count(*) AS n FROM ` + c + ` GROUP BY thread_id) m
		LEFT JOIN ` + c + ` c ON c.thread_id = m.thread_id AND c.checkpoint_ns = '' AND c.checkpoint_id = m.newest`
	from += blobs
	columns = append(columns, "m.n", "COALESCE(c.metadata::text, '')")
	return records.Table{
		Tier:   model.TierSpec{Name: "thread", Title: "a conversation of a graph: an edit would have to change every later checkpoint, so it can only be forgotten", KeyRule: model.KeyRequired, Document: model.Structured},
		Prefix: "thread/", From: from, Key: "m.thread_id", At: "COALESCE(c.checkpoint->>'ts', '')", Columns: columns, Item: thread, Past: l.past,
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

// channel returns the expressions for a checkpoint's messages, and the join that they need: the value inside
// checkpoint c, or type and bytes of a blob at the version that c names.
func (l layout) channel() (columns []string, join string) {
	columns = []string{"COALESCE((c.checkpoint->'channel_values'->'messages')::text, '')", "''", "NULL::bytea"}
	if l.has("checkpoint_blobs") {
		columns[1] = "CASE WHEN b.thread_id IS NULL AND " + columns[0] + " = '' AND c.checkpoint->'channel_versions'->>'messages' IS NOT NULL THEN '" + missing + "' ELSE COALESCE(b.type, '') END"
		columns[2] = "b.blob"
		join = ` LEFT JOIN ` + l.table("checkpoint_blobs") + ` b ON b.thread_id = c.thread_id AND b.checkpoint_ns = '' AND b.channel = 'messages' AND b.version = c.checkpoint->'channel_versions'->>'messages'`
	}
	return columns, join
}

// past yields a thread's checkpoints. A list has the size of their channel, one version its text.
func (l layout) past(tx records.Tx, thread, version string, yield func(records.Version)) error {
	columns, blobs := l.channel()
	if version == "" {
		columns = []string{"''", "''", "NULL::bytea", "COALESCE(octet_length(" + columns[2] + "), octet_length(" + columns[0] + "))"}
	} else {
		columns = append(columns, "0")
	}
	return tx.Each(`SELECT c.checkpoint_id, COALESCE(c.checkpoint->>'ts', ''), COALESCE(c.metadata->>'source', ''), `+strings.Join(columns, `, `)+` FROM `+l.table("checkpoints")+` c`+blobs+`
		WHERE c.thread_id = ? AND c.checkpoint_ns = '' AND (? = '' OR c.checkpoint_id = ?) ORDER BY c.checkpoint_id DESC`, []any{thread, version, version}, func(scan func(...any) error) error {
		var v records.Version
		var raw, kind string
		var blob []byte
		err := scan(&v.ID, &v.At, &v.By, &raw, &kind, &blob, &v.Bytes)
		if version != "" {
			v.Text = conversation(raw, kind, blob)
		}
		yield(v)
		return err
	})
}

// missing stands for the type of a blob that a checkpoint names and the table lacks.
const missing = "(missing)"

// conversation is a channel as text.
func conversation(raw, kind string, blob []byte) string {
	switch kind {
	case "", "empty":
	case missing:
		return "channel messages has no blob of the version that the checkpoint names: not shown"
	case "json":
		raw = string(blob)
	default:
		return fmt.Sprintf("channel messages is %s, %d bytes: not shown", kind, len(blob))
	}
	return messages(raw)
}

func thread(r records.Row) model.Item {
	it := model.Item{Body: conversation(r.Text(0), r.Text(1), []byte(r.Text(2))), Meta: fields.ReadOnly("checkpoints", r.Text(3))}
	if r.Text(1) == "msgpack" {
		if texts, ok := unpack([]byte(r.Text(2))); ok && len(texts) > 0 {
			it.Meta = append(it.Meta, model.Field{Name: "texts", Value: strings.Join(texts, "\n"), ReadOnly: true, Sealed: true})
		}
	}
	it.Meta = append(it.Meta, fields.ReadOnly("metadata", r.Text(4))...)
	it.Title = r.Key
	return it
}

// message is one message of a channel, serialised by LangChain or a plain value.
type message struct {
	ID     []string `json:"id"`
	Type   string   `json:"type"`
	Role   string   `json:"role"`
	Kwargs struct {
		Content json.RawMessage `json:"content"`
	} `json:"kwargs"`
	Content json.RawMessage `json:"content"`
}

// messages writes a channel as text: for each message its role, then its text.
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
		role = cmp.Or(role, m.Type)
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
