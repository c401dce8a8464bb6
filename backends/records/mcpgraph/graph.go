package mcpgraph

import (
	"slices"

	"memdesk/backends/internal/entity"
	"memdesk/backends/records"
	"memdesk/model"
)

// node finds an entity.
func node(tx records.Tx, id string) (h model.Header, found bool, err error) {
	h = model.Header{ID: id, Tier: entityTier}
	found, err = records.One(tx, `SELECT title, size FROM items WHERE tier = 'entity' AND key = ?`, []any{id}, &h.Title, &h.Bytes)
	return h, found, err
}

// links finds an entity's relations, those from it first. An end without an entity is shown only by the relation.
func links(tx records.Tx, id string, req model.GraphRequest) (out []model.Link, err error) {
	name, either := entity.Name(id), req.Outgoing == req.Incoming
	const q = `SELECT key, relation, body, origin, target FROM items WHERE tier = 'relation' AND (? AND origin = ? OR ? AND target = ?) ORDER BY origin <> ?, key`
	err = tx.Each(q, []any{either || req.Outgoing, name, either || req.Incoming, name, name}, func(scan func(...any) error) error {
		var key, from, to string
		var l model.Link
		err := scan(&key, &l.Kind, &l.Label, &from, &to)
		l.ID, l.Other = "edge/"+key, []string{entity.ID(from), entity.ID(to)}
		if len(req.Kinds) == 0 || slices.Contains(req.Kinds, l.Kind) {
			out = append(out, l)
		}
		return err
	})
	return out, err
}
