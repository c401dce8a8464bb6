package sqlite

import (
	"context"
	"slices"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// deleteBatch is how many rows one statement of DeleteNodes removes.
const deleteBatch = 4000

// DeleteNodes implements hypergraph.Ops by statements over many rows at once. The
// rows go in the order in which they lie: the text index writes a segment of its
// own whenever it is told of a smaller row than before. There is no savepoint,
// which would copy every page that is touched: a failure half way ends the
// transaction around it.
func (o ops) DeleteNodes(ctx context.Context, ids []string) (int64, error) {
	const op = "delete"
	var removed int64
	run := func(q *query) (err error) {
		d := manyDelete{s: o.s, q: q, counts: map[counterKey][2]int64{}}
		if err := d.refuseParents(ids); err != nil {
			return err
		}
		if removed, err = d.run(ids); err != nil && q.Broken() == nil {
			q.Break(err)
		}
		return err
	}
	var err error
	if o.tx != nil {
		err = o.tx.Borrow(ctx, op, func() error { return run(o.tx) })
	} else {
		err = o.s.file.Change(ctx, op, run)
	}
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// manyDelete is one DeleteNodes.
type manyDelete struct {
	s      *Store
	q      *query
	edges  []string // that lose a member
	family bool     // decisions go that hang under others
	counts map[counterKey][2]int64
}

func (d *manyDelete) run(ids []string) (int64, error) {
	if err := d.freeParents(ids); err != nil {
		return 0, err
	}
	var rows []int64
	for part := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`n.id`, part)
		if err := d.q.Each(`SELECT n.rowid FROM nodes n `+c.Where(), c.Args, sqlgraph.Collect(&rows)); err != nil {
			return 0, err
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for part := range slices.Chunk(rows, deleteBatch) {
		if err := d.part(jsonInts(part)); err != nil {
			return 0, err
		}
	}
	if err := d.brokenEdges(); err != nil {
		return 0, err
	}
	for k, c := range d.counts {
		if err := count(d.q, k.tier, k.typ, k.subtype, c[0], c[1]); err != nil {
			return 0, err
		}
	}
	return int64(len(rows)), nil
}

// refuseParents is Conflict where a decision that stays hangs under one that goes.
// It changes nothing.
func (d *manyDelete) refuseParents(ids []string) error {
	var going map[string]bool
	for part := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`parent_id`, part)
		var children []string
		if err := d.q.Each(`SELECT node_id FROM decisions `+c.Where(), c.Args, sqlgraph.Collect(&children)); err != nil {
			return err
		}
		if len(children) == 0 {
			continue
		}
		if d.family = true; going == nil {
			going = make(map[string]bool, len(ids))
			for _, id := range ids {
				going[id] = true
			}
		}
		for _, c := range children {
			if !going[c] {
				return model.Errorf(model.Conflict, d.q.Op(), "decision %.200q hangs under one that is to go: give it another parent first", c)
			}
		}
	}
	return nil
}

// freeParents takes the decisions that go off their parents, which go too: no order
// among them matters then.
func (d *manyDelete) freeParents(ids []string) error {
	if !d.family {
		return nil
	}
	for part := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`parent_id`, part)
		if _, err := d.q.Exec(`UPDATE decisions SET parent_id = NULL `+c.Where(), c.Args...); err != nil {
			return err
		}
	}
	return nil
}

// part removes the nodes of these rows and what hangs on them.
func (d *manyDelete) part(rows string) error {
	const these = `IN (SELECT value FROM json_each(?))`
	if d.s.layout.own {
		if _, err := d.q.Exec(`INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata)
			SELECT 'delete', seq, content, metadata FROM nodes WHERE seq `+these+` ORDER BY seq`, rows); err != nil {
			return err
		}
		if err := d.q.Each(`SELECT tier, type, subtype, count(*), sum(octet_length(content)) FROM nodes WHERE seq `+these+` GROUP BY 1, 2, 3`,
			[]any{rows}, d.uncount); err != nil {
			return err
		}
	}
	const nodes = `node_id IN (SELECT id FROM nodes WHERE rowid ` + these + `)`
	if err := d.q.Each(`SELECT DISTINCT hyperedge_id FROM membership WHERE `+nodes, []any{rows}, sqlgraph.Collect(&d.edges)); err != nil {
		return err
	}
	tables := []string{"membership", "decisions"}
	if d.s.layout.vectors {
		tables = append(tables, "node_embeddings")
	}
	for _, t := range tables {
		if _, err := d.q.Exec(`DELETE FROM `+t+` WHERE `+nodes, rows); err != nil {
			return err
		}
	}
	_, err := d.q.Exec(`DELETE FROM nodes WHERE rowid `+these, rows)
	return err
}

func (d *manyDelete) uncount(scan func(...any) error) error {
	var k counterKey
	var items, bytes int64
	err := scan(&k.tier, &k.typ, &k.subtype, &items, &bytes)
	c := d.counts[k]
	d.counts[k] = [2]int64{c[0] - items, c[1] - bytes}
	return err
}

// brokenEdges removes the edges that have fewer than two members now. A writer
// without foreign keys leaves rows of edges that are gone (recurse.md, Traps): such
// an edge is none.
func (d *manyDelete) brokenEdges() error {
	slices.Sort(d.edges)
	d.edges = slices.Compact(d.edges)
	for part := range slices.Chunk(d.edges, idBatch) {
		var c conditions
		c.Add(`(SELECT count(DISTINCT m.node_id) FROM membership m WHERE m.hyperedge_id = e.id) < 2`)
		c.In(`e.id`, part)
		var broken []string
		if err := d.q.Each(`SELECT e.id FROM hyperedges e `+c.Where(), c.Args, sqlgraph.Collect(&broken)); err != nil {
			return err
		}
		for _, e := range broken {
			if err := d.s.RemoveEdge(d.q, e); err != nil {
				return err
			}
		}
	}
	return nil
}
