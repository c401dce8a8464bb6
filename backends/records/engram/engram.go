// Package engram opens the memory that Engram keeps in SQLite: observations, prompts and sessions of coding
// agents. It does not change the schema or the triggers, which keep the search index in step.
package engram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the kind's name in a configuration.
const Kind = "engram"

// Config says which file to open and how.
type Config struct {
	Name     string
	Path     string
	ReadOnly bool
	Clock    clock.Clock
}

// needed are the columns without which a file is not of this kind.
var needed = map[string][]string{
	"sessions":     {"id", "project", "directory", "started_at", "ended_at", "summary"},
	"observations": {"id", "session_id", "type", "title", "content", "tool_name", "project", "scope", "topic_key", "normalized_hash", "revision_count", "created_at", "updated_at", "deleted_at"},
	"user_prompts": {"id", "session_id", "content", "project", "created_at"},
}

// ownTrigger matches Engram's triggers: each only writes rows of a search index.
var ownTrigger = regexp.MustCompile(`(?is)^CREATE TRIGGER (obs|prompt)_fts_\w+ AFTER (INSERT|DELETE|UPDATE) ON (observations|user_prompts) BEGIN ` +
	`(INSERT INTO (observations|prompts)_fts \( [\w , ]+ \) VALUES \( [^;]+ \) ; ?)+END( ;)?$`)

// Open opens the file. InvalidInput for one that is not Engram's.
func Open(ctx context.Context, c Config) (model.Store, error) {
	f, err := litefile.Open(c.Path, c.ReadOnly)
	if err != nil {
		return model.Store{}, err
	}
	db := records.Lite{File: f}
	err = db.View(ctx, "open", func(tx records.Tx) error {
		missing, err := records.Missing(tx, needed)
		if err == nil && len(missing) > 0 {
			err = model.Errorf(model.InvalidInput, "open", "%q is no memory of Engram's: it lacks %s", f.Name, strings.Join(missing, ", "))
		}
		return err
	})
	if err == nil {
		err = f.GuardTriggers(ctx, ownTrigger)
	}
	if err != nil {
		_ = f.Close() // the first error counts
		return model.Store{}, f.Explain(err)
	}
	return records.New(records.Config{
		Name: c.Name, Kind: Kind, Location: c.Path, DB: db, ReadOnlyReason: f.ReadOnlyReason(), Clock: c.Clock,
		Tables: []records.Table{observations(), prompts(), sessions()}, Observe: observe,
		Origin:     model.MetaOrigin(map[string]string{"session": "session", "tool": "detail", "created_at": "at"}),
		Maintainer: litefile.Medium{File: f, Items: needed, Own: ownRow, Edited: true},
	}), nil
}

var ownRow = records.OwnRow(map[string]string{"observation/": "observations", "prompt/": "user_prompts", "session/": "sessions"})

func observations() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "observation", Title: "what an agent noted in a session", KeyRule: model.KeyRequired, Document: model.Structured},
		Prefix: "observation/", From: "observations m", Key: "CAST(m.id AS TEXT)", Lookup: records.Numbered("m.id"), Scope: "m.project", At: "m.updated_at",
		Size: "length(CAST(m.content AS BLOB))", Gone: "m.deleted_at IS NOT NULL",
		Columns: []string{"m.content", "m.title", "m.type", "m.topic_key", "m.session_id", "m.tool_name", "m.scope", "m.revision_count", "m.created_at", "m.deleted_at", "m.project"},
		Search:  []string{"m.content", "m.title", "m.type", "m.topic_key", "m.session_id", "m.tool_name", "m.scope", "m.created_at", "CAST(m.id AS TEXT)", "CAST(m.revision_count AS TEXT)", "m.deleted_at", "m.project"},
		Item: func(r records.Row) model.Item {
			it := model.Item{Body: r.Text(0), Header: model.Header{Title: r.Text(1)}, Meta: append([]model.Field{
				{Name: "title", Value: r.Text(1)}, {Name: "type", Value: r.Text(2)}, {Name: "topic_key", Value: r.Text(3)}},
				fields.ReadOnly("session", r.Text(4), "tool", r.Text(5), "scope", r.Text(6), "revision", r.Text(7), "created_at", r.Text(8), "deleted_at", r.Text(9), "project", r.Text(10))...)}
			if r.Text(9) != "" {
				it.Flags = []model.Flag{model.FlagArchived}
			}
			return it
		},
		Save: func(tx records.Tx, c *records.Change) error {
			var title, kind, topic string
			for _, f := range c.New.Meta {
				switch f.Name {
				case "title":
					title = f.Value
				case "type":
					kind = f.Value
				case "topic_key":
					topic = f.Value
				default:
					if !f.ReadOnly {
						return model.Errorf(model.InvalidInput, "retain", "an observation has no field %q", f.Name)
					}
				}
			}
			if kind == "" && c.Row.Text(2) != "" { // an erasure may empty a title
				return model.Errorf(model.InvalidInput, "retain", "an observation needs a type")
			}
			return records.Updated(tx.Exec(`UPDATE observations SET content = ?, title = ?, type = ?, topic_key = NULLIF(?, ''), normalized_hash = ?, revision_count = revision_count + 1, updated_at = ?
				WHERE id = ? AND content = ?`, c.New.Body, title, kind, topic, normalized(c.New.Body), c.Now.Format("2006-01-02 15:04:05"), c.Row.Key, c.Row.Cells[0]))
		},
		Own:  records.OwnColumns("observations", "id", "content", "title", "type", "topic_key", "normalized_hash"),
		Drop: records.DropBy("observations", "id"),
	}
}

// normalized is the hash by which Engram recognises an equal text: lower case, blanks joined.
func normalized(text string) string {
	sum := sha256.Sum256([]byte(strings.Join(strings.Fields(strings.ToLower(text)), " ")))
	return hex.EncodeToString(sum[:])
}

func prompts() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "prompt", Title: "what a user asked: a record, which can be forgotten, not edited", KeyRule: model.KeyRequired, Document: model.Structured},
		Prefix: "prompt/", From: "user_prompts m", Key: "CAST(m.id AS TEXT)", Lookup: records.Numbered("m.id"), Scope: "m.project", At: "m.created_at",
		Size: "length(CAST(m.content AS BLOB))", Columns: []string{"m.content", "m.session_id", "m.project"}, Search: []string{"m.content", "m.session_id", "CAST(m.id AS TEXT)", "m.project"},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Meta: fields.ReadOnly("session", r.Text(1), "project", r.Text(2))}
		},
		Drop: records.DropBy("user_prompts", "id"),
	}
}

func sessions() records.Table {
	return records.Table{
		Tier:   model.TierSpec{Name: "session", Title: "a session of an agent: the summary is the text", KeyRule: model.KeyRequired, Document: model.Structured},
		Prefix: "session/", From: "sessions m", Key: "m.id", Scope: "m.project", At: "COALESCE(m.ended_at, m.started_at)",
		Size: "COALESCE(length(CAST(m.summary AS BLOB)), 0)", Columns: []string{"m.summary", "m.directory", "m.started_at", "m.ended_at", "m.project"},
		Item: func(r records.Row) model.Item {
			return model.Item{Body: r.Text(0), Meta: fields.ReadOnly("directory", r.Text(1), "started_at", r.Text(2), "ended_at", r.Text(3), "project", r.Text(4))}
		},
		Save: func(tx records.Tx, c *records.Change) error {
			return records.Updated(tx.Exec(`UPDATE sessions SET summary = ? WHERE id = ? AND COALESCE(summary, '') = ?`, c.New.Body, c.Row.Key, c.Old.Body))
		},
		Own:   records.OwnColumns("sessions", "id", "summary"),
		Falls: under,
		Drop: func(tx records.Tx, r records.Row) error {
			for _, text := range []string{`DELETE FROM observations WHERE session_id = ?`, `DELETE FROM user_prompts WHERE session_id = ?`, `DELETE FROM sessions WHERE id = ?`} {
				if _, err := tx.Exec(text, r.Key); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// under names the items that go with a session.
func under(tx records.Tx, r records.Row) (out []string, err error) {
	for _, q := range [][2]string{{"observation/", `SELECT CAST(id AS TEXT) FROM observations WHERE session_id = ? ORDER BY id`}, {"prompt/", `SELECT CAST(id AS TEXT) FROM user_prompts WHERE session_id = ? ORDER BY id`}} {
		ids, err := records.IDs(tx, q[0], q[1], r.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, ids...)
	}
	return out, nil
}

// observe counts items that Engram hides and rows that its index lacks.
func observe(tx records.Tx) ([]model.HealthFinding, error) {
	return records.Checks(tx,
		records.Check{Kind: "expired", Message: "%d deleted observations are still readable in the file", Count: `SELECT count(*) FROM observations WHERE deleted_at IS NOT NULL`},
		records.Check{Kind: "orphan", Message: "%d observations are of a session that is gone", Count: `SELECT count(*) FROM observations WHERE session_id NOT IN (SELECT id FROM sessions)`})
}
