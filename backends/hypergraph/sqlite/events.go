package sqlite

import (
	"context"
	"database/sql"

	"memdesk/model"
)

// Events is recurse's own log of its changes to its memory; nil for a store of memdesk's own schema,
// which keeps none.
func (s *Store) Events() model.Events {
	if s.kind != RecurseSchema {
		return nil
	}
	return evolution{s}
}

type evolution struct{ s *Store }

// StoreEvents lists the rows of evolution_log, the newest first (recurse.md). Their metadata is not
// read: its content is undocumented.
func (e evolution) StoreEvents(ctx context.Context, limit int) ([]model.StoreEvent, error) {
	out := []model.StoreEvent{}
	err := e.s.file.View(ctx, "store-events", func(q *query) error {
		out = out[:0]
		return q.Each(`SELECT CAST(timestamp AS TEXT), operation, node_ids, from_tier, to_tier, reasoning FROM evolution_log ORDER BY id DESC LIMIT ?`, []any{limit},
			func(scan func(...any) error) error {
				var at, ids, from, to, why sql.NullString
				var name string
				if err := scan(&at, &name, &ids, &from, &to, &why); err != nil {
					return err
				}
				ev := model.StoreEvent{At: recurseTime(at.String), Name: name}
				for _, f := range []model.Field{{Name: "node_ids", Value: ids.String}, {Name: "from_tier", Value: from.String}, {Name: "to_tier", Value: to.String}, {Name: "reasoning", Value: why.String}} {
					if f.Value != "" {
						ev.Payload = append(ev.Payload, f)
					}
				}
				out = append(out, ev)
				return nil
			})
	})
	return out, e.s.file.Explain(err)
}
