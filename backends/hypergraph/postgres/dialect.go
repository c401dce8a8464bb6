package postgres

import (
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/internal/cursor"
)

// conditions begin with the workspace, which is $1 of every statement.
type conditions = sqlgraph.Conditions

// dialect describes this schema to sqlgraph.
type dialect struct{ *Store }

// NodeFilter implements sqlgraph.Dialect.
func (dialect) NodeFilter(_ string, c *conditions, f hypergraph.NodeFilter) error {
	c.Nodes(f, nodeFilterColumns)
	return nil
}

// TierColumn implements sqlgraph.Dialect.
func (dialect) TierColumn() string { return nodeFilterColumns.Tier }

// EdgeNewest implements sqlgraph.Dialect.
func (dialect) EdgeNewest() string { return `e.created_at DESC, e.id DESC` }

// Holds implements sqlgraph.Dialect.
func (dialect) Holds(id string) bool { return sqlgraph.Storable(id) }

// Lock implements sqlgraph.Dialect.
func (dialect) Lock(q sqlgraph.Query, rows string) string {
	if own, ok := q.(*query); ok && own.changing {
		return ` FOR ` + rows
	}
	return ``
}

// TierTotals implements sqlgraph.Dialect.
func (d dialect) TierTotals() (string, []any) {
	return `SELECT n.tier, count(*), sum(octet_length(n.content))::bigint FROM memdesk.nodes n WHERE n.workspace = $1 GROUP BY n.tier
		UNION ALL SELECT $2::text, count(*), COALESCE(sum(octet_length(e.label)), 0)::bigint FROM memdesk.hyperedges e WHERE e.workspace = $1`,
		[]any{d.workspace, hypergraph.EdgeTier}
}

var (
	nodeFilterColumns = sqlgraph.Columns{ID: `n.id`, Type: `n.type`, Tier: `n.tier`, Subtype: `n.subtype`, Confidence: `n.confidence`, Subject: `n.subject_id`, Time: createdAt("n")}
	edgeFilterColumns = sqlgraph.Columns{ID: `e.id`, Type: `e.type`, Time: createdAt("e")}
)

// createdAt compares the creation times of an alias.
func createdAt(alias string) func(*conditions, string, time.Time) {
	return func(c *conditions, sign string, t time.Time) {
		c.Add(alias+`.created_at`+sign+`?`, cursor.UnixNano(t))
	}
}

var vocabulary = hypergraph.Recurse()

// maxVectorDimensions is the published limit (provider-contract.md H12).
const maxVectorDimensions = 16000

// rules are the schema's limits.
var rules = sqlgraph.Rules{Vocabulary: vocabulary, PlainText: true, Subjects: true, Dimensions: maxVectorDimensions}
