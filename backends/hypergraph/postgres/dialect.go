package postgres

import (
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// conditions begin with the workspace, which is $1 of every statement.
type conditions = sqlgraph.Conditions

// dialect is what sqlgraph needs to know of this schema: every key is led by the
// workspace.
type dialect struct{ *Store }

// Conditions implements sqlgraph.Dialect.
func (d dialect) Conditions(alias string) conditions {
	return conditions{Dollar: true, Parts: []string{alias + `.workspace = $1`}, Args: []any{d.workspace}}
}

// Table implements sqlgraph.Dialect.
func (dialect) Table(name string) string { return schemaName + `.` + name }

// Tie implements sqlgraph.Dialect.
func (dialect) Tie(a, b string) string { return ` AND ` + a + `.workspace = ` + b + `.workspace` }

// NodeFilter implements sqlgraph.Dialect.
func (dialect) NodeFilter(_ string, c *conditions, f hypergraph.NodeFilter) error {
	c.Nodes(f, nodeFilterColumns)
	return nil
}

// Nodes implements sqlgraph.Dialect.
func (d dialect) Nodes(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Node, error) {
	return d.selectNodes(q, c, rest)
}

// Edges implements sqlgraph.Dialect.
func (d dialect) Edges(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Edge, error) {
	return d.selectEdges(q, c, rest)
}

// EdgeNewest implements sqlgraph.Dialect.
func (dialect) EdgeNewest() string { return `e.created_at DESC, e.id DESC` }

// Holds implements sqlgraph.Dialect.
func (dialect) Holds(id string) bool { return sqlgraph.Storable(id) }

// Lock implements sqlgraph.Dialect.
func (dialect) Lock(q sqlgraph.Query, alias string) string {
	if own, ok := q.(*query); ok && own.changing {
		return ` FOR UPDATE OF ` + alias
	}
	return ``
}

var (
	nodeFilterColumns = sqlgraph.Columns{ID: `n.id`, Type: `n.type`, Tier: `n.tier`, Subtype: `n.subtype`, Confidence: `n.confidence`, Subject: `n.subject_id`, Time: createdAt("n")}
	edgeFilterColumns = sqlgraph.Columns{ID: `e.id`, Type: `e.type`, Time: createdAt("e")}
)

// createdAt compares the creation times of an alias.
func createdAt(alias string) func(*conditions, string, time.Time) {
	return func(c *conditions, sign string, t time.Time) { c.Add(alias+`.created_at`+sign+`?`, t.UnixNano()) }
}

// rules are what the schema admits.
var rules = sqlgraph.Rules{Vocabulary: vocabulary, PlainText: true, Subjects: true, Dimensions: maxVectorDimensions}
