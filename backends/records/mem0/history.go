package mem0

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// revisions reads the program's history of a memory.
type revisions struct {
	s  *store
	db records.DB
}

// names are the history's columns, by the program that wrote it.
func (s *store) names() (old, is, what, order string) {
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
	_, is, what, order := r.s.names()
	err := r.db.View(ctx, "history", func(tx records.Tx) error {
		out.Versions = nil
		return r.s.past(tx).Each(`SELECT CAST(id AS TEXT), COALESCE(updated_at, created_at, ''), `+what+`, COALESCE(`+is+`, '') FROM `+r.s.history+` WHERE memory_id = ? ORDER BY `+order+` DESC`, []any{id},
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
	old, is, what, _ := r.s.names()
	err := r.db.View(ctx, "history", func(tx records.Tx) error {
		var at, action string
		found, err := r.s.past(tx).One(`SELECT COALESCE(`+is+`, `+old+`, ''), COALESCE(updated_at, created_at, ''), `+what+` FROM `+r.s.history+` WHERE memory_id = ? AND CAST(id AS TEXT) = ?`,
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
		err := tx.Each(`SELECT `+s.id+` FROM `+s.memories+` m WHERE `+s.key("user_id")+` = ?`, []any{sub}, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			yield(id, sub, "its user_id")
			return err
		})
		if err != nil {
			return err
		}
	}
	if s.spoken == "" {
		return nil
	}
	return tx.Each(`SELECT id, COALESCE(session_scope, '') FROM `+s.spoken, nil, func(scan func(...any) error) error {
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
	add := func(n int, kind, message string) {
		if n > 0 {
			out = append(out, records.Finding(kind, "", fmt.Sprintf(message, n)))
		}
	}
	if s.history == "" {
		out = append(out, records.Finding("history", "", unreached))
	}
	var unreadable, expired, stale, bare int
	ids := map[string]bool{}
	err := tx.Each(`SELECT `+s.id+`, `+s.payload+`, CASE WHEN `+s.key("expiration_date")+` < `+s.today+` THEN 1 ELSE 0 END FROM `+s.memories+` m`, nil, func(scan func(...any) error) error {
		var id, payload string
		var old int
		if err := scan(&id, &payload, &old); err != nil {
			return err
		}
		ids[id] = true
		expired += old
		o, err := jsonedit.Parse([]byte(payload))
		if err != nil {
			unreadable++
			return nil
		}
		data, _ := o.Text("data")
		if hash, _ := o.Text("hash"); hash != "" && hash != sum(data) {
			stale++
		}
		if !slices.ContainsFunc(lemmatized, func(name string) bool { return o.Find(name) >= 0 }) {
			bare++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	add(unreadable, "unreadable", "%d payloads are no JSON")
	add(expired, "expired", "%d expired memories are still on disk")
	if bare+unreadable < len(ids) { // the program writes the copy
		add(bare, "stale", "%d memories lack the lemmatized copy that others have: memdesk edited them, and semantic recall finds them by the old meaning until the program re-embeds them")
	}
	add(stale, "hash", "%d memories have a hash that is not the md5 of their text")
	if s.history != "" {
		gone, known := 0, 0
		err := s.past(tx).Each(`SELECT DISTINCT memory_id FROM `+s.history, nil, func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			if ids[id] {
				known++
			} else {
				gone++
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		add(gone, "history", "%d deleted memories are still readable in the history")
		add(len(ids)-known, "history", "%d memories have no history")
	}
	if s.entities != "" {
		orphans := 0
		err := tx.Each(`SELECT `+s.payload+` FROM `+s.entities+` m`, nil, func(scan func(...any) error) error {
			var payload string
			err := scan(&payload)
			if slices.ContainsFunc(linksOf(payload), func(id string) bool { return !ids[id] }) {
				orphans++
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		add(orphans, "orphan", "%d entities link to memories that are gone")
	}
	return out, nil
}

// ownerlessRows counts the history's rows of memories that are gone.
func (s *store) ownerlessRows(tx records.Tx) (n int, err error) {
	ids := map[string]bool{}
	err = tx.Each(`SELECT `+s.id+` FROM `+s.memories+` m`, nil, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids[id] = true
		return err
	})
	if err != nil {
		return 0, err
	}
	err = s.past(tx).Each(`SELECT memory_id, count(*) FROM `+s.history+` GROUP BY memory_id`, nil, func(scan func(...any) error) error {
		var id string
		var rows int
		err := scan(&id, &rows)
		if !ids[id] {
			n += rows
		}
		return err
	})
	return n, err
}

// unreached is what a store without its history says.
const unreached = "no history file was found: what mem0 keeps of earlier texts is not reached"

var _ model.History = revisions{}
