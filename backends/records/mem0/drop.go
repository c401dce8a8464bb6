package mem0

import (
	"encoding/json"
	"slices"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// appendHistory records an edit, as mem0 does.
func (s *store) appendHistory(tx records.Tx, c *records.Change, now string) error {
	if s.history == "" {
		return nil
	}
	text, args := `(memory_id, previous_value, new_value, action, created_at, updated_at, is_deleted) VALUES (`, []any{c.Row.Key, c.Old.Body, c.New.Body, now, now}
	if s.python {
		text = `(id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted) VALUES (lower(hex(randomblob(16))), `
	}
	_, err := records.Beside(tx).Exec(`INSERT INTO `+s.history+` `+text+`?, ?, ?, 'UPDATE', ?, ?, 0)`, args...)
	return err
}

// dropHistory removes every earlier text of a memory (M04).
func (s *store) dropHistory(tx records.Tx, id string) error {
	if s.history == "" {
		return nil
	}
	_, err := records.Beside(tx).Exec(`DELETE FROM `+s.history+` WHERE memory_id = ?`, id)
	return err
}

// dropMemory removes a memory, and its id from the entities that link to it; an entity without a link left
// goes too (M04).
func (s *store) dropMemory(tx records.Tx, r records.Row) error {
	err := s.eachLink(tx, r.Key, func(e records.PayloadRow, links []string) (err error) {
		links = slices.DeleteFunc(links, func(l string) bool { return l == r.Key })
		if len(links) == 0 {
			_, err = s.entities.Delete(tx, e.ID)
			return err
		}
		return s.relink(tx, e, links)
	})
	if err == nil {
		_, err = s.memories.Delete(tx, r.Key)
	}
	return err
}

// eachLink yields the entities that link to a memory. A payload that is no JSON has no links; Health reports
// it.
func (s *store) eachLink(tx records.Tx, id string, fn func(e records.PayloadRow, links []string) error) error {
	all, err := s.entities.Holding(tx, id)
	if err != nil {
		return err
	}
	for _, e := range all {
		if links := linksOf(e.Payload); slices.Contains(links, id) {
			if err := fn(e, links); err != nil {
				return err
			}
		}
	}
	return nil
}

func linksOf(payload string) (links []string) {
	if o, err := jsonedit.Parse([]byte(payload)); err == nil {
		_ = json.Unmarshal(o.Raw("linkedMemoryIds"), &links) // a value that is no list has no links
	}
	return links
}

// relink sets an entity's links and leaves the rest as it is.
func (s *store) relink(tx records.Tx, e records.PayloadRow, links []string) error {
	o, err := jsonedit.Parse([]byte(e.Payload))
	if err != nil {
		return model.Errorf(model.Conflict, "retain", "an entity of the memory is no JSON any more")
	}
	o.Set(jsonedit.QuoteList(links), "linkedMemoryIds")
	return s.entities.Replace(tx, e, string(o.Line))
}

// The table names of kept rows.
const keptMemory, keptHistory, keptEntity = "vectors", "history", "entities"

// keep reads what dropMemory and dropHistory remove or change.
func (s *store) keep(tx records.Tx, r records.Row) ([]model.BesideRow, error) {
	out, err := s.memories.Keep(tx, keptMemory, r.Key)
	if err == nil && s.history != "" {
		var rows []model.BesideRow
		rows, err = records.KeepWhole(records.Beside(tx), keptHistory, s.history, "memory_id", s.pastColumns, r.Key)
		out = append(out, rows...)
	}
	if err != nil {
		return nil, err
	}
	return out, s.eachLink(tx, r.Key, func(e records.PayloadRow, _ []string) error {
		rows, err := s.entities.Keep(tx, keptEntity, e.ID)
		out = append(out, rows...)
		return err
	})
}

// revive writes the rows again; an existing entity gets its link back.
func (s *store) revive(tx records.Tx, id string, rows []model.BesideRow) error {
	for _, r := range rows {
		var err error
		switch {
		case r.Table == keptMemory:
			_, err = s.memories.Insert(tx, r)
		case r.Table == keptHistory && s.history != "":
			err = records.InsertRow(records.Beside(tx), s.history, s.pastColumns, r)
		case r.Table == keptEntity && s.entities.Table != "":
			err = s.reviveEntity(tx, id, r)
		default:
			err = model.Errorf(model.Unsupported, "retain", "a row of %.20q was kept, and the store has no such table now", r.Table)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reviveEntity links an entity to the memory again. An entity that fell with it is restored with a link to
// this memory alone: each further memory adds its own.
func (s *store) reviveEntity(tx records.Tx, id string, r model.BesideRow) error {
	args, err := records.Values(s.entities.Columns(), r)
	if err != nil {
		return err
	}
	key, _ := args[0].(string)
	e, found, err := s.entities.Row(tx, key)
	if err != nil {
		return err
	}
	if !found {
		if e, err = s.entities.Insert(tx, r); err != nil {
			return err
		}
		if links := linksOf(e.Payload); len(links) > 1 || !slices.Contains(links, id) {
			return s.relink(tx, e, []string{id})
		}
	}
	if links := linksOf(e.Payload); !slices.Contains(links, id) {
		return s.relink(tx, e, append(links, id))
	}
	return nil
}
