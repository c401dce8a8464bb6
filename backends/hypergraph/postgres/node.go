package postgres

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// nodeColumns are read by scanNode from the aliases n and, for decisions, d.
const nodeColumns = `n.id, n.type, n.subtype, n.content, n.tier, n.confidence, n.provenance, n.metadata, n.subject_id,
	n.created_at, n.updated_at, COALESCE(n.last_accessed, 0), n.access_count, n.has_vector, n.row_version,
	d.decision_type, d.confidence, d.prompt, d.files, d.branch, d.commit_hash, d.parent_id, d.status`

const withDecision = ` LEFT JOIN memdesk.decisions d ON d.workspace = n.workspace AND d.node_id = n.id AND n.type = 'decision' `

func scanNode(scan func(...any) error, more ...any) (hypergraph.Node, error) {
	var n hypergraph.Node
	var d hypergraph.Decision
	var kind, prompt, files, branch, commit, parent, status *string
	var confidence *int64
	var created, updated, accessed int64
	err := scan(append([]any{&n.ID, &n.Type, &n.Subtype, &n.Content, &n.Tier, &n.Confidence, &n.Provenance, &n.Metadata, &n.SubjectID,
		&created, &updated, &accessed, &n.AccessCount, &n.HasVector, &n.RowVersion,
		&kind, &confidence, &prompt, &files, &branch, &commit, &parent, &status}, more...)...)
	n.CreatedAt, n.UpdatedAt = time.Unix(0, created).UTC(), time.Unix(0, updated).UTC()
	if accessed != 0 {
		n.LastAccessed = time.Unix(0, accessed).UTC()
	}
	if kind != nil {
		d = hypergraph.Decision{Kind: *kind, Confidence: *confidence, Prompt: *prompt, Files: *files, Branch: *branch, Commit: *commit, Status: *status}
		if parent != nil {
			d.ParentID = *parent
		}
		n.Decision = &d
	}
	return n, err
}

// GetNode implements hypergraph.Ops. Inside a transaction it locks the node.
func (o ops) GetNode(ctx context.Context, id string) (hypergraph.Node, error) {
	var n hypergraph.Node
	err := o.read(ctx, "get", func(q *query) (err error) {
		n, err = o.s.getNode(q, id)
		return err
	})
	return n, err
}

func (s *Store) getNode(q *query, id string) (hypergraph.Node, error) {
	if n, ok := q.held[id]; ok && q.broken == nil {
		return cloned(n), nil
	}
	var n hypergraph.Node
	if !storable(id) {
		return n, noSuchNode(q.op, id)
	}
	lock := ""
	if q.changing {
		lock = ` FOR UPDATE OF n`
	}
	found := false
	err := q.each(`SELECT `+nodeColumns+` FROM memdesk.nodes n`+withDecision+`WHERE n.workspace = $1 AND n.id = $2`+lock, []any{s.workspace, id},
		func(scan func(...any) error) (err error) {
			found = true
			n, err = scanNode(scan)
			return err
		})
	switch {
	case err != nil:
		return n, err
	case !found:
		return n, noSuchNode(q.op, id)
	}
	if q.changing {
		q.held[id] = cloned(n)
	}
	return n, nil
}

func cloned(n hypergraph.Node) hypergraph.Node {
	if n.Decision != nil {
		d := *n.Decision
		n.Decision = &d
	}
	return n
}

func noSuchNode(op, id string) error {
	return model.Errorf(model.NotFound, op, "there is no node %.200q", id)
}

// selectNodes reads the nodes of a condition over the alias n and the rest of the
// statement.
func (s *Store) selectNodes(q *query, c *conditions, rest string) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	err := q.each(`SELECT `+nodeColumns+` FROM memdesk.nodes n`+withDecision+c.where()+rest, c.args, func(scan func(...any) error) error {
		n, err := scanNode(scan)
		out = append(out, n)
		return err
	})
	return out, err
}

// nodesByID reads nodes in the order of ids; those that are not there are left
// out.
func (s *Store) nodesByID(q *query, ids []string) ([]hypergraph.Node, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	c := s.conditions("n")
	c.add(`n.id = ANY(`, `)`, ids)
	nodes, err := s.selectNodes(q, c, ``)
	if err != nil {
		return nil, err
	}
	got := make(map[string]hypergraph.Node, len(nodes))
	for _, n := range nodes {
		got[n.ID] = n
	}
	out := make([]hypergraph.Node, 0, len(got))
	for _, id := range ids {
		if n, ok := got[id]; ok {
			out = append(out, n)
			delete(got, id)
		}
	}
	return out, nil
}

// allBatch is how many nodes AllNodes reads at once.
const allBatch = 500

// NodeIDs implements hypergraph.Ops, with the locks that AllNodes takes.
func (o ops) NodeIDs(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[string, error] {
	const batch = 5000
	return func(yield func(string, error) bool) {
		after := ""
		for {
			var ids []string
			err := o.read(ctx, "list", func(q *query) error {
				ids = ids[:0]
				c := o.s.conditions("n")
				c.nodes(f)
				if after != "" {
					c.add(`n.id > `, ``, after)
				}
				rest := ` ORDER BY n.id LIMIT ` + strconv.Itoa(batch)
				if q.changing && (f.SubjectID != "" || len(f.IDs) > 0) {
					rest += ` FOR UPDATE OF n`
				}
				return q.each(`SELECT n.id FROM memdesk.nodes n `+c.where()+rest, c.args, collect(&ids))
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

// StreamNodes implements hypergraph.Ops.
func (o ops) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	return o.AllNodes(ctx, hypergraph.NodeFilter{})
}

// AllNodes implements hypergraph.Ops. Outside a transaction it reads in batches, so
// a slow reader keeps no snapshot open; a node that is created meanwhile behind the
// place reached is not seen. Inside one, the nodes of a person, and those named by
// id, are locked: what is decided over them holds.
func (o ops) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	return func(yield func(hypergraph.Node, error) bool) {
		after := ""
		for {
			var nodes []hypergraph.Node
			err := o.read(ctx, "list", func(q *query) (err error) {
				c := o.s.conditions("n")
				c.nodes(f)
				if after != "" {
					c.add(`n.id > `, ``, after)
				}
				rest := ` ORDER BY n.id LIMIT ` + strconv.Itoa(allBatch)
				if q.changing && (f.SubjectID != "" || len(f.IDs) > 0) {
					rest += ` FOR UPDATE OF n`
				}
				nodes, err = o.s.selectNodes(q, c, rest)
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
			if len(nodes) < allBatch {
				return
			}
			after = nodes[len(nodes)-1].ID
		}
	}
}

// conditions are the parts of a WHERE clause, all of which must hold, beginning
// with the workspace.
type conditions struct {
	parts []string
	args  []any
}

func (s *Store) conditions(alias string) *conditions {
	return &conditions{parts: []string{alias + `.workspace = $1`}, args: []any{s.workspace}}
}

// add appends a part with one parameter between before and after.
func (c *conditions) add(before, after string, arg any) {
	c.parts = append(c.parts, before+c.param(arg)+after)
}

// param adds a parameter and names it.
func (c *conditions) param(arg any) string {
	c.args = append(c.args, arg)
	return `$` + strconv.Itoa(len(c.args))
}

// none keeps no row.
func (c *conditions) none() { c.parts = append(c.parts, `false`) }

func (c *conditions) where() string { return ` WHERE ` + strings.Join(c.parts, ` AND `) }

func (c *conditions) clone() *conditions {
	return &conditions{parts: slices.Clone(c.parts), args: slices.Clone(c.args)}
}

// in keeps rows whose column is one of the values; none is no constraint.
func (c *conditions) in(column string, values []string) {
	if len(values) > 0 {
		c.add(column+` = ANY(`, `)`, storables(values))
	}
}

func (c *conditions) notIn(column string, values []string) {
	if len(values) > 0 {
		c.add(`NOT `+column+` = ANY(`, `)`, storables(values))
	}
}

func storables(values []string) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		if storable(v) {
			out = append(out, v)
		}
	}
	return out
}

// nodes adds a filter over the alias n.
func (c *conditions) nodes(f hypergraph.NodeFilter) {
	c.in(`n.id`, f.IDs)
	c.in(`n.type`, f.Types)
	c.in(`n.tier`, f.Tiers)
	c.in(`n.subtype`, f.Subtypes)
	c.notIn(`n.subtype`, f.NotSubtypes)
	if f.MinConfidence > 0 {
		c.add(`n.confidence >= `, ``, f.MinConfidence)
	}
	c.times(`n.created_at`, f.CreatedAfter, f.CreatedBefore)
	switch {
	case f.SubjectID == "":
	case !storable(f.SubjectID):
		c.none()
	default:
		c.add(`n.subject_id = `, ` AND n.subject_id <> ''`, f.SubjectID)
	}
}

// times bounds a creation time, both ends excluded.
func (c *conditions) times(column string, after, before time.Time) {
	if !after.IsZero() {
		c.add(column+` > `, ``, after.UnixNano())
	}
	if !before.IsZero() {
		c.add(column+` < `, ``, before.UnixNano())
	}
}
