package postgres

import (
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// InsertEdge implements sqlgraph.EdgeTable.
func (d dialect) InsertEdge(q sqlgraph.Query, e hypergraph.Edge) (bool, error) {
	if e.CreatedAt.IsZero() {
		e.CreatedAt = d.clock.Now()
	}
	made, err := q.Exec(`INSERT INTO memdesk.hyperedges (workspace, id, type, label, weight, created_at, metadata)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace, id) DO NOTHING`,
		d.workspace, e.ID, e.Type, e.Label, e.Weight, e.CreatedAt.UnixNano(), e.Metadata)
	return made > 0, err
}

// EdgeMoved implements sqlgraph.EdgeTable: nothing is derived from edges.
func (dialect) EdgeMoved(sqlgraph.Query, *hypergraph.Edge, *hypergraph.Edge) error { return nil }

// Revised implements sqlgraph.EdgeTable.
func (dialect) Revised() string { return `, row_version = row_version + 1` }

// InsertMembers implements sqlgraph.EdgeTable. It refuses before anything is written.
// The members are locked against being removed until the commit.
func (d dialect) InsertMembers(q sqlgraph.Query, edge string, members []hypergraph.Membership) error {
	if len(members) == 0 {
		return nil
	}
	nodes, roles, positions := make([]string, len(members)), make([]string, len(members)), make([]int64, len(members))
	for i, m := range members {
		nodes[i], roles[i], positions[i] = m.NodeID, m.Role, m.Position
		if !sqlgraph.Storable(m.NodeID) {
			return sqlgraph.NoSuchNode(q.Op(), m.NodeID)
		}
	}
	there := map[string]bool{}
	err := q.Each(`SELECT id FROM memdesk.nodes WHERE workspace = $1 AND id = ANY($2) ORDER BY id FOR KEY SHARE`, []any{d.workspace, nodes},
		func(scan func(...any) error) error {
			var id string
			err := scan(&id)
			there[id] = true
			return err
		})
	if err != nil {
		return err
	}
	for _, id := range nodes {
		if !there[id] {
			return sqlgraph.NoSuchNode(q.Op(), id)
		}
	}
	_, err = q.Exec(`INSERT INTO memdesk.membership (workspace, hyperedge_id, node_id, role, position)
		SELECT $1, $2, u.node, u.role, u.position FROM unnest($3::text[], $4::text[], $5::bigint[]) AS u(node, role, position)`,
		d.workspace, edge, nodes, roles, positions)
	return err
}

// edgeColumns are read by scanEdge from the alias e: the edge, and its members in the
// order of their positions.
var edgeColumns = `e.id, e.type, ` + bounded(`e.label`) + `, e.weight, ` + bounded(`e.metadata`) + `, e.created_at, ` + oversize(`e.label`, `e.metadata`) + `,
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

// selectEdges reads edges of a condition over the alias e with their members.
func (s *Store) selectEdges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	var out []hypergraph.Edge
	err := q.Each(`SELECT `+edgeColumns+` FROM memdesk.hyperedges e`+c.Where()+rest, c.Args, func(scan func(...any) error) error {
		e, err := scanEdge(scan)
		out = append(out, e)
		return err
	})
	return out, err
}
