package mastra

import (
	"strings"

	"memdesk/backends/internal/fields"
	"memdesk/backends/records"
	"memdesk/model"
)

// tables are the tiers (mastra.md, Items).
func (l layout) tables() []records.Table {
	out := []records.Table{l.threads(), l.messages()}
	if l.resources {
		out = append(out, resources())
	}
	if l.observations {
		out = append(out, observations())
	}
	return out
}

// metaJSON reads a metadata column, which is JSONB, text or NULL (MA2).
func metaJSON(column string) string {
	return `CASE typeof(` + column + `) WHEN 'null' THEN '' WHEN 'blob' THEN CASE WHEN json_valid(` + column + `, 8) THEN json(` + column + `) ELSE '' END ELSE ` + column + ` END`
}

func (l layout) threads() records.Table {
	title, metadata, created := l.column("mastra_threads", "title"), metaJSON(l.column("mastra_threads", "metadata")), l.column("mastra_threads", "createdAt")
	return records.Table{
		Tier:   model.TierSpec{Name: "thread", Title: "conversations: the title is the text", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		Prefix: "thread/", From: "mastra_threads m", Key: "m.id", Scope: "m.resourceId", At: l.column("mastra_threads", "updatedAt"),
		Size:    `length(CAST(` + title + ` AS BLOB))`,
		Columns: []string{title, metadata, created},
		Search:  []string{"m.id", title, "m.resourceId", created}, SearchJSON: []string{metadata}, Recall: &records.Words{Text: []string{title}},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Header: model.Header{Title: r.Text(0)}, Meta: []model.Field{
				{Name: "resourceId", Value: r.Scope, ReadOnly: true}, {Name: "metadata", Value: r.Text(1)}, {Name: "createdAt", Value: r.Text(2), ReadOnly: true}}}
		},
		Save: func(tx records.Tx, c *records.Change) error {
			return save(tx, c, "mastra_threads", "title")
		},
		Own:   records.OwnColumns("mastra_threads", "id", "title", "metadata", "updatedAt"),
		Falls: l.underThread, Drop: l.dropThread,
	}
}

// underThread lists the items that go with a thread: its messages and its observation records (MA6).
func (l layout) underThread(tx records.Tx, r records.Row) ([]string, error) {
	out, err := records.IDs(tx, "message/", `SELECT id FROM mastra_messages WHERE thread_id = ? ORDER BY id`, r.Key)
	if err != nil || !l.observations {
		return out, err
	}
	more, err := records.IDs(tx, "observation/", `SELECT id FROM mastra_observational_memory WHERE `+observedThread+` = ? ORDER BY id`, r.Key)
	return append(out, more...), err
}

func (l layout) dropThread(tx records.Tx, r records.Row) error {
	from := []string{`mastra_messages WHERE thread_id = ?`}
	if l.observations {
		from = append(from, `mastra_observational_memory WHERE `+observedThread+` = ?`)
	}
	if l.state {
		from = append(from, `mastra_thread_state WHERE threadId = ?`)
	}
	for _, f := range append(from, `mastra_threads WHERE id = ?`) {
		if _, err := tx.Exec(`DELETE FROM `+f, r.Key); err != nil {
			return err
		}
	}
	return nil
}

func resources() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "working_memory", Title: "what an agent keeps in mind of a resource", KeyRule: model.KeyRequired, KeyHint: "the resource's id", Document: model.Structured, Owned: true, Extra: "metadata", Renews: []string{"createdAt"}},
		Prefix: "resource/", From: "mastra_resources m", Key: "m.id", Scope: "m.id", At: "m.updatedAt",
		Size:    `COALESCE(length(CAST(m.workingMemory AS BLOB)), 0)`,
		Columns: []string{"m.workingMemory", metaJSON("m.metadata"), "m.createdAt"},
		Search:  []string{"m.id", "m.workingMemory", "m.createdAt"}, SearchJSON: []string{metaJSON("m.metadata")}, Recall: &records.Words{Text: []string{"m.workingMemory"}},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Meta: []model.Field{{Name: "metadata", Value: r.Text(1)}, {Name: "createdAt", Value: r.Text(2), ReadOnly: true}}}
		},
		Save: func(tx records.Tx, c *records.Change) error { return save(tx, c, "mastra_resources", "workingMemory") },
		Own:  records.OwnColumns("mastra_resources", "id", "workingMemory", "metadata", "updatedAt"),
		Create: func(tx records.Tx, key string, doc model.Document, now string) ([]string, error) {
			meta, err := metadata(doc.Meta)
			if err != nil {
				return nil, err
			}
			_, err = tx.Exec(`INSERT INTO mastra_resources (id, workingMemory, metadata, createdAt, updatedAt) VALUES (?, ?, jsonb(?), ?, ?)`, key, doc.Body, meta, now, now)
			return nil, err
		},
		Drop: records.DropBy("mastra_resources", "id"),
	}
}

func observations() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "observation", Title: "observations drawn from conversations", KeyRule: model.KeyRequired, Document: model.Structured, Owned: true},
		Prefix: "observation/", From: "mastra_observational_memory m", Key: "m.id", Scope: "m.resourceId", At: "m.updatedAt",
		Size: `length(CAST(m.activeObservations AS BLOB))`, Recall: &records.Words{Text: []string{"m.activeObservations"}},
		Columns: []string{"m.activeObservations", "m.scope", "m.threadId", "m.generationCount", "m.lookupKey", metaJSON("m.bufferedObservationChunks"), "m.bufferedObservations",
			"m.isObserving OR m.isReflecting OR m.isBufferingObservation OR m.isBufferingReflection"},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Meta: fields.ReadOnly(
				"scope", r.Text(1), "thread", r.Text(2), "generation", r.Text(3), "lookupKey", r.Text(4), "resourceId", r.Scope,
				"buffered_chunks", r.Text(5), "buffered", r.Text(6))}
		},
		ReadOnly: func(r records.Row, _ model.Item) string {
			if r.Text(7) != "0" {
				return "the program is at work on this record: it would write over the change"
			}
			return ""
		},
		Save: func(tx records.Tx, c *records.Change) error {
			c.Warnings = append(c.Warnings, "vectors of observations lie elsewhere and are stale until the program makes them anew")
			return save(tx, c, "mastra_observational_memory", "activeObservations")
		},
		Own:  records.OwnColumns("mastra_observational_memory", "id", "activeObservations", "updatedAt"),
		Drop: records.DropBy("mastra_observational_memory", "id"), Past: generations,
	}
}

// generations are the records of the same lookup key that a reflection replaced by the row.
func generations(tx records.Tx, key, version string, yield func(records.Version)) error {
	return tx.Each(`SELECT o.id, o.updatedAt, 'generation ' || o.generationCount, o.activeObservations FROM mastra_observational_memory m
		JOIN mastra_observational_memory o ON o.lookupKey = m.lookupKey AND o.id <> m.id AND (o.generationCount, o.createdAt) < (m.generationCount, m.createdAt)
		WHERE m.id = ? AND ? IN ('', o.id) ORDER BY o.generationCount DESC, o.createdAt DESC`, []any{key, version}, func(scan func(...any) error) error {
		var v records.Version
		err := scan(&v.ID, &v.At, &v.By, &v.Text)
		yield(v)
		return err
	})
}

// save writes text and metadata of a row that is unchanged since it was read (MA5).
func save(tx records.Tx, c *records.Change, table, column string) error {
	set, args := []string{column + ` = ?`, `updatedAt = ?`}, []any{c.New.Body, c.Now.Format("2006-01-02T15:04:05.000Z")}
	was, is := field(c.Old.Meta, "metadata"), field(c.New.Meta, "metadata")
	if was != is {
		meta, err := metadata(c.New.Meta)
		if err != nil {
			return err
		}
		set, args = append(set, `metadata = CASE typeof(metadata) WHEN 'text' THEN ? ELSE jsonb(?) END`), append(args, meta, meta) // older programs read only text
	}
	text := `UPDATE ` + table + ` SET ` + strings.Join(set, `, `) + ` WHERE id = ? AND COALESCE(` + column + `, '') = ?`
	return records.Updated(tx.Exec(text, append(args, c.Row.Key, c.Old.Body)...))
}

func field(meta []model.Field, name string) string {
	for _, f := range meta {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
