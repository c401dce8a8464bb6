package sqlite

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// nodeSelect lists the columns that weighNodes reads from the alias n. JSON columns are cast, because
// recurse stores them as BLOB, TEXT or NULL (recurse.md, "Encodings as stored").
func (l layout) nodeSelect() string {
	if l.own { // every column exists and has its declared type
		return `n.seq, n.id, n.type, n.subtype, ` + sqlgraph.Bounded(`n.content`) + `, n.tier, n.confidence, ` + sqlgraph.Bounded(`n.provenance`) + `, ` + sqlgraph.Bounded(`n.metadata`) + `, n.subject_id,
			n.created_at, n.updated_at, n.last_accessed, n.access_count, ` + l.hasVector + `, n.row_version, ` + nodeOversize
	}
	return `n.rowid, n.id, COALESCE(n.type, ''), COALESCE(n.subtype, ''), ` + sqlgraph.Bounded(`n.content`) + `, COALESCE(n.tier, 'task'),
		COALESCE(CAST(n.confidence AS REAL), 1.0), COALESCE(CAST(` + sqlgraph.Bounded(`n.provenance`) + ` AS TEXT), ''), COALESCE(CAST(` + sqlgraph.Bounded(`n.metadata`) + ` AS TEXT), ''),
		'', ` + l.created + `, ` + l.updated + `, ` + l.accessed + `, COALESCE(CAST(n.access_count AS INTEGER), 0),
		(` + l.hasVector + `), 0, ` + nodeOversize
}

var nodeOversize = sqlgraph.Oversize(`n.content`, `n.provenance`, `n.metadata`)

// nodeRow is a node as a query returns it.
type nodeRow struct {
	rowid  int64
	node   hypergraph.Node
	weight float64
}

// selectNodes reads the nodes of `FROM nodes n` and the rest of a query.
func (s *Store) selectNodes(q sqlgraph.Query, rest string, args []any) ([]nodeRow, error) {
	return s.weighNodes(q, nil, `0.0`, `FROM nodes n `+rest, args)
}

// weighNodes reads nodes with one more number each, and the decisions of nodes that may have one. It overwrites rows, for
// callers that read many batches.
func (s *Store) weighNodes(q sqlgraph.Query, rows []nodeRow, weight, from string, args []any) ([]nodeRow, error) {
	rows = rows[:0]
	var decisions []string
	err := q.Each(`SELECT `+s.layout.nodeSelect()+`, `+weight+` `+from, args, func(scan func(...any) error) error {
		rows = append(rows, nodeRow{})
		r := &rows[len(rows)-1]
		n := &r.node
		var created, updated, accessed any
		err := scan(&r.rowid, &n.ID, &n.Type, &n.Subtype, &n.Content, &n.Tier, &n.Confidence, &n.Provenance, &n.Metadata,
			&n.SubjectID, &created, &updated, &accessed, &n.AccessCount, &n.HasVector, &n.RowVersion, &n.Oversize, &r.weight)
		n.CreatedAt, n.UpdatedAt, n.LastAccessed = moment(created), moment(updated), moment(accessed)
		if n.Type == hypergraph.DecisionType || !s.layout.own { // recurse's table takes a row of any node
			decisions = append(decisions, n.ID)
		}
		return err
	})
	if err != nil || len(decisions) == 0 {
		return rows, err
	}
	return rows, s.addDecisions(q, rows, decisions)
}

func (s *Store) addDecisions(q sqlgraph.Query, rows []nodeRow, ids []string) error {
	got := make(map[string]*hypergraph.Decision, len(ids))
	for batch := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`d.node_id`, batch)
		err := q.Each(`SELECT d.node_id, COALESCE(d.decision_type, ''), COALESCE(CAST(d.confidence AS INTEGER), 0), COALESCE(d.prompt, ''),
			COALESCE(CAST(d.files AS TEXT), ''), COALESCE(d.branch, ''), COALESCE(d.commit_hash, ''), COALESCE(d.parent_id, ''), COALESCE(d.status, '')
			FROM decisions d `+c.Where(), c.Args, func(scan func(...any) error) error {
			var id string
			var d hypergraph.Decision
			err := scan(&id, &d.Kind, &d.Confidence, &d.Prompt, &d.Files, &d.Branch, &d.Commit, &d.ParentID, &d.Status)
			got[id] = &d
			return err
		})
		if err != nil {
			return err
		}
	}
	for i := range rows {
		rows[i].node.Decision = got[rows[i].node.ID]
	}
	return nil
}

// Node implements sqlgraph.Dialect.
func (d dialect) Node(q sqlgraph.Query, id string) (hypergraph.Node, error) {
	rows, err := d.selectNodes(q, `WHERE n.id = ?`, []any{id})
	switch {
	case err != nil:
		return hypergraph.Node{}, err
	case len(rows) == 0:
		return hypergraph.Node{}, sqlgraph.NoSuchNode(q.Op(), id)
	}
	return rows[0].node, nil
}

// jsonInts passes a list of any length as one parameter.
func jsonInts(v []int64) string {
	return strings.ReplaceAll(fmt.Sprint(v), " ", ",")
}

// StreamNodes implements hypergraph.Ops, in the order of the stored rows. It treats slow readers as
// AllNodes does.
func (o ops) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	const batch = 1000
	return func(yield func(hypergraph.Node, error) bool) {
		var rows []nodeRow
		for after := int64(math.MinInt64); ; {
			err := o.view(ctx, "list", func(q *query) (err error) {
				var c conditions
				if err := o.s.addNodes(q.Op(), &c, hypergraph.NodeFilter{}); err != nil {
					return err
				}
				c.Add(`n.rowid > ?`, after)
				rows, err = o.s.weighNodes(q, rows, `0.0`, `FROM nodes n `+c.Where()+c.SQL(` ORDER BY n.rowid LIMIT ?`, batch), c.Args)
				return err
			})
			if err != nil {
				yield(hypergraph.Node{}, err)
				return
			}
			for i := range rows {
				if !yield(rows[i].node, nil) {
					return
				}
			}
			if len(rows) < batch {
				return
			}
			after = rows[len(rows)-1].rowid
		}
	}
}
