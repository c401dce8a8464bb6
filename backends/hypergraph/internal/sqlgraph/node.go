package sqlgraph

import (
	"context"
	"iter"
	"slices"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// NodeTable holds the differences between two databases in the rows of nodes. A schema derives from
// these rows its index of words, counters, versions and the vector flag.
type NodeTable interface {
	// Now is the current time, as fine as the database orders by.
	Now() time.Time
	// Time encodes a time as the schema keeps it; the zero time is NULL.
	Time(time.Time) any
	// Form is a column's value in the form that the row is to have (hypergraph.Forms).
	Form(forms []model.BesideRow, table, column string, v any) any
	// InsertNode adds a row and its derived values; made is false where the id is taken.
	InsertNode(q Query, n hypergraph.Node) (made bool, err error)
	// InsertNodes is InsertNode for many nodes; a taken id is AlreadyExists.
	InsertNodes(q Query, nodes []hypergraph.Node) error
	// RewriteNode writes set into the row of old and updates the derived values. An empty set marks the
	// node as changed. A vector of the old content is dropped.
	RewriteNode(q Query, old, now hypergraph.Node, set Set) error
	// RemoveNodes removes nodes with their dependent rows and the edges left with fewer than two
	// members, and counts the nodes. No remaining decision has one of them as its parent.
	RemoveNodes(q Query, ids []string) (int64, error)
}

var nodeColumns = []string{"id", "type", "subtype", "tier", "confidence", "subject_id", "created_at", "updated_at",
	"last_accessed", "access_count", "provenance", "metadata", "content"}

// NodeColumns are the columns of memdesk's own schema, in the order of NodeValues, and more.
func NodeColumns(more ...string) []string { return append(slices.Clone(nodeColumns), more...) }

// NodeValues are the values of a row of memdesk's own schema.
func NodeValues(n hypergraph.Node, more ...any) []any {
	return append([]any{n.ID, n.Type, n.Subtype, n.Tier, n.Confidence, n.SubjectID, cursor.UnixNano(n.CreatedAt), cursor.UnixNano(n.UpdatedAt),
		Nanos(n.LastAccessed), n.AccessCount, n.Provenance, n.Metadata, n.Content}, more...)
}

// Nanos is a time as memdesk's own schema keeps it: nanoseconds since 1970; the zero time is NULL.
func Nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return cursor.UnixNano(t)
}

// GetNode implements hypergraph.Ops. Inside a changing transaction it locks the node where the database
// locks rows.
func (r Reads) GetNode(ctx context.Context, id string) (n hypergraph.Node, err error) {
	err = r.Read(ctx, "get", func(q Query) (err error) {
		n, err = r.Node(q, id)
		return err
	})
	return n, err
}

// stampNew sets a new node's missing times.
func stampNew(n *hypergraph.Node, now time.Time) {
	if n.CreatedAt.IsZero() {
		n.CreatedAt = now
	}
	if n.UpdatedAt.IsZero() {
		n.UpdatedAt = n.CreatedAt
	}
}

// CreateNode implements hypergraph.Ops.
func (w Writes) CreateNode(ctx context.Context, n hypergraph.Node) error {
	const op = "create"
	if err := w.Rules().Node(op, n, nil); err != nil {
		return err
	}
	return w.Change(ctx, op, func(q Query) error {
		stampNew(&n, w.Now())
		made, err := w.InsertNode(q, n)
		switch {
		case err != nil:
			return err
		case !made:
			return model.Errorf(model.AlreadyExists, op, "there is a node %.200q already", n.ID)
		case n.Decision == nil:
			return nil
		}
		return w.putDecision(q, n)
	})
}

const (
	// bulkNodes and bulkBytes bound one transaction of CreateNodes, by nodes and by bytes of content: it
	// holds both in memory.
	bulkNodes = 20000
	bulkBytes = 64 << 20
)

// CreateNodes adds many nodes fast, for seeding and moving stores. Each transaction holds up to 20,000;
// the first failure stops, names the node where the database says which, and rolls its transaction
// back. committed is the number of committed nodes.
func (w Writes) CreateNodes(ctx context.Context, nodes iter.Seq[hypergraph.Node]) (committed int64, err error) {
	const op = "create nodes"
	next, stop := iter.Pull(nodes)
	defer stop()
	for more := true; more; {
		var part []hypergraph.Node
		for bytes := 0; len(part) < bulkNodes && bytes < bulkBytes; {
			var n hypergraph.Node
			if n, more = next(); !more {
				break
			}
			if err := w.Rules().Node(op, n, nil); err != nil {
				return committed, NamedNode(op, n.ID, err)
			}
			stampNew(&n, w.Now())
			part, bytes = append(part, n), bytes+len(n.Content)
		}
		if err := w.ChangeWhole(ctx, op, func(q Query) error { return w.insertNodes(q, part) }); err != nil {
			return committed, err
		}
		committed += int64(len(part))
	}
	return committed, nil
}

func (w Writes) insertNodes(q Query, nodes []hypergraph.Node) error {
	if err := w.InsertNodes(q, nodes); err != nil {
		return err
	}
	for _, n := range nodes {
		if n.Decision == nil {
			continue
		}
		if err := w.putDecision(q, n); err != nil {
			return NamedNode(q.Op(), n.ID, err)
		}
	}
	return nil
}

// NamedNode adds to an error which of many nodes it concerns.
func NamedNode(op, id string, err error) error {
	return model.Errorf(model.KindOf(err), op, "node %.200q: %w", id, err)
}

// UpdateNode implements hypergraph.Ops; it also writes the subject. Without a Decision the stored row
// stays, unless the type is no longer decision: then the row goes too, which is Conflict while it is
// the parent of other decisions. Unchanged values are not written: in a recurse file every write of a
// row changes its place in the agent's search order.
func (w Writes) UpdateNode(ctx context.Context, n hypergraph.Node) error {
	return w.Change(ctx, "update", func(q Query) error {
		old, err := w.Node(q, n.ID)
		if err != nil {
			return err
		}
		if err := w.Rules().Node(q.Op(), n, &old); err != nil {
			return err
		}
		decided, err := w.updateDecision(q, old, n)
		if err != nil {
			return err
		}
		var set Set
		put := w.formedSet(n.Forms, "nodes", &set)
		put(`type`, old.Type != n.Type, n.Type)
		put(`subtype`, old.Subtype != n.Subtype, n.Subtype)
		put(`content`, old.Content != n.Content, n.Content)
		put(`tier`, old.Tier != n.Tier, n.Tier)
		put(`confidence`, old.Confidence != n.Confidence, n.Confidence)
		put(`provenance`, old.Provenance != n.Provenance, n.Provenance)
		put(`metadata`, old.Metadata != n.Metadata, n.Metadata)
		put(`subject_id`, old.SubjectID != n.SubjectID, n.SubjectID)
		if set.Empty() && !decided {
			return nil
		}
		if err := w.RewriteNode(q, old, n, set); err != nil || !old.HasVector || old.Content == n.Content {
			return err
		}
		return w.DropVector(q, n.ID)
	})
}

// DeleteNode implements hypergraph.Ops. Other rows that may name the node (evolution log, retrieval
// outcomes, proposals) stay: erasure finds them.
func (w Writes) DeleteNode(ctx context.Context, id string) error {
	return w.Change(ctx, "delete", func(q Query) error {
		if _, err := w.Node(q, id); err != nil {
			return err
		}
		if err := w.refuseParent(q, id); err != nil {
			return err
		}
		_, err := w.RemoveNodes(q, []string{id})
		return err
	})
}

// DeleteNodes implements hypergraph.Ops by statements over many rows at once.
func (w Writes) DeleteNodes(ctx context.Context, ids []string) (removed int64, err error) {
	ids = w.held(ids)
	err = w.ChangeWhole(ctx, "delete", func(q Query) error {
		if err := w.freeParents(q, ids); err != nil {
			return err
		}
		removed, err = w.RemoveNodes(q, ids)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// updateDecision changes the row beside a decision node and reports whether it differed.
func (w Writes) updateDecision(q Query, old, n hypergraph.Node) (bool, error) {
	switch {
	case n.Type != hypergraph.DecisionType && old.Type == hypergraph.DecisionType:
		if err := w.refuseParent(q, n.ID); err != nil {
			return false, err
		}
		_, err := w.Delete(q, "decisions", "node_id", n.ID)
		return true, err
	case n.Decision == nil, old.Decision != nil && *old.Decision == *n.Decision:
		return false, nil
	case old.Decision == nil:
		return true, w.putDecision(q, n)
	}
	was, d := old.Decision, n.Decision
	parent, err := w.parent(q, n.ID, d.ParentID)
	if err != nil {
		return false, err
	}
	var set Set // NULL reads as the zero value: a column that keeps its value keeps its NULL too
	put := w.formedSet(n.Forms, "decisions", &set)
	put(`decision_type`, was.Kind != d.Kind, d.Kind)
	put(`confidence`, was.Confidence != d.Confidence, d.Confidence)
	put(`prompt`, was.Prompt != d.Prompt, d.Prompt)
	put(`files`, was.Files != d.Files, d.Files)
	put(`branch`, was.Branch != d.Branch, d.Branch)
	put(`commit_hash`, was.Commit != d.Commit, d.Commit)
	put(`parent_id`, was.ParentID != d.ParentID, parent)
	put(`status`, was.Status != d.Status, d.Status)
	return true, w.Update(q, "decisions", "node_id", n.ID, set)
}

var decisionColumns = []string{"node_id", "decision_type", "confidence", "prompt", "files", "branch", "commit_hash", "parent_id", "status"}

// putDecision writes the new row beside a decision node. A parent that is no decision is
// Conflict, one that descends from the node InvalidInput.
func (w Writes) putDecision(q Query, n hypergraph.Node) error {
	id, d := n.ID, *n.Decision
	parent, err := w.parent(q, id, d.ParentID)
	if err != nil {
		return err
	}
	return w.Upsert(q, "decisions", decisionColumns, "", w.formed(n.Forms, "decisions", decisionColumns,
		id, d.Kind, d.Confidence, d.Prompt, d.Files, d.Branch, d.Commit, parent, d.Status)...)
}

// parent is the column of a decision's parent, NULL for none.
func (w Writes) parent(q Query, id, parent string) (any, error) {
	if parent == "" {
		return nil, nil
	}
	return parent, w.checkParent(q, id, parent)
}

// formed converts a row's values to their forms.
func (w Writes) formed(forms []model.BesideRow, table string, columns []string, values ...any) []any {
	for i, v := range values {
		values[i] = w.Form(forms, table, columns[i], v)
	}
	return values
}

// formedSet collects the differing values of a row, each in its form.
func (w Writes) formedSet(forms []model.BesideRow, table string, set *Set) func(column string, differs bool, v any) {
	return func(column string, differs bool, v any) { set.Put(column, differs, w.Form(forms, table, column, v)) }
}

// checkParent locks the ancestors' nodes first: a transaction that moves one of them waits or is
// undone, so no two transactions close a cycle together.
func (w Writes) checkParent(q Query, id, parent string) error {
	if !w.Holds(parent) {
		return model.Errorf(model.Conflict, q.Op(), "there is no decision %.200q to be the parent", parent)
	}
	first, next, all := w.Conditions("d"), w.Conditions("d"), w.Conditions("n")
	first.Add(`d.node_id = ?`, parent)
	next.Add(`d.parent_id IS NOT NULL`)
	all.Add(`n.id IN (SELECT up.id FROM up)`)
	decisions := w.Table("decisions")
	var ancestors []string
	err := q.Each(`WITH RECURSIVE up(id) AS (SELECT d.node_id FROM `+decisions+` d`+first.Where()+`
			UNION SELECT d.parent_id FROM up JOIN `+decisions+` d ON d.node_id = up.id`+next.Where()+`)
		SELECT n.id FROM `+w.Table("nodes")+` n`+all.Where()+w.Lock(q, `UPDATE OF n`), first.Args, Collect(&ancestors))
	switch {
	case err != nil:
		return err
	case !slices.Contains(ancestors, parent):
		return model.Errorf(model.Conflict, q.Op(), "there is no decision %.200q to be the parent", parent)
	case slices.Contains(ancestors, id):
		return model.Errorf(model.InvalidInput, q.Op(), "decision %.200q descends from this one and cannot be its parent", parent)
	}
	return nil
}

// refuseParent is Conflict for the parent of another decision: the schema has no rule for its deletion
// (recurse.md, Deletion).
func (w Writes) refuseParent(q Query, id string) error {
	c := w.Conditions("d")
	c.Add(`d.parent_id = ?`, id)
	var children int64
	_, err := q.One(`SELECT count(*) FROM `+w.Table("decisions")+` d`+c.Where(), c.Args, &children)
	switch {
	case err != nil:
		return err
	case children == 1:
		return model.Errorf(model.Conflict, q.Op(), "the decision has a child: re-parent or delete its 1 child first")
	case children > 1:
		return model.Errorf(model.Conflict, q.Op(), "the decision has children: re-parent or delete its %d children first", children)
	}
	return nil
}

// freeParents is Conflict, before anything is written, where a remaining decision has a parent that goes.
// Otherwise it clears the parents of the removed decisions, so that their order no longer matters.
func (w Writes) freeParents(q Query, ids []string) error {
	size := batch
	if w.Server { // a list is one parameter
		size = 10 * batch
	}
	under := func(part []string) Conditions {
		c := w.Conditions("d")
		c.In(`d.parent_id`, part)
		return c
	}
	var going map[string]bool // set once a child is found
	for part := range slices.Chunk(ids, size) {
		var children []string
		c := under(part)
		if err := q.Each(`SELECT d.node_id FROM `+w.Table("decisions")+` d`+c.Where(), c.Args, Collect(&children)); err != nil {
			return err
		}
		if len(children) > 0 && going == nil {
			going = make(map[string]bool, len(ids))
			for _, id := range ids {
				going[id] = true
			}
		}
		for _, id := range children {
			if !going[id] {
				return model.Errorf(model.Conflict, q.Op(), "decision %.200q hangs under one that is to go: give it another parent first", id)
			}
		}
	}
	if going == nil {
		return nil
	}
	for part := range slices.Chunk(ids, size) {
		c := under(part)
		if _, err := q.Exec(`UPDATE `+w.Table("decisions")+` AS d SET parent_id = NULL`+c.Where(), c.Args...); err != nil {
			return err
		}
	}
	return nil
}
