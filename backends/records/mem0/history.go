package mem0

import (
	"cmp"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// look reads the columns of the history file. An unknown version is not written; one without messages is an
// older version.
func (s *store) look(tx records.Tx) error {
	past, missing, err := records.Have(tx, s.history, "is_deleted")
	spoken, lacks, unread := records.Have(tx, s.spoken, "id", "session_scope", "role", "content", "name", "created_at")
	if missing = append(missing, lacks...); len(missing) > 0 {
		s.unknown = "the history file is of a version that is not known: it lacks " + strings.Join(missing, ", ")
	}
	s.pastColumns, s.spokenColumns = past, spoken
	if len(spoken) == 0 || len(lacks) > 0 {
		s.spoken = ""
	}
	return cmp.Or(err, unread)
}

// names are the history's columns, which depend on the program that wrote it.
func (s *store) names() (old, is, what, order string) {
	if s.python {
		return "old_memory", "new_memory", "event", "created_at"
	}
	return "previous_value", "new_value", "action", "id"
}

// past yields the changes of a memory, the oldest first.
func (s *store) past(tx records.Tx, id, version string, yield func(records.Version)) error {
	old, is, what, order := s.names()
	text, args := `SELECT COALESCE(CAST(id AS TEXT), ''), COALESCE(updated_at, created_at, ''), COALESCE(`+what+`, ''), `+old+`, `+is+` FROM `+s.history+` WHERE memory_id = ?`, []any{id}
	if version != "" {
		text, args = text+` AND CAST(id AS TEXT) = ?`, append(args, version)
	}
	return records.Beside(tx).Each(text+` ORDER BY `+order, args, func(scan func(...any) error) error {
		v := records.Version{Change: &model.Edit{}}
		err := scan(&v.ID, &v.At, &v.Change.Action, &v.Change.Previous, &v.Change.New)
		yield(v)
		return err
	})
}

// concerning finds a user's data: memories by user_id, messages by the parts of their session (M06).
func (s *store) concerning(tx records.Tx, subjects []string, yield func(id, subject, reason string)) error {
	for _, sub := range subjects {
		rows, err := s.memories.Rows(tx, s.memories.Key("user_id")+` = ?`, sub)
		if err != nil {
			return err
		}
		for _, r := range rows {
			yield(records.Escape(r.ID), sub, "its user_id")
		}
	}
	if s.spoken == "" {
		return nil
	}
	return tx.Each(`SELECT id, COALESCE(session_scope, '') FROM `+s.spoken+` WHERE id IS NOT NULL`, nil, func(scan func(...any) error) error {
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

// observe reports problems that mem0 itself does not (M05).
func (s *store) observe(tx records.Tx) ([]model.HealthFinding, error) {
	out, err := records.Checks(tx, records.Check{Kind: "expired", Message: "expired memories still on disk: %d", Count: `SELECT count(*) FROM ` + s.memories.Table + ` m WHERE ` + s.expired()})
	if err != nil {
		return nil, err
	}
	add := func(kind, message string, n int64) { out = append(out, records.Counted(kind, message, n)...) }
	rows, err := s.memories.Rows(tx, "")
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	var unreadable, hash, bare int64
	for _, r := range rows {
		ids[r.ID] = true
		o, err := jsonedit.Parse([]byte(r.Payload))
		if err != nil {
			unreadable++
			continue
		}
		data, _ := o.Text("data")
		if have, _ := o.Text("hash"); have != "" && have != sum(data) {
			hash++
		}
		if o.Find(lemmatized...) < 0 {
			bare++
		}
	}
	add("unreadable", "%d payloads are no JSON", unreadable)
	if bare+unreadable < int64(len(ids)) { // mem0 writes the copy
		add("stale", "%d memories lack the lemmatized copy that others have: they were written without it, or edited with memdesk, and semantic recall finds an edited one by its old meaning until the program re-embeds it", bare)
	}
	add("hash", "%d memories have a hash that is not the md5 of their text", hash)
	if s.history == "" {
		out = append(out, records.Finding("history", "", noHistory))
	} else {
		known, gone, _, err := s.pastOf(tx, ids)
		if err != nil {
			return nil, err
		}
		add("history", "%d deleted memories are still readable in the history", gone)
		add("history", "%d memories have no history", int64(len(ids))-known)
	}
	entities, err := s.entities.Rows(tx, "")
	orphans := slices.DeleteFunc(entities, func(e records.PayloadRow) bool {
		return !slices.ContainsFunc(linksOf(e.Payload), func(id string) bool { return !ids[id] })
	})
	add("orphan", "%d entities link to memories that are gone", int64(len(orphans)))
	return out, err
}

// pastOf counts the memories with a history, the deleted ones among them, and the rows of these.
func (s *store) pastOf(tx records.Tx, ids map[string]bool) (known, gone, rows int64, err error) {
	err = records.Beside(tx).Each(`SELECT COALESCE(memory_id, ''), count(*) FROM `+s.history+` GROUP BY 1`, nil, func(scan func(...any) error) error {
		var id string
		var n int64
		err := scan(&id, &n)
		if ids[id] {
			known++
		} else {
			gone, rows = gone+1, rows+n
		}
		return err
	})
	return known, gone, rows, err
}

// ownerlessRows counts the history's rows of deleted memories.
func (s *store) ownerlessRows(tx records.Tx) (int64, error) {
	rows, err := s.memories.Rows(tx, "")
	if err != nil {
		return 0, err
	}
	ids := map[string]bool{}
	for _, r := range rows {
		ids[r.ID] = true
	}
	_, _, n, err := s.pastOf(tx, ids)
	return n, err
}

// noHistory is the note of a store without its history.
const noHistory = "no history file was found: what mem0 keeps of earlier texts is not reached"
