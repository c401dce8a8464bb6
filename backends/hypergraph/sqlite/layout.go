package sqlite

import (
	"fmt"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// layout holds the differences between the SQL of the two schemas. Tables and most columns
// have the same names in both.
type layout struct {
	own bool
	// vectors reports that the table node_embeddings exists. A recurse file has it only if a provider
	// was ever configured, and memdesk adds no table to such a file.
	vectors bool

	// The expressions to select; those for the times of nodes are used for recurse only.
	created, updated, accessed string
	hasVector                  string
	edgeCreated                string
	// The keys of nodes and edges per order. An unreadable time sorts last in both directions.
	nodeKey, edgeKey map[model.Order]string
}

func ownLayout() layout {
	return layout{
		own:         true,
		vectors:     true,
		hasVector:   "n.has_vector",
		edgeCreated: "e.created_at",
		nodeKey:     map[model.Order]string{model.OrderNewest: "n.created_at", model.OrderOldest: "n.created_at"},
		edgeKey:     map[model.Order]string{model.OrderNewest: "e.created_at", model.OrderOldest: "e.created_at"},
	}
}

// recurseLayout orders by julianday, never by text (recurse.md, "Traps"). Its resolution is a
// millisecond; ids break ties, ascending where times descend.
func recurseLayout(vectors bool) layout {
	l := layout{
		vectors:     vectors,
		created:     "CAST(n.created_at AS TEXT)",
		updated:     "CAST(n.updated_at AS TEXT)",
		accessed:    "CAST(n.last_accessed AS TEXT)",
		hasVector:   "COALESCE(substr(CAST(n.embedding AS BLOB), 1, 1) = X'5B', 0)",
		edgeCreated: "CAST(e.created_at AS TEXT)",
		nodeKey: map[model.Order]string{
			model.OrderNewest: "COALESCE(julianday(n.created_at), -1e15)",
			model.OrderOldest: "COALESCE(julianday(n.created_at), 1e15)",
		},
		edgeKey: map[model.Order]string{
			model.OrderNewest: "COALESCE(julianday(e.created_at), -1e15)",
			model.OrderOldest: "COALESCE(julianday(e.created_at), 1e15)",
		},
	}
	if vectors {
		l.hasVector += " OR EXISTS (SELECT 1 FROM node_embeddings v WHERE v.node_id = n.id)"
	}
	return l
}

// like matches a pattern in a text column of at most MaxText bytes.
func like(column string) string {
	return fmt.Sprintf(`CASE WHEN octet_length(%[1]s) > %[2]d THEN 0 ELSE CAST(%[1]s AS TEXT) LIKE ? ESCAPE '\' END`, column, hypergraph.MaxText)
}
