package sqlite

import (
	"context"
	"slices"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

var (
	nodeColumns   = sqlgraph.NodeColumns()
	insertNodeSQL = sqlgraph.Schema{}.InsertSQL("nodes", nodeColumns, 1, ``)
	// recurseColumns are written as recurse's own insert writes them, with TEXT in the JSON columns,
	// which its readers accept (recurse.md, "Encodings as stored").
	recurseColumns = []string{"id", "type", "subtype", "content", "created_at", "updated_at", "last_accessed", "access_count", "tier", "confidence", "provenance", "metadata", "embedding"}
)

const (
	insertTextSQL = `INSERT INTO nodes_fts (rowid, content, metadata) VALUES (last_insert_rowid(), ?, ?)`
	// An external content index keeps no copy of the text, so its delete needs the indexed text.
	unindexText = `INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata) SELECT 'delete', seq, content, metadata FROM nodes WHERE seq `
)

// Now implements sqlgraph.NodeTable: in a recurse file it is cut to the millisecond, the finest order
// of such a file.
func (d dialect) Now() time.Time {
	if d.layout.own {
		return d.clock.Now()
	}
	return d.clock.Now().Truncate(time.Millisecond)
}

// Time implements sqlgraph.NodeTable.
func (d dialect) Time(t time.Time) any {
	if d.layout.own || t.IsZero() {
		return sqlgraph.Nanos(t)
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// InsertNode implements sqlgraph.NodeTable.
func (d dialect) InsertNode(q sqlgraph.Query, n hypergraph.Node) (bool, error) {
	if !d.layout.own {
		values := []any{n.ID, n.Type, n.Subtype, n.Content, d.Time(n.CreatedAt), d.Time(n.UpdatedAt), d.Time(n.LastAccessed),
			n.AccessCount, n.Tier, n.Confidence, n.Provenance, n.Metadata, nil}
		for i, v := range values {
			values[i] = d.Form(n.Forms, "nodes", recurseColumns[i], v)
		}
		return d.Insert(q, "nodes", recurseColumns, values...)
	}
	made, err := d.Insert(q, "nodes", nodeColumns, sqlgraph.NodeValues(n)...)
	if err != nil || !made {
		return made, err
	}
	if _, err := q.Exec(insertTextSQL, n.Content, n.Metadata); err != nil {
		return true, err
	}
	return true, count(q, n.Tier, n.Type, n.Subtype, 1, int64(len(n.Content)))
}

// InsertNodes implements sqlgraph.NodeTable.
func (d dialect) InsertNodes(shared sqlgraph.Query, nodes []hypergraph.Node) error {
	q := shared.(*query)
	if !d.layout.own {
		for _, n := range nodes {
			made, err := d.InsertNode(q, n)
			if err == nil && !made {
				err = model.Errorf(model.AlreadyExists, q.Op(), "it is there already")
			}
			if err != nil {
				return sqlgraph.NamedNode(q.Op(), n.ID, err)
			}
		}
		return nil
	}
	release, err := q.Prepare(insertNodeSQL, insertTextSQL)
	if err != nil {
		return err
	}
	defer release()
	// The driver starts a goroutine per statement for a context that can end, so the context is checked
	// between statements instead.
	ctx := q.Context()
	q.Under(context.WithoutCancel(ctx))
	defer q.Under(ctx)
	counts := counters{}
	for _, n := range nodes {
		if err := model.FromContext(ctx, q.Op()); err != nil {
			return err
		}
		if _, err := q.Exec(insertNodeSQL, sqlgraph.NodeValues(n)...); err != nil {
			return sqlgraph.NamedNode(q.Op(), n.ID, err)
		}
		if _, err := q.Exec(insertTextSQL, n.Content, n.Metadata); err != nil {
			return err
		}
		counts.add(counterKey{n.Tier, n.Type, n.Subtype}, 1, int64(len(n.Content)))
	}
	return counts.write(q)
}

// RewriteNode implements sqlgraph.NodeTable. In a recurse file a trigger sets the time.
func (d dialect) RewriteNode(q sqlgraph.Query, old, n hypergraph.Node, set sqlgraph.Set) error {
	if !d.layout.own {
		if set.Empty() {
			set.Add(`updated_at = updated_at`)
		}
		return d.Update(q, "nodes", "id", n.ID, set)
	}
	const row = `= (SELECT seq FROM nodes WHERE id = ?)`
	text := old.Content != n.Content || old.Metadata != n.Metadata
	if text {
		if _, err := q.Exec(unindexText+row, n.ID); err != nil {
			return err
		}
	}
	set.Put(`has_vector`, old.HasVector && old.Content != n.Content, false)
	set.Put(`updated_at`, true, d.Time(d.Now()))
	set.Add(`row_version = row_version + 1`)
	if err := d.Update(q, "nodes", "id", n.ID, set); err != nil {
		return err
	}
	if text {
		if _, err := q.Exec(`INSERT INTO nodes_fts (rowid, content, metadata) SELECT seq, ?, ? FROM nodes WHERE id = ?`, n.Content, n.Metadata, n.ID); err != nil {
			return err
		}
	}
	if err := count(q, old.Tier, old.Type, old.Subtype, -1, -int64(len(old.Content))); err != nil {
		return err
	}
	return count(q, n.Tier, n.Type, n.Subtype, 1, int64(len(n.Content)))
}

// removeBatch is how many rows one statement of RemoveNodes removes.
const removeBatch = 4000

// RemoveNodes implements sqlgraph.NodeTable. It removes rows in stored order: the text index writes a
// new segment whenever a row number is smaller than the last. A failure half way ends the surrounding
// transaction.
func (d dialect) RemoveNodes(shared sqlgraph.Query, ids []string) (int64, error) {
	q := shared.(*query)
	r := removal{dialect: d, q: q, counts: counters{}}
	n, err := r.run(ids)
	if err != nil && q.Broken() == nil {
		q.Break(err)
	}
	return n, err
}

// removal is one run of RemoveNodes.
type removal struct {
	dialect
	q      *query
	edges  []string // edges that lose a member
	counts counters
}

func (r *removal) run(ids []string) (int64, error) {
	var rows []int64
	for part := range slices.Chunk(ids, idBatch) {
		var c conditions
		c.In(`n.id`, part)
		if err := r.q.Each(`SELECT n.rowid FROM nodes n `+c.Where(), c.Args, sqlgraph.Collect(&rows)); err != nil {
			return 0, err
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for part := range slices.Chunk(rows, removeBatch) {
		if err := r.part(jsonInts(part)); err != nil {
			return 0, err
		}
	}
	if err := r.brokenEdges(); err != nil {
		return 0, err
	}
	return int64(len(rows)), r.counts.write(r.q)
}

// part removes the nodes of these rows with their dependent rows.
func (r *removal) part(rows string) error {
	const these = `IN (SELECT value FROM json_each(?))`
	if r.layout.own {
		if _, err := r.q.Exec(unindexText+these+` ORDER BY seq`, rows); err != nil {
			return err
		}
		if err := r.q.Each(`SELECT tier, type, subtype, count(*), sum(bytes)
			FROM (SELECT tier, type, subtype, octet_length(content) AS bytes FROM nodes WHERE seq `+these+unsorted+`) GROUP BY 1, 2, 3`,
			[]any{rows}, r.uncount); err != nil {
			return err
		}
	}
	const nodes = `node_id IN (SELECT id FROM nodes WHERE rowid ` + these + `)`
	tables := []string{"membership", "decisions"}
	if r.layout.vectors {
		tables = append(tables, "node_embeddings")
	}
	for _, t := range tables {
		some, err := r.q.One(`SELECT 1 FROM `+t+` LIMIT 1`, nil, new(int64))
		if err == nil && some && t == "membership" {
			err = r.q.Each(`SELECT DISTINCT hyperedge_id FROM membership WHERE `+nodes, []any{rows}, sqlgraph.Collect(&r.edges))
		}
		if err == nil && some {
			_, err = r.q.Exec(`DELETE FROM `+t+` WHERE `+nodes, rows)
		}
		if err != nil {
			return err
		}
	}
	_, err := r.q.Exec(`DELETE FROM nodes WHERE rowid `+these, rows)
	return err
}

func (r *removal) uncount(scan func(...any) error) error {
	var k counterKey
	var items, bytes int64
	err := scan(&k.tier, &k.typ, &k.subtype, &items, &bytes)
	r.counts.add(k, -items, -bytes)
	return err
}

// brokenEdges removes the edges that are left with fewer than two members. A writer without foreign
// keys leaves rows of removed edges (recurse.md, Traps): these are no edges.
func (r *removal) brokenEdges() error {
	slices.Sort(r.edges)
	r.edges = slices.Compact(r.edges)
	for part := range slices.Chunk(r.edges, idBatch) {
		var c conditions
		c.Add(`(SELECT count(DISTINCT m.node_id) FROM membership m WHERE m.hyperedge_id = e.id) < 2`)
		c.In(`e.id`, part)
		var broken []string
		if err := r.q.Each(`SELECT e.id FROM hyperedges e `+c.Where(), c.Args, sqlgraph.Collect(&broken)); err != nil {
			return err
		}
		for _, e := range broken {
			if err := r.RemoveEdge(r.q, e); err != nil {
				return err
			}
		}
	}
	return nil
}

type counterKey struct{ tier, typ, subtype string }

// counters collects changes to the own schema's counters: items and bytes.
type counters map[counterKey][2]int64

func (c counters) add(k counterKey, items, bytes int64) {
	c[k] = [2]int64{c[k][0] + items, c[k][1] + bytes}
}

func (c counters) write(q sqlgraph.Query) error {
	for k, v := range c {
		if err := count(q, k.tier, k.typ, k.subtype, v[0], v[1]); err != nil {
			return err
		}
	}
	return nil
}

// count changes the counters of one tier, type and subtype. A counter that is wrong already must not stop the removal of what
// it counts.
func count(q sqlgraph.Query, tier, typ, subtype string, items, bytes int64) error {
	changed, err := q.Exec(`UPDATE counters SET items = max(items + ?, 0), bytes = max(bytes + ?, 0) WHERE tier = ? AND type = ? AND subtype = ?`,
		items, bytes, tier, typ, subtype)
	if err != nil {
		return err
	}
	if changed == 0 && items > 0 {
		_, err = q.Exec(`INSERT INTO counters (tier, type, subtype, items, bytes) VALUES (?, ?, ?, ?, ?)`, tier, typ, subtype, items, bytes)
		return err
	}
	if items < 0 {
		_, err = q.Exec(`DELETE FROM counters WHERE tier = ? AND type = ? AND subtype = ? AND items = 0`, tier, typ, subtype)
	}
	return err
}
