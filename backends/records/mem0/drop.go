package mem0

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"memdesk/backends/internal/jsonedit"
	"memdesk/backends/records"
	"memdesk/model"
)

// appendHistory writes down an edit, as the program does.
func (s *store) appendHistory(tx records.Tx, c *records.Change, now string) error {
	if s.history == "" {
		return nil
	}
	text, args := `(memory_id, previous_value, new_value, action, created_at, updated_at, is_deleted) VALUES (`, []any{c.Row.Key, c.Old.Body, c.New.Body, now, now}
	if s.python {
		text = `(id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted) VALUES (lower(hex(randomblob(16))), `
	}
	_, err := s.past(tx).Exec(`INSERT INTO `+s.history+` `+text+`?, ?, ?, 'UPDATE', ?, ?, 0)`, args...)
	return err
}

// dropHistory removes every earlier text of a memory (M04).
func (s *store) dropHistory(tx records.Tx, id string) error {
	if s.history == "" {
		return nil
	}
	_, err := s.past(tx).Exec(`DELETE FROM `+s.history+` WHERE memory_id = ?`, id)
	return err
}

// dropMemory removes a memory and its id from the entities that link to it; an entity with no
// link left goes too (M04).
func (s *store) dropMemory(tx records.Tx, r records.Row) error {
	err := s.eachLink(tx, r.Key, func(e entity, links []string) (err error) {
		links = slices.DeleteFunc(links, func(l string) bool { return l == r.Key })
		if len(links) == 0 {
			_, err = tx.Exec(`DELETE FROM `+s.entities+` WHERE `+s.row, e.id)
			return err
		}
		return s.relink(tx, e, links)
	})
	if err == nil {
		_, err = tx.Exec(`DELETE FROM `+s.memories+` WHERE `+s.row, r.Key)
	}
	return err
}

// entity is a row of the entity store.
type entity struct{ id, payload string }

// eachLink hands out the entities that link to a memory. A payload that is no JSON links to none;
// Health names it.
func (s *store) eachLink(tx records.Tx, id string, fn func(e entity, links []string) error) error {
	if s.entities == "" {
		return nil
	}
	var all []entity
	err := tx.Each(`SELECT `+s.id+`, `+s.payload+` FROM `+s.entities+` m WHERE `+s.holds, []any{id}, func(scan func(...any) error) error {
		var e entity
		err := scan(&e.id, &e.payload)
		all = append(all, e)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range all {
		if links := linksOf(e.payload); slices.Contains(links, id) {
			if err := fn(e, links); err != nil {
				return err
			}
		}
	}
	return nil
}

func linksOf(payload string) (links []string) {
	if o, err := jsonedit.Parse([]byte(payload)); err == nil {
		_ = json.Unmarshal(o.Raw("linkedMemoryIds"), &links) // no list has no links
	}
	return links
}

// relink sets an entity's links and leaves the rest as it is.
func (s *store) relink(tx records.Tx, e entity, links []string) error {
	o, err := jsonedit.Parse([]byte(e.payload))
	if err != nil {
		return model.Errorf(model.Conflict, "retain", "an entity of the memory is no JSON any more")
	}
	list, err := json.Marshal(links)
	if err != nil {
		return err
	}
	o.Set(list, "linkedMemoryIds")
	_, err = tx.Exec(`UPDATE `+s.entities+` SET payload = `+s.json+` WHERE `+s.row, string(o.Line), e.id)
	return err
}

// The tables by which kept rows are told.
const (
	keptMemory  = "vectors"
	keptHistory = "history"
	keptEntity  = "entities"
)

var memoryColumns = []string{"id", "vector", "payload"}

func (s *store) historyColumns() []string {
	if s.python {
		return slices.Clone(s.pastColumns)
	}
	return []string{"id", "memory_id", "previous_value", "new_value", "action", "created_at", "updated_at", "is_deleted"}
}

// keep reads what dropMemory and dropHistory remove or change.
func (s *store) keep(tx records.Tx, r records.Row) ([]model.BesideRow, error) {
	whole := func(from string) string {
		return `SELECT ` + s.id + `, ` + s.vector + `, ` + s.payload + ` FROM ` + from + ` m WHERE ` + s.row
	}
	out, err := records.KeepRows(tx, keptMemory, memoryColumns, whole(s.memories), r.Key)
	if err == nil && s.history != "" {
		var rows []model.BesideRow
		columns := s.historyColumns()
		rows, err = records.KeepRows(s.past(tx), keptHistory, columns, `SELECT +`+strings.Join(columns, `, +`)+` FROM `+s.history+` WHERE memory_id = ?`, r.Key)
		out = append(out, rows...)
	}
	if err != nil {
		return nil, err
	}
	return out, s.eachLink(tx, r.Key, func(e entity, _ []string) error {
		rows, err := records.KeepRows(tx, keptEntity, memoryColumns, whole(s.entities), e.id)
		out = append(out, rows...)
		return err
	})
}

// revive writes the rows again; an entity that is there gets its link back.
func (s *store) revive(tx records.Tx, id string, rows []model.BesideRow) error {
	for _, r := range rows {
		var err error
		switch {
		case r.Table == keptMemory:
			err = s.insertRow(tx, s.memories, r)
		case r.Table == keptHistory && s.history != "":
			err = records.InsertRow(s.past(tx), s.history, s.historyColumns(), r)
		case r.Table == keptEntity && s.entities != "":
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

func (s *store) insertRow(tx records.Tx, table string, r model.BesideRow) error {
	args, err := records.Values(memoryColumns, r)
	if err == nil {
		_, err = tx.Exec(fmt.Sprintf(s.insert, table), args...)
	}
	return err
}

// reviveEntity links an entity to the memory again. One that fell with it comes back, linked to
// this memory alone: each further one adds its own link.
func (s *store) reviveEntity(tx records.Tx, id string, r model.BesideRow) error {
	args, err := records.Values(memoryColumns, r)
	if err != nil {
		return err
	}
	key, _ := args[0].(string)
	e := entity{id: key}
	found, err := tx.One(`SELECT `+s.payload+` FROM `+s.entities+` m WHERE `+s.row, []any{key}, &e.payload)
	if err != nil {
		return err
	}
	links := linksOf(e.payload)
	if !found {
		e.payload, _ = args[2].(string)
		if err := s.insertRow(tx, s.entities, r); err != nil {
			return err
		}
		if links = linksOf(e.payload); len(links) > 1 || !slices.Contains(links, id) {
			return s.relink(tx, e, []string{id})
		}
	}
	if slices.Contains(links, id) {
		return nil
	}
	return s.relink(tx, e, append(links, id))
}
