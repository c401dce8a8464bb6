package postgres

import (
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// EdgeMoved implements sqlgraph.EdgeTable: nothing is derived from edges.
func (dialect) EdgeMoved(sqlgraph.Query, *hypergraph.Edge, *hypergraph.Edge) error { return nil }

// Revised implements sqlgraph.EdgeTable.
func (dialect) Revised() string { return `row_version = row_version + 1` }

// edgeSelect is the columns that scanEdge reads from the alias e: the edge, and its members by position.
var edgeSelect = `e.id, e.type, ` + sqlgraph.Bounded(`e.label`) + `, e.weight, ` + sqlgraph.Bounded(`e.metadata`) + `, e.created_at, ` + sqlgraph.Oversize(`e.label`, `e.metadata`) + `,
	ARRAY(SELECT m.node_id` + ofEdge + `), ARRAY(SELECT m.role` + ofEdge + `), ARRAY(SELECT m.position::bigint` + ofEdge + `)`

const ofEdge = ` FROM memdesk.membership m WHERE m.workspace = e.workspace AND m.hyperedge_id = e.id ORDER BY m.position, m.node_id, m.role`

func scanEdge(scan func(...any) error, more ...any) (hypergraph.Edge, error) {
	var e hypergraph.Edge
	var created int64
	var nodes, roles []string
	var positions []int64
	err := scan(append([]any{&e.ID, &e.Type, &e.Label, &e.Weight, &e.Metadata, &created, &e.Oversize, &nodes, &roles, &positions}, more...)...)
	e.CreatedAt = time.Unix(0, created).UTC()
	for i := range nodes {
		e.Members = append(e.Members, hypergraph.Membership{NodeID: nodes[i], Role: roles[i], Position: positions[i]})
	}
	return e, err
}

// Edges implements sqlgraph.Dialect.
func (dialect) Edges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	var out []hypergraph.Edge
	err := q.Each(`SELECT `+edgeSelect+` FROM memdesk.hyperedges e`+c.Where()+rest, c.Args, func(scan func(...any) error) error {
		e, err := scanEdge(scan)
		out = append(out, e)
		return err
	})
	return out, err
}
