package mastra

import (
	"encoding/json"
	"slices"
	"strings"

	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// separator separates the texts of a message's parts.
const separator = "\n\n"

// content is a message's content as far as this package reads it.
type content struct {
	types []string // types of the parts, in order
	texts []string // texts of the text parts
	tools []string // all other parts, raw
	more  []string // what stands beside the parts and in text parts beside the text, as JSON objects
	bad   bool     // no JSON object
}

func readContent(raw string) content {
	var c content
	o, err := jsonedit.Parse([]byte(raw))
	if err != nil {
		return content{bad: true}
	}
	_ = jsonedit.Elements(o.Raw("parts"), func(at jsonedit.Span) { // a value that is no array has no parts
		part, err := jsonedit.Parse(at.In(o.Raw("parts")))
		if err != nil {
			return
		}
		kind, _ := part.Text("type")
		c.types = append(c.types, kind)
		if kind == "text" {
			text, _ := part.Text("text")
			c.texts, c.more = append(c.texts, text), append(c.more, part.Rest("type", "text"))
		} else {
			c.tools = append(c.tools, string(part.Line))
		}
	})
	own := []string{"format", "parts"}
	if text, ok := o.Text("content"); ok && text == strings.Join(c.texts, separator) {
		own = append(own, "content")
	}
	c.more = slices.DeleteFunc(append(c.more, o.Rest(own...)), func(s string) bool { return s == "" })
	return c
}

func (l layout) messages() records.Table {
	t := records.Table{
		Tier:   model.TierSpec{Name: "message", Title: "what was said", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		Prefix: "message/", From: "mastra_messages m LEFT JOIN mastra_threads t ON t.id = m.thread_id", Key: "m.id", Scope: "t.resourceId", At: l.column("mastra_messages", "createdAt"),
		Size: `CASE WHEN NOT json_valid(m.content) THEN length(CAST(m.content AS BLOB)) ELSE
			(SELECT COALESCE(sum(length(CAST(json_extract(p.value, '$.text') AS BLOB))) + 2 * (count(*) - 1), 0) FROM json_each(m.content, '$.parts') p
				WHERE CASE p.type WHEN 'object' THEN json_extract(p.value, '$.type') = 'text' END) END`,
		Columns: []string{"m.content", l.column("mastra_messages", "role"), l.column("mastra_messages", "type"), "m.thread_id"},
		Item: func(r records.Row) model.Item {
			c := readContent(r.Text(0))
			it := model.Item{Body: strings.Join(c.texts, separator), Meta: fields.ReadOnly("role", r.Text(1), "type", r.Text(2), "thread", r.Text(3), "resourceId", r.Scope,
				"parts", strings.Join(c.types, ", "), "tool", strings.Join(c.tools, "\n"), "other", strings.Join(c.more, "\n"))}
			if c.bad {
				it.Body, it.Flags = r.Text(0), []model.Flag{model.FlagUnreadable}
			}
			return it
		},
		ReadOnly: func(r records.Row, _ model.Item) string {
			switch c := readContent(r.Text(0)); {
			case c.bad:
				return "the message's content is not JSON: it can be forgotten, not edited"
			case len(c.texts) == 0:
				return "the message has no text, only tool calls and results, which are never rewritten"
			case len(c.texts) > 1:
				return "the message has several texts: whose line is whose cannot be told"
			}
			return ""
		},
		Save: saveMessage, Own: records.OwnColumns("mastra_messages", "id", "content"),
		Drop: records.DropBy("mastra_messages", "id"),
	}
	if l.owner {
		t.Scope = "COALESCE(m.resourceId, t.resourceId)"
	}
	t.Search, t.SearchJSON = append([]string{"m.id", t.Scope}, t.Columns[1:]...), t.Columns[:1]
	if l.observed {
		t.Stays = drawn
	}
	t.Recall = &records.Words{JSON: t.SearchJSON, Fields: []string{"tool"}}
	return t
}

// drawn lists the observations drawn from a message: they outlive it (MA6).
func drawn(tx records.Tx, r records.Row) ([]string, error) {
	return records.IDs(tx, "what was drawn from it stays in observation/",
		`SELECT id FROM mastra_observational_memory WHERE instr(`+metaJSON("observedMessageIds")+`, json_quote(?)) > 0 ORDER BY id`, r.Key)
}

// saveMessage sets the text of a single text part, and the content string beside the parts where there is one
// (MA4). A redaction of several texts keeps their number, so each is assigned to its own part.
func saveMessage(tx records.Tx, c *records.Change) error {
	old := readContent(c.Row.Text(0))
	texts := []string{c.New.Body}
	switch {
	case len(old.texts) == 0:
		return model.Errorf(model.Unsupported, "retain", "the message has no text")
	case len(old.texts) > 1:
		if texts = regroup(old.texts, strings.Split(c.New.Body, separator)); texts == nil {
			return model.Errorf(model.Unsupported, "retain", "the message has several texts: whose line is whose cannot be told")
		}
	}
	o, err := jsonedit.Parse([]byte(c.Row.Text(0)))
	if err != nil {
		return model.Errorf(model.Unsupported, "retain", "the message's content is not JSON")
	}
	parts, n := o.Raw("parts"), 0
	var out []byte
	last := int32(0)
	_ = jsonedit.Elements(parts, func(at jsonedit.Span) { // it was an array when it was read
		part, err := jsonedit.Parse(at.In(parts))
		if err != nil {
			return
		}
		if kind, _ := part.Text("type"); kind != "text" {
			return
		}
		part.Set(jsonedit.Quote(texts[n]), "text")
		n++
		out = append(append(out, parts[last:at.Start]...), part.Line...)
		last = at.End
	})
	o.Set(append(out, parts[last:]...), "parts")
	if _, isText := o.Text("content"); isText && o.Find("content") >= 0 {
		o.Set(jsonedit.Quote(c.New.Body), "content")
	}
	c.Warnings = append(c.Warnings, "vectors of messages lie elsewhere and are stale until the program makes them anew")
	return records.Updated(tx.Exec(`UPDATE mastra_messages SET content = ? WHERE id = ? AND content = ?`, string(o.Line), c.Row.Key, c.Row.Text(0)))
}

// regroup joins pieces so that each text has as many as before; nil where their number is another. Line breaks at
// the end of one text and at the start of the next can make a separator of their own, so the texts are counted one by one.
func regroup(old, pieces []string) []string {
	out := make([]string, len(old))
	for i, text := range old {
		n := strings.Count(text, separator) + 1
		if n > len(pieces) {
			return nil
		}
		out[i], pieces = strings.Join(pieces[:n], separator), pieces[n:]
	}
	if len(pieces) > 0 {
		return nil
	}
	return out
}

// metadata is the field's value as JSON; nil where it is empty.
func metadata(meta []model.Field) (any, error) {
	v := field(meta, "metadata")
	if v == "" {
		return nil, nil
	}
	if !json.Valid([]byte(v)) {
		return nil, model.Errorf(model.InvalidInput, "retain", "the field metadata is not JSON")
	}
	return v, nil
}
