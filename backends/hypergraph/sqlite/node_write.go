package sqlite

import (
	"context"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// CreateNode implements hypergraph.Ops. Times and counts are the store's.
func (o ops) CreateNode(ctx context.Context, n hypergraph.Node) error {
	const op = "create"
	if err := o.s.rules().Node(op, n, nil); err != nil {
		return err
	}
	return o.change(ctx, op, func(q *query) error {
		stampNew(&n, o.s.now())
		return o.s.insertNode(q, n)
	})
}

// now is the time of what is made here: in a recurse file cut to the millisecond, the
// finest that such a file can be ordered by.
func (s *Store) now() time.Time {
	if s.layout.own {
		return s.clock.Now()
	}
	return s.clock.Now().Truncate(time.Millisecond)
}

// stampNew sets the times that a new node does not bring.
func stampNew(n *hypergraph.Node, now time.Time) {
	if n.CreatedAt.IsZero() {
		n.CreatedAt = now
	}
	if n.UpdatedAt.IsZero() {
		n.UpdatedAt = n.CreatedAt
	}
}

func (s *Store) insertNode(q *query, n hypergraph.Node) error {
	var there int64
	if _, err := q.One(`SELECT count(*) FROM nodes WHERE id = ?`, []any{n.ID}, &there); err != nil {
		return err
	}
	if there > 0 {
		return model.Errorf(model.AlreadyExists, q.Op(), "there is a node %.200q already", n.ID)
	}
	insert := s.insertRecurseNode
	if s.layout.own {
		insert = s.insertOwnNode
	}
	if err := insert(q, n); err != nil {
		return err
	}
	if n.Decision == nil {
		return nil
	}
	return s.putDecision(q, n.ID, *n.Decision)
}

// insertRecurseNode writes a row as recurse's own insert does, with TEXT in the JSON
// columns, which its readers take (recurse.md, "Encodings as stored").
func (s *Store) insertRecurseNode(q *query, n hypergraph.Node) error {
	_, err := q.Exec(`INSERT INTO nodes (id, type, subtype, content, created_at, updated_at, last_accessed, access_count, tier, confidence, provenance, metadata)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		n.ID, n.Type, n.Subtype, n.Content, s.layout.kept(n.CreatedAt), s.layout.kept(n.UpdatedAt), s.layout.kept(n.LastAccessed), n.AccessCount, n.Tier, n.Confidence, n.Provenance, n.Metadata)
	return err
}

// UpdateNode implements hypergraph.Ops. It also writes the subject in the own
// schema. Without a Decision the stored row stays, unless the type is no longer
// decision: then the row goes too, which is Conflict while other decisions hang
// on it. Values that are as they were are not written: in a recurse file every
// write of a row changes its place in the agent's search order.
func (o ops) UpdateNode(ctx context.Context, n hypergraph.Node) error {
	return o.change(ctx, "update", func(q *query) error {
		rowid, old, err := o.s.getNode(q, n.ID)
		if err != nil {
			return err
		}
		if err := o.s.rules().Node(q.Op(), n, &old); err != nil {
			return err
		}
		if err := o.s.updateColumns(q, rowid, old, n); err != nil {
			return err
		}
		if old.Content != n.Content && old.HasVector {
			if err := o.s.dropVector(q, n.ID); err != nil {
				return err
			}
		}
		return o.s.updateDecision(q, old, n)
	})
}

func (s *Store) updateColumns(q *query, rowid int64, old, n hypergraph.Node) error {
	var set []string
	var args []any
	put := func(column string, differs bool, v any) {
		if differs {
			set = append(set, column+` = ?`)
			args = append(args, v)
		}
	}
	put(`type`, old.Type != n.Type, n.Type)
	put(`subtype`, old.Subtype != n.Subtype, n.Subtype)
	put(`content`, old.Content != n.Content, n.Content)
	put(`tier`, old.Tier != n.Tier, n.Tier)
	put(`confidence`, old.Confidence != n.Confidence, n.Confidence)
	put(`provenance`, old.Provenance != n.Provenance, n.Provenance)
	put(`metadata`, old.Metadata != n.Metadata, n.Metadata)
	if s.layout.own {
		put(`subject_id`, old.SubjectID != n.SubjectID, n.SubjectID)
	}
	if len(set) == 0 {
		return nil
	}
	if s.layout.own {
		return s.updateOwnNode(q, rowid, old, n, set, args)
	}
	_, err := q.Exec(`UPDATE nodes SET `+strings.Join(set, `, `)+` WHERE id = ?`, append(args, n.ID)...)
	return err
}

func (s *Store) updateDecision(q *query, old, n hypergraph.Node) error {
	switch {
	case n.Type != sqlgraph.DecisionType && old.Type == sqlgraph.DecisionType:
		if err := s.refuseParent(q, n.ID); err != nil {
			return err
		}
		_, err := q.Exec(`DELETE FROM decisions WHERE node_id = ?`, n.ID)
		return err
	case n.Decision == nil, old.Decision != nil && *old.Decision == *n.Decision:
		return nil
	}
	if err := s.putDecision(q, n.ID, *n.Decision); err != nil {
		return err
	}
	return s.touch(q, n.ID)
}

// touch marks a node as changed whose own row was not: lists tell changes by it.
// In a recurse file the trigger sets the time.
func (s *Store) touch(q *query, id string) error {
	if s.layout.own {
		_, err := q.Exec(`UPDATE nodes SET updated_at = ?, row_version = row_version + 1 WHERE id = ?`, s.clock.Now().UnixNano(), id)
		return err
	}
	_, err := q.Exec(`UPDATE nodes SET updated_at = updated_at WHERE id = ?`, id)
	return err
}

// putDecision writes the row beside a decision node. A parent that is no decision
// is Conflict, one that descends from the node InvalidInput.
func (s *Store) putDecision(q *query, id string, d hypergraph.Decision) error {
	var parent any
	if d.ParentID != "" {
		var found, cycle bool
		if _, err := q.One(`WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT d.parent_id FROM up JOIN decisions d ON d.node_id = up.id WHERE d.parent_id IS NOT NULL)
			SELECT EXISTS (SELECT 1 FROM decisions WHERE node_id = ?), EXISTS (SELECT 1 FROM up WHERE id = ?)`,
			[]any{d.ParentID, d.ParentID, id}, &found, &cycle); err != nil {
			return err
		}
		switch {
		case !found:
			return model.Errorf(model.Conflict, q.Op(), "there is no decision %.200q to be the parent", d.ParentID)
		case cycle:
			return model.Errorf(model.InvalidInput, q.Op(), "decision %.200q descends from this one and cannot be its parent", d.ParentID)
		}
		parent = d.ParentID
	}
	_, err := q.Exec(`INSERT INTO decisions (node_id, decision_type, confidence, prompt, files, branch, commit_hash, parent_id, status)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (node_id) DO UPDATE SET decision_type = excluded.decision_type, confidence = excluded.confidence, prompt = excluded.prompt,
			files = excluded.files, branch = excluded.branch, commit_hash = excluded.commit_hash, parent_id = excluded.parent_id, status = excluded.status`,
		id, d.Kind, d.Confidence, d.Prompt, d.Files, d.Branch, d.Commit, parent, d.Status)
	return err
}

// refuseParent is Conflict for a decision that others hang on: the schema has no
// rule for its deletion (recurse.md, "Deletion").
func (s *Store) refuseParent(q *query, id string) error {
	var children int64
	if _, err := q.One(`SELECT count(*) FROM decisions WHERE parent_id = ?`, []any{id}, &children); err != nil {
		return err
	}
	switch {
	case children == 1:
		return model.Errorf(model.Conflict, q.Op(), "the decision has a child: re-parent or delete its 1 child first")
	case children > 1:
		return model.Errorf(model.Conflict, q.Op(), "the decision has children: re-parent or delete its %d children first", children)
	}
	return nil
}

// DeleteNode implements hypergraph.Ops. What else may name the node (evolution
// log, retrieval outcomes, proposals) is left: that is erasure's to find.
func (o ops) DeleteNode(ctx context.Context, id string) error {
	return o.change(ctx, "delete", func(q *query) error {
		rowid, old, err := o.s.getNode(q, id)
		if err != nil {
			return err
		}
		if err := o.s.refuseParent(q, id); err != nil {
			return err
		}
		edges, err := o.s.edgesLeftBroken(q, id)
		if err != nil {
			return err
		}
		if err := o.s.dropVector(q, id); err != nil {
			return err
		}
		if o.s.layout.own {
			if err := o.s.forgetOwnNode(q, rowid, old); err != nil {
				return err
			}
		}
		for _, text := range []string{
			`DELETE FROM membership WHERE node_id = ?`,
			`DELETE FROM decisions WHERE node_id = ?`,
			`DELETE FROM nodes WHERE id = ?`,
		} {
			if _, err := q.Exec(text, id); err != nil {
				return err
			}
		}
		for _, e := range edges {
			if err := o.RemoveEdge(q, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// edgesLeftBroken are the node's edges that have fewer than two members without it.
func (s *Store) edgesLeftBroken(q *query, id string) ([]string, error) {
	var edges []string
	// A writer without foreign keys leaves rows of edges that are gone (recurse.md,
	// Traps): they go with the node and break no edge.
	err := q.Each(`SELECT m.hyperedge_id FROM membership m JOIN hyperedges e ON e.id = m.hyperedge_id WHERE m.node_id = ?
		GROUP BY m.hyperedge_id
		HAVING (SELECT count(DISTINCT r.node_id) FROM membership r WHERE r.hyperedge_id = m.hyperedge_id AND r.node_id <> ?) < 2`, []any{id, id},
		func(scan func(...any) error) error {
			var e string
			err := scan(&e)
			edges = append(edges, e)
			return err
		})
	return edges, err
}
