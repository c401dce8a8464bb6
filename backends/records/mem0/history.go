package mem0

import (
	"context"
	"fmt"
	"strings"

	"memdesk/backends/records"
	"memdesk/model"
)

// revisions reads the program's history of a memory.
type revisions struct{ s *store }

// columns of the history, by the program that wrote it.
func (s *store) historyColumns() (old, is, what, order string) {
	if s.python {
		return "old_memory", "new_memory", "event", "created_at"
	}
	return "previous_value", "new_value", "action", "id"
}

// Revisions lists a memory's earlier texts, the newest first.
func (r revisions) Revisions(ctx context.Context, id string) (model.Versions, error) {
	if strings.HasPrefix(id, "message/") {
		return model.Versions{State: model.Unrecorded, Reason: "mem0 keeps no history of messages"}, nil
	}
	out := model.Versions{State: model.Recorded}
	_, is, what, order := r.s.historyColumns()
	err := r.s.db.View(ctx, "history", func(tx records.Tx) error {
		out.Versions = nil
		return tx.Each(`SELECT CAST(id AS TEXT), COALESCE(updated_at, created_at, ''), `+what+`, COALESCE(`+is+`, '') FROM `+r.s.historyTable()+` WHERE memory_id = ? ORDER BY `+order+` DESC`, []any{id},
			func(scan func(...any) error) error {
				var v model.Version
				var at, text string
				err := scan(&v.ID, &at, &v.By, &text)
				v.At, v.Bytes, v.Readable = records.Time(at), int64(len(text)), true
				out.Versions = append(out.Versions, v)
				return err
			})
	})
	return out, model.Wrap("history", err)
}

// ReadRevision gives a memory's text as one row of the history has it; of a deletion the text
// that was there before.
func (r revisions) ReadRevision(ctx context.Context, id, version string) (model.Item, error) {
	var it model.Item
	old, is, what, _ := r.s.historyColumns()
	err := r.s.db.View(ctx, "history", func(tx records.Tx) error {
		var at, action string
		found, err := tx.One(`SELECT COALESCE(`+is+`, `+old+`, ''), COALESCE(updated_at, created_at, ''), `+what+` FROM `+r.s.historyTable()+` WHERE memory_id = ? AND CAST(id AS TEXT) = ?`,
			[]any{id, version}, &it.Body, &at, &action)
		if err == nil && !found {
			return model.Errorf(model.NotFound, "history", "the history has no such version")
		}
		it.Header = model.Header{ID: id, Tier: "memory", Bytes: int64(len(it.Body)), Modified: records.Time(at)}
		it.Meta = []model.Field{{Name: "action", Value: action, ReadOnly: true}}
		return err
	})
	return it, model.Wrap("history", err)
}

// concerning finds what a user owns: memories by user_id, messages by the parts of their session
// (M06).
func (s *store) concerning(tx records.Tx, subjects []string, yield func(id, subject, reason string)) error {
	for _, sub := range subjects {
		err := tx.Each(`SELECT m.id FROM vectors m WHERE `+key("user_id")+` = ?`, []any{sub}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			yield(id, sub, "its user_id")
			return err
		})
		if err != nil {
			return err
		}
	}
	if s.files.history == "" || s.python {
		return nil
	}
	return tx.Each(`SELECT id, COALESCE(session_scope, '') FROM `+historyName+`.messages`, nil, func(scan func(...any) error) error {
		var id, scope string
		err := scan(&id, &scope)
		for _, part := range strings.Split(scope, "&") {
			for _, sub := range subjects {
				if part == "user_id="+sub {
					yield("message/"+records.Escape(id), sub, "its session_scope")
				}
			}
		}
		return err
	})
}

// observe says what mem0 itself does not (M05).
func (s *store) observe(tx records.Tx) ([]model.HealthFinding, error) {
	var out []model.HealthFinding
	count := func(sql, kind, message string) error {
		var n int64
		_, err := tx.One(sql, nil, &n)
		if err == nil && n > 0 {
			out = append(out, records.Finding(kind, "", fmt.Sprintf(message, n)))
		}
		return err
	}
	checks := [][3]string{
		{`SELECT count(*) FROM vectors m WHERE NOT json_valid(m.payload)`, "unreadable", "%d payloads are no JSON"},
		{`SELECT count(*) FROM vectors m WHERE ` + key("expiration_date") + ` < date('now')`, "expired", "%d expired memories are still on disk"},
	}
	if s.files.history == "" {
		out = append(out, records.Finding("history", "", "no history file was found: what mem0 keeps of earlier texts is not reached"))
	} else {
		h := s.historyTable()
		checks = append(checks,
			[3]string{`SELECT count(DISTINCT memory_id) FROM ` + h + ` WHERE memory_id NOT IN (SELECT id FROM vectors)`, "history", "%d deleted memories are still readable in the history"},
			[3]string{`SELECT count(*) FROM vectors WHERE id NOT IN (SELECT memory_id FROM ` + h + `)`, "history", "%d memories have no history"})
	}
	if s.entities != "" {
		checks = append(checks, [3]string{`SELECT count(*) FROM ` + entitiesName + `.vectors e WHERE json_valid(e.payload) AND EXISTS
			(SELECT 1 FROM json_each(e.payload, '$.linkedMemoryIds') l WHERE l.value NOT IN (SELECT id FROM main.vectors))`, "orphan", "%d entities link to memories that are gone"})
	}
	for _, c := range checks {
		if err := count(c[0], c[1], c[2]); err != nil {
			return nil, err
		}
	}
	return s.staleHashes(tx, out)
}

// staleHashes counts memories whose hash is not that of their text.
func (s *store) staleHashes(tx records.Tx, out []model.HealthFinding) ([]model.HealthFinding, error) {
	n := 0
	err := tx.Each(`SELECT COALESCE(`+key("data")+`, ''), COALESCE(`+key("hash")+`, '') FROM vectors m`, nil, func(scan func(...any) error) error {
		var data, hash string
		err := scan(&data, &hash)
		if hash != "" && hash != sum(data) {
			n++
		}
		return err
	})
	if n > 0 {
		out = append(out, records.Finding("hash", "", fmt.Sprintf("%d memories have a hash that is not the md5 of their text", n)))
	}
	return out, err
}

var _ model.History = revisions{}
