package postgres

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

var nodeColumns = sqlgraph.NodeColumns("words", "words_whole")

// nodeValues are a row's values in the order of nodeColumns.
func nodeValues(n hypergraph.Node) []any {
	words, whole := lexemes(n.Content, n.Metadata)
	return sqlgraph.NodeValues(n, words, whole)
}

// Now implements sqlgraph.NodeTable.
func (d dialect) Now() time.Time { return d.clock.Now() }

// Time implements sqlgraph.NodeTable.
func (dialect) Time(t time.Time) any { return sqlgraph.Nanos(t) }

// Form implements sqlgraph.NodeTable: every column has one form.
func (dialect) Form(_ []model.BesideRow, _, _ string, v any) any { return v }

// InsertNode implements sqlgraph.NodeTable.
func (d dialect) InsertNode(q sqlgraph.Query, n hypergraph.Node) (bool, error) {
	return d.Insert(q, "nodes", nodeColumns, nodeValues(n)...)
}

// InsertNodes implements sqlgraph.NodeTable by COPY.
func (d dialect) InsertNodes(shared sqlgraph.Query, nodes []hypergraph.Node) error {
	q := shared.(*query)
	_, err := q.tx.CopyFrom(q.ctx, pgx.Identifier{schemaName, "nodes"}, d.Columns(nodeColumns...), pgx.CopyFromSlice(len(nodes), func(i int) ([]any, error) {
		return d.Values(nodeValues(nodes[i])...), nil
	}))
	return q.failed(err)
}

// CreateNodes adds many nodes fast (sqlgraph.Writes). ANALYZE then updates the planner's statistics;
// where the role may not run it, the server does later.
func (o ops) CreateNodes(ctx context.Context, nodes iter.Seq[hypergraph.Node]) (int64, error) {
	committed, err := o.Writes.CreateNodes(ctx, nodes)
	if err != nil {
		return committed, err
	}
	_ = o.s.transaction(ctx, "analyze", func(q *query) error {
		_, err := q.Exec(`ANALYZE memdesk.nodes`)
		return err
	})
	return committed, model.FromContext(ctx, "create nodes")
}

// RewriteNode implements sqlgraph.NodeTable. Where content and metadata stay, their words and the index
// entry stay too.
func (d dialect) RewriteNode(q sqlgraph.Query, old, n hypergraph.Node, set sqlgraph.Set) error {
	delete(q.(*query).held, n.ID)
	if old.Content != n.Content || old.Metadata != n.Metadata {
		words, whole := lexemes(n.Content, n.Metadata)
		set.Put(`words`, true, words)
		set.Put(`words_whole`, true, whole)
	}
	set.Put(`has_vector`, old.HasVector && old.Content != n.Content, false)
	set.Put(`updated_at`, true, d.Time(d.Now()))
	set.Add(`row_version = row_version + 1`)
	return d.Update(q, "nodes", "id", n.ID, set)
}

// removeBatch is how many nodes one statement of RemoveNodes removes.
const removeBatch = 5000

// RemoveNodes implements sqlgraph.NodeTable. It touches the nodes' edges, so that of two transactions
// that take members out of one edge, not both assume that it keeps two. The schema's own rules remove a
// node's dependent rows.
func (d dialect) RemoveNodes(shared sqlgraph.Query, ids []string) (removed int64, err error) {
	q := shared.(*query)
	for part := range slices.Chunk(ids, removeBatch) {
		for _, id := range part {
			delete(q.held, id)
		}
		var edges []string
		if err := q.Each(`UPDATE memdesk.hyperedges e SET row_version = row_version + 1
			WHERE e.workspace = $1 AND e.id IN (SELECT m.hyperedge_id FROM memdesk.membership m WHERE m.workspace = $1 AND m.node_id = ANY($2))
			RETURNING e.id`, []any{d.workspace, part}, sqlgraph.Collect(&edges)); err != nil {
			return 0, err
		}
		n, err := q.Exec(`DELETE FROM memdesk.nodes WHERE workspace = $1 AND id = ANY($2)`, d.workspace, part)
		if err != nil {
			return 0, err
		}
		removed += n
		if len(edges) == 0 {
			continue
		}
		if _, err := q.Exec(`DELETE FROM memdesk.hyperedges e WHERE e.workspace = $1 AND e.id = ANY($2) AND
			(SELECT count(DISTINCT m.node_id) FROM memdesk.membership m WHERE m.workspace = $1 AND m.hyperedge_id = e.id) < 2`, d.workspace, edges); err != nil {
			return 0, err
		}
	}
	return removed, nil
}
