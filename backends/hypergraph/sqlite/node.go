package sqlite

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// nodeColumns are read by scanNode from the alias n. JSON columns are cast, because
// recurse stores them as BLOB, TEXT or NULL (recurse.md, "Encodings as stored").
func (l layout) nodeColumns() string {
	if l.own { // every column is there and of its type
		return `n.seq, n.id, n.type, n.subtype, ` + bounded(`n.content`) + `, n.tier, n.confidence, ` + bounded(`n.provenance`) + `, ` + bounded(`n.metadata`) + `, n.subject_id,
			n.created_at, n.updated_at, n.last_accessed, n.access_count, ` + l.hasVector + `, n.row_version, ` + nodeOversize
	}
	return `n.rowid, n.id, n.type, COALESCE(n.subtype, ''), ` + bounded(`n.content`) + `, COALESCE(n.tier, 'task'),
		COALESCE(CAST(n.confidence AS REAL), 1.0), COALESCE(CAST(` + bounded(`n.provenance`) + ` AS TEXT), ''), COALESCE(CAST(` + bounded(`n.metadata`) + ` AS TEXT), ''),
		'', ` + l.created + `, ` + l.updated + `, ` + l.accessed + `, COALESCE(CAST(n.access_count AS INTEGER), 0),
		(` + l.hasVector + `), 0, ` + nodeOversize
}

var nodeOversize = oversize(`n.content`, `n.provenance`, `n.metadata`)

// nodeRow is a node as a query gives it.
type nodeRow struct {
	rowid  int64
	node   hypergraph.Node
	weight float64
}

// selectNodes reads the nodes of `FROM nodes n` and the rest of a query.
func (s *Store) selectNodes(q *query, rest string, args []any) ([]nodeRow, error) {
	return s.weighNodes(q, `0.0`, `FROM nodes n `+rest, args)
}

// weighNodes reads nodes with one more number, and the decisions of those that may
// have one.
func (s *Store) weighNodes(q *query, weight, from string, args []any) ([]nodeRow, error) {
	var rows []nodeRow
	var decisions []string
	err := q.Each(`SELECT `+s.layout.nodeColumns()+`, `+weight+` `+from, args, func(scan func(...any) error) error {
		rows = append(rows, nodeRow{})
		r := &rows[len(rows)-1]
		n := &r.node
		var created, updated, accessed any
		err := scan(&r.rowid, &n.ID, &n.Type, &n.Subtype, &n.Content, &n.Tier, &n.Confidence, &n.Provenance, &n.Metadata,
			&n.SubjectID, &created, &updated, &accessed, &n.AccessCount, &n.HasVector, &n.RowVersion, &n.Oversize, &r.weight)
		n.CreatedAt, n.UpdatedAt, n.LastAccessed = moment(created), moment(updated), moment(accessed)
		if n.Type == decisionType {
			decisions = append(decisions, n.ID)
		}
		return err
	})
	if err != nil || len(decisions) == 0 {
		return rows, err
	}
	return rows, s.addDecisions(q, rows, decisions)
}

// decisionType is the type of the nodes that may have a row in decisions.
const decisionType = "decision"

func (s *Store) addDecisions(q *query, rows []nodeRow, ids []string) error {
	got := make(map[string]*hypergraph.Decision, len(ids))
	for batch := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.in(`d.node_id`, ``, batch)
		err := q.Each(`SELECT d.node_id, d.decision_type, COALESCE(CAST(d.confidence AS INTEGER), 0), COALESCE(d.prompt, ''),
			COALESCE(CAST(d.files AS TEXT), ''), COALESCE(d.branch, ''), COALESCE(d.commit_hash, ''), COALESCE(d.parent_id, ''), COALESCE(d.status, '')
			FROM decisions d `+c.where(), c.args, func(scan func(...any) error) error {
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

// GetNode implements hypergraph.Ops.
func (o ops) GetNode(ctx context.Context, id string) (hypergraph.Node, error) {
	var n hypergraph.Node
	err := o.view(ctx, "get", func(q *query) (err error) {
		_, n, err = o.s.getNode(q, id)
		return err
	})
	return n, err
}

func (s *Store) getNode(q *query, id string) (rowid int64, n hypergraph.Node, err error) {
	rows, err := s.selectNodes(q, `WHERE n.id = ?`, []any{id})
	switch {
	case err != nil:
		return 0, n, err
	case len(rows) == 0:
		return 0, n, noSuchNode(q.Op(), id)
	}
	return rows[0].rowid, rows[0].node, nil
}

func noSuchNode(op, id string) error {
	return model.Errorf(model.NotFound, op, "there is no node %.200q", id)
}

// nodesByRowid reads nodes in the order of their rowids; one that is gone is left
// out.
func (s *Store) nodesByRowid(q *query, rowids []int64) ([]hypergraph.Node, error) {
	out := make([]hypergraph.Node, 0, len(rowids))
	err := s.eachNode(q, rowids, func(_ int64, n hypergraph.Node) { out = append(out, n) })
	return out, err
}

// eachNode is nodesByRowid with the rowids.
func (s *Store) eachNode(q *query, rowids []int64, fn func(int64, hypergraph.Node)) error {
	if len(rowids) == 0 {
		return nil
	}
	rows, err := s.selectNodes(q, `WHERE n.rowid IN (SELECT value FROM json_each(?))`, []any{jsonInts(rowids)})
	if err != nil {
		return err
	}
	got := make(map[int64]hypergraph.Node, len(rows))
	for _, r := range rows {
		got[r.rowid] = r.node
	}
	for _, r := range rowids {
		if n, ok := got[r]; ok {
			fn(r, n)
		}
	}
	return nil
}

// jsonInts passes a list of any length as one parameter.
func jsonInts(v []int64) string {
	return strings.ReplaceAll(fmt.Sprint(v), " ", ",")
}

// AllNodes implements hypergraph.Ops. It reads in batches, so a slow reader keeps
// no snapshot open; a node that is created meanwhile behind the place reached is
// not seen.
func (o ops) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	const batch = 500
	return func(yield func(hypergraph.Node, error) bool) {
		after := ""
		for first := true; ; first = false {
			var nodes []hypergraph.Node
			err := o.view(ctx, "list", func(q *query) (err error) {
				nodes, err = o.s.nodesAfter(q, f, after, first, batch)
				return err
			})
			if err != nil {
				yield(hypergraph.Node{}, err)
				return
			}
			for _, n := range nodes {
				if !yield(n, nil) {
					return
				}
			}
			if len(nodes) < batch {
				return
			}
			after = nodes[len(nodes)-1].ID
		}
	}
}

// NodeIDs implements hypergraph.Ops, with what AllNodes says of slow readers.
func (o ops) NodeIDs(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[string, error] {
	const batch = 5000
	return func(yield func(string, error) bool) {
		after := ""
		for first := true; ; first = false {
			var ids []string
			err := o.view(ctx, "list", func(q *query) error {
				ids = ids[:0]
				c, err := o.s.nodeConditions(q.Op(), f)
				if err != nil {
					return err
				}
				if !first {
					c.add(`n.id > ?`, after)
				}
				return q.Each(`SELECT n.id FROM nodes n `+c.where()+` ORDER BY n.id LIMIT ?`, append(c.args, batch), collectTexts(&ids))
			})
			if err != nil {
				yield("", err)
				return
			}
			for _, id := range ids {
				if !yield(id, nil) {
					return
				}
			}
			if len(ids) < batch {
				return
			}
			after = ids[len(ids)-1]
		}
	}
}

// StreamNodes implements hypergraph.Ops, in the order in which the rows lie, with
// what AllNodes says of slow readers.
func (o ops) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	const batch = 1000
	return func(yield func(hypergraph.Node, error) bool) {
		for after := int64(math.MinInt64); ; {
			var rows []nodeRow
			err := o.view(ctx, "list", func(q *query) error {
				c, err := o.s.nodeConditions(q.Op(), hypergraph.NodeFilter{})
				if err != nil {
					return err
				}
				c.add(`n.rowid > ?`, after)
				rows, err = o.s.selectNodes(q, c.where()+` ORDER BY n.rowid LIMIT ?`, append(c.args, batch))
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

func (s *Store) nodesAfter(q *query, f hypergraph.NodeFilter, after string, first bool, limit int) ([]hypergraph.Node, error) {
	c, err := s.nodeConditions(q.Op(), f)
	if err != nil {
		return nil, err
	}
	if !first {
		c.add(`n.id > ?`, after)
	}
	rows, err := s.selectNodes(q, c.where()+` ORDER BY n.id LIMIT ?`, append(c.args, limit))
	nodes := make([]hypergraph.Node, len(rows))
	for i, r := range rows {
		nodes[i] = r.node
	}
	return nodes, err
}

// conditions are the parts of a WHERE clause, all of which must hold.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(text string, args ...any) {
	c.parts = append(c.parts, text)
	c.args = append(c.args, args...)
}

// in keeps rows whose expression is one of the values; none is no constraint.
func (c *conditions) in(expr, not string, values []string) {
	if len(values) == 0 {
		return
	}
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	c.add(expr+not+` IN (`+strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")+`)`, args...)
}

func (c *conditions) where() string {
	if len(c.parts) == 0 {
		return ""
	}
	return `WHERE ` + strings.Join(c.parts, ` AND `)
}

func (c *conditions) clone() conditions {
	return conditions{parts: append([]string(nil), c.parts...), args: append([]any(nil), c.args...)}
}

// maxIDs is below SQLite's limit of parameters.
const maxIDs = 30000

// nodeConditions is a filter as SQL over the alias n.
func (s *Store) nodeConditions(op string, f hypergraph.NodeFilter) (conditions, error) {
	var c conditions
	if n := len(f.IDs) + len(f.Types) + len(f.Tiers) + len(f.Subtypes) + len(f.NotSubtypes); n > maxIDs {
		return c, model.Errorf(model.InvalidInput, op, "a filter takes at most %d values, this one has %d", maxIDs, n)
	}
	if !s.layout.own {
		c.add(`typeof(n.id) = 'text'`)
	}
	c.in(`n.id`, ``, f.IDs)
	c.in(`n.type`, ``, f.Types)
	c.in(s.tierColumn(), ``, f.Tiers)
	c.in(s.subtypeColumn(), ``, f.Subtypes)
	c.in(s.subtypeColumn(), ` NOT`, f.NotSubtypes)
	if f.MinConfidence > 0 {
		c.add(`COALESCE(n.confidence, 1.0) >= ?`, f.MinConfidence)
	}
	s.addTimes(&c, `n.created_at`, f.CreatedAfter, f.CreatedBefore)
	switch {
	case f.SubjectID == "":
	case !s.layout.own:
		c.add(`0`) // no node of such a file names a subject
	default:
		c.add(`n.subject_id = ? AND n.subject_id <> ''`, f.SubjectID)
	}
	return c, nil
}

func (s *Store) tierColumn() string {
	if s.layout.own {
		return `n.tier`
	}
	return `COALESCE(n.tier, 'task')`
}

func (s *Store) subtypeColumn() string {
	if s.layout.own {
		return `n.subtype`
	}
	return `COALESCE(n.subtype, '')`
}

// addTimes bounds a creation time, both ends excluded.
func (s *Store) addTimes(c *conditions, column string, after, before time.Time) {
	bound := func(sign string, t time.Time) {
		if t.IsZero() {
			return
		}
		if s.layout.own {
			c.add(column+sign+`?`, t.UnixNano())
			return
		}
		c.add(`julianday(`+column+`)`+sign+`julianday(?)`, t.UTC().Format("2006-01-02 15:04:05.999999999"))
	}
	bound(` > `, after)
	bound(` < `, before)
}
