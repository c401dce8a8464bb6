package sqlgraph

import (
	"context"
	"iter"
	"slices"

	"memdesk/backends/hypergraph"
	"memdesk/model"
)

// Dialect holds the differences between two databases' SQL. A Query argument is always the dialect's
// own type.
type Dialect interface {
	// NodeFilter adds a filter over the alias n.
	NodeFilter(op string, c *Conditions, f hypergraph.NodeFilter) error
	// TierColumn is a node's tier over the alias n.
	TierColumn() string
	// SearchText ranks the nodes that c keeps by a text and returns the best limit of them; 0: all.
	SearchText(q Query, c Conditions, text string, limit int) (hypergraph.SearchResult, error)
	// WordsExpr is the index expression for terms that must all match; with prefix the last term may be
	// a prefix. It is empty where the index can hold none of them.
	WordsExpr(terms []string, prefix bool) string
	// WordsMatches counts the nodes that an expression matches, up to a limit.
	WordsMatches(q Query, expr string, limit int) (int64, error)
	// Node reads one node, NotFound for an absent one. Inside a changing transaction it locks the row
	// where the database locks rows.
	Node(q Query, id string) (hypergraph.Node, error)
	// Nodes reads nodes over the alias n; rest follows the WHERE clause.
	Nodes(q Query, c Conditions, rest string) ([]hypergraph.Node, error)
	// Edges reads edges over the alias e, with their members by position.
	Edges(q Query, c Conditions, rest string) ([]hypergraph.Edge, error)
	// NodeList and EdgeList make the lists of a listing.
	NodeList(q Query, l hypergraph.Listing) (*List, error)
	EdgeList(q Query, l hypergraph.Listing) (*List, error)
	// EdgeNewest is the order of edges by creation, the newest first.
	EdgeNewest() string
	// TierTotals is a query of tier, items and bytes of content, with edges under EdgeTier.
	TierTotals() (text string, args []any)
	// Holds reports whether a text can be an id in the database at all: nothing is stored under any other.
	Holds(id string) bool
	// Lock ends a statement whose rows must hold until the commit. It is empty outside a changing transaction,
	// and where one writer owns the whole database. rows is UPDATE or KEY SHARE, then OF and the alias.
	Lock(q Query, rows string) string
}

// Runner gives operations a Query.
type Runner interface {
	// Read runs fn, whose statements need no common snapshot; View runs fn on one snapshot. fn sets its
	// results anew on each call: it is called again after a lost connection.
	Read(ctx context.Context, op string, fn func(Query) error) error
	View(ctx context.Context, op string, fn func(Query) error) error
	// ViewVectors is View with the snapshot's vectors where they are kept, else nil. Inside a
	// transaction they are always nil: no other search may see its uncommitted changes.
	ViewVectors(ctx context.Context, op string, fn func(q Query, kept *VectorSet) error) error
}

// Reads are the operations of hypergraph.Ops that only read and are the same for every database.
type Reads struct {
	Schema
	Dialect
	Runner
	Rules func() Rules
}

// archiveTier is excluded from walks.
var archiveTier = hypergraph.Recurse().ArchiveTier

// batch bounds the parameters of one statement.
const batch = 500

// NoSuchNode is the error for an absent node.
func NoSuchNode(op, id string) error {
	return model.Errorf(model.NotFound, op, "there is no node %.200q", id)
}

// NoSuchEdge is the error for an absent edge.
func NoSuchEdge(op, id string) error {
	return model.Errorf(model.NotFound, op, "there is no edge %.200q", id)
}

// Collect returns a function that appends the only column of every row.
func Collect[T any](into *[]T) func(func(...any) error) error {
	return func(scan func(...any) error) error {
		var v T
		err := scan(&v)
		*into = append(*into, v)
		return err
	}
}

// held drops the ids that cannot be in the database.
func (r Reads) held(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !r.Holds(id) })
}

// NodesByID reads nodes in the order of ids; absent ones are left out.
func (r Reads) NodesByID(q Query, ids []string) ([]hypergraph.Node, error) {
	got := make(map[string]hypergraph.Node, len(ids))
	for part := range slices.Chunk(ids, batch) {
		c := r.Conditions("n")
		c.In(`n.id`, part)
		nodes, err := r.Nodes(q, c, ``)
		if err != nil {
			return nil, err
		}
		for _, n := range nodes {
			got[n.ID] = n
		}
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

// EdgesByID reads edges in the order of ids; absent ones are left out.
func (r Reads) EdgesByID(q Query, ids []string) ([]hypergraph.Edge, error) {
	var out []hypergraph.Edge
	for part := range slices.Chunk(ids, batch) {
		c := r.Conditions("e")
		c.In(`e.id`, part)
		edges, err := r.Edges(q, c, ``)
		if err != nil {
			return nil, err
		}
		out = append(out, edges...)
	}
	order := make(map[string]int, len(ids))
	for i, id := range ids {
		order[id] = i
	}
	slices.SortFunc(out, func(a, b hypergraph.Edge) int { return order[a.ID] - order[b.ID] })
	return out, nil
}

// GetConnected implements hypergraph.Ops: breadth first, nearest first, by id within one distance,
// without the start node. Archived nodes are neither returned nor walked through unless Tiers names the
// archive (recurse.md, Behaviour); the other filters restrict only the returned nodes.
func (r Reads) GetConnected(ctx context.Context, id string, t hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	err := r.View(ctx, "connected", func(q Query) error {
		start, err := r.NodesByID(q, []string{id})
		switch {
		case err != nil:
			return err
		case len(start) == 0:
			return NoSuchNode(q.Op(), id)
		}
		out, err = r.walk(q, id, t)
		return err
	})
	return out, err
}

func (r Reads) walk(q Query, id string, t hypergraph.TraversalOptions) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	archive := slices.Contains(t.Tiers, archiveTier)
	seen := map[string]bool{id: true}
	frontier := []string{id}
	for depth := 0; depth < max(t.MaxDepth, 1) && len(frontier) > 0; depth++ {
		near, err := r.neighbours(q, frontier, t)
		if err != nil {
			return nil, err
		}
		near = slices.DeleteFunc(near, func(n string) bool { return seen[n] })
		frontier = frontier[:0]
		for part := range slices.Chunk(near, batch) { // a hub is not read whole for one page of it
			nodes, err := r.NodesByID(q, part)
			if err != nil {
				return nil, err
			}
			for _, n := range nodes {
				seen[n.ID] = true
				if n.Tier == archiveTier && !archive {
					continue
				}
				frontier = append(frontier, n.ID)
				if len(t.NodeTypes) > 0 && !slices.Contains(t.NodeTypes, n.Type) || len(t.Tiers) > 0 && !slices.Contains(t.Tiers, n.Tier) {
					continue
				}
				out = append(out, n)
				if t.MaxResults > 0 && len(out) == t.MaxResults {
					return out, nil
				}
			}
		}
	}
	return out, nil
}

// neighbours are the other members of the edges that contain one of ids, sorted. Outgoing means that
// the id is the edge's subject, incoming its object (provider-contract.md H8).
func (r Reads) neighbours(q Query, ids []string, t hypergraph.TraversalOptions) ([]string, error) {
	role := ``
	switch t.Direction {
	case hypergraph.Both:
	case hypergraph.Outgoing:
		role = `m.role = 'subject'`
	case hypergraph.Incoming:
		role = `m.role = 'object'`
	default:
		return nil, model.Errorf(model.InvalidInput, q.Op(), "direction %.40q is not outgoing or incoming", string(t.Direction))
	}
	var out []string
	for part := range slices.Chunk(ids, batch) {
		c := r.Conditions("m")
		c.In(`m.node_id`, part)
		c.In(`e.type`, t.EdgeTypes)
		if role != "" {
			c.Add(role)
		}
		err := q.Each(`SELECT DISTINCT o.node_id FROM `+r.Table("membership")+` m
			JOIN `+r.Table("hyperedges")+` e ON e.id = m.hyperedge_id`+r.Tie("e", "m")+`
			JOIN `+r.Table("membership")+` o ON o.hyperedge_id = m.hyperedge_id`+r.Tie("o", "m")+` AND o.node_id <> m.node_id`+c.Where(), c.Args, Collect(&out))
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// GetSubgraph implements hypergraph.Ops: the nodes up to depth edges away from ids, archived ones
// included, by id, and every edge with at least two members among them.
func (r Reads) GetSubgraph(ctx context.Context, ids []string, depth int) ([]hypergraph.Node, []hypergraph.Edge, error) {
	var nodes []hypergraph.Node
	var edges []hypergraph.Edge
	err := r.View(ctx, "subgraph", func(q Query) error {
		reach := map[string]bool{}
		frontier := r.held(ids)
		for _, id := range frontier {
			reach[id] = true
		}
		for left := depth; left > 0 && len(frontier) > 0 && hypergraph.Reach(len(reach)) == nil; left-- {
			near, err := r.neighbours(q, frontier, hypergraph.TraversalOptions{})
			if err != nil {
				return err
			}
			frontier = slices.DeleteFunc(near, func(id string) bool { return reach[id] })
			for _, id := range frontier {
				reach[id] = true
			}
		}
		if err := hypergraph.Reach(len(reach)); err != nil {
			return err
		}
		all := make([]string, 0, len(reach))
		for id := range reach {
			all = append(all, id)
		}
		slices.Sort(all)
		var err error
		if nodes, err = r.NodesByID(q, all); err != nil {
			return err
		}
		edges, err = r.edgesAmong(q, all, reach)
		return err
	})
	return nodes, edges, err
}

func (r Reads) edgesAmong(q Query, ids []string, reach map[string]bool) ([]hypergraph.Edge, error) {
	byNode, err := r.edgesOfAll(q, ids)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, edges := range byNode {
		all = append(all, edges...)
	}
	slices.Sort(all)
	edges, err := r.EdgesByID(q, slices.Compact(all))
	return slices.DeleteFunc(edges, func(e hypergraph.Edge) bool {
		among := map[string]bool{}
		for _, m := range e.Members {
			if reach[m.NodeID] {
				among[m.NodeID] = true
			}
		}
		return len(among) < 2
	}), err
}

// EdgesOfAll implements hypergraph.Ops.
func (r Reads) EdgesOfAll(ctx context.Context, nodes []string) (out map[string][]string, err error) {
	err = r.View(ctx, "edges", func(q Query) (err error) {
		out, err = r.edgesOfAll(q, r.held(nodes))
		return err
	})
	return out, err
}

func (r Reads) edgesOfAll(q Query, nodes []string) (map[string][]string, error) {
	out := map[string][]string{}
	for part := range slices.Chunk(nodes, batch) {
		c := r.Conditions("m")
		c.In(`m.node_id`, part)
		// A writer without foreign keys leaves rows of removed edges (recurse.md, Traps).
		err := q.Each(`SELECT DISTINCT m.node_id, e.id FROM `+r.Table("membership")+` m
			JOIN `+r.Table("hyperedges")+` e ON e.id = m.hyperedge_id`+r.Tie("e", "m")+c.Where()+` ORDER BY e.id`, c.Args,
			func(scan func(...any) error) error {
				var node, edge string
				err := scan(&node, &edge)
				out[node] = append(out[node], edge)
				return err
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// EdgesOf implements hypergraph.Ops, newest first.
func (r Reads) EdgesOf(ctx context.Context, node string, limit int) (edges []hypergraph.Edge, total int64, err error) {
	if !r.Holds(node) {
		return nil, 0, nil
	}
	err = r.View(ctx, "edges", func(q Query) error {
		c := r.Conditions("m")
		c.Add(`m.node_id = ?`, node)
		// As in edgesOfAll, a row of a removed edge is no edge.
		if _, err := q.One(`SELECT count(DISTINCT e.id) FROM `+r.Table("membership")+` m
			JOIN `+r.Table("hyperedges")+` e ON e.id = m.hyperedge_id`+r.Tie("e", "m")+c.Where(), c.Args, &total); err != nil {
			return err
		}
		e := r.Conditions("e")
		e.Add(`e.id IN (SELECT m.hyperedge_id FROM `+r.Table("membership")+` m WHERE m.node_id = ?`+r.Tie("m", "e")+`)`, node)
		rest := ` ORDER BY ` + r.EdgeNewest() + e.SQL(` LIMIT ?`, max(limit, 0))
		edges, err = r.Edges(q, e, rest)
		return err
	})
	return edges, total, err
}

// StreamNodes implements hypergraph.Ops.
func (r Reads) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	return r.AllNodes(ctx, hypergraph.NodeFilter{})
}

// AllNodes implements hypergraph.Ops. Outside a transaction it reads in batches, so that a slow reader
// keeps no snapshot open; it misses a node that is created meanwhile with an id before the current one.
// Inside a transaction, a subject's nodes and nodes named by id are locked where the database locks
// rows: a decision over them holds.
func (r Reads) AllNodes(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[hypergraph.Node, error] {
	return pages(500, func(n hypergraph.Node) string { return n.ID }, func(after string, first bool, limit int) (nodes []hypergraph.Node, err error) {
		err = r.Read(ctx, "list", func(q Query) error {
			c, rest, err := r.after(q, f, after, first, limit)
			if err != nil {
				return err
			}
			nodes, err = r.Nodes(q, c, rest)
			return err
		})
		return nodes, err
	})
}

// NodeIDs implements hypergraph.Ops. It treats slow readers and locks as AllNodes does.
func (r Reads) NodeIDs(ctx context.Context, f hypergraph.NodeFilter) iter.Seq2[string, error] {
	return pages(5000, func(id string) string { return id }, func(after string, first bool, limit int) (ids []string, err error) {
		err = r.Read(ctx, "list", func(q Query) error {
			ids = nil
			c, rest, err := r.after(q, f, after, first, limit)
			if err != nil {
				return err
			}
			return q.Each(`SELECT n.id FROM `+r.Table("nodes")+` n`+c.Where()+rest, c.Args, Collect(&ids))
		})
		return ids, err
	})
}

// after is a statement over the nodes behind an id.
func (r Reads) after(q Query, f hypergraph.NodeFilter, id string, first bool, limit int) (Conditions, string, error) {
	c := r.Conditions("n")
	if err := r.NodeFilter(q.Op(), &c, f); err != nil {
		return c, "", err
	}
	if !first {
		c.Add(`n.id > ?`, id)
	}
	rest := ` ORDER BY n.id` + c.SQL(` LIMIT ?`, limit)
	if f.SubjectID != "" || len(f.IDs) > 0 {
		rest += r.Lock(q, `UPDATE OF n`)
	}
	return c, rest, nil
}

// pages streams batches of size, each read behind the last one's key.
func pages[T any](size int, key func(T) string, read func(after string, first bool, limit int) ([]T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		after := ""
		for first := true; ; first = false {
			part, err := read(after, first, size)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range part {
				if !yield(v, nil) {
					return
				}
			}
			if len(part) < size {
				return
			}
			after = key(part[len(part)-1])
		}
	}
}
