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

// links finds an entity's relations. An end without an entity is shown only by the relation.
func links(tx records.Tx, id string, req model.GraphRequest) (out []model.Link, err error) {
	ends := []string{"origin", "target"}
	switch {
	case req.Outgoing && !req.Incoming:
		ends = ends[:1]
	case req.Incoming && !req.Outgoing:
		ends = ends[1:]
	}
	seen := map[string]bool{}
	for _, end := range ends {
		err = tx.Each(`SELECT key, relation, body, origin, target FROM items WHERE tier = 'relation' AND `+end+` = ? ORDER BY key`, []any{entity.Name(id)}, func(scan func(...any) error) error {
			var key, from, to string
			var l model.Link
			err := scan(&key, &l.Kind, &l.Label, &from, &to)
			l.ID, l.Other = "edge/"+key, []string{entity.ID(from), entity.ID(to)}
			if !seen[l.ID] && (len(req.Kinds) == 0 || slices.Contains(req.Kinds, l.Kind)) {
				seen[l.ID] = true
				out = append(out, l)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
