package postgres

import (
	"context"
	"slices"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/model"
)

// CreateNode implements hypergraph.Ops. Times and counts are the store's.
func (o ops) CreateNode(ctx context.Context, n hypergraph.Node) error {
	const op = "create"
	if err := rules.Node(op, n, nil); err != nil {
		return err
	}
	return o.change(ctx, op, func(q *query) error { return o.s.insertNode(q, n) })
}

func (s *Store) insertNode(q *query, n hypergraph.Node) error {
	stampNew(&n, s.clock.Now())
	words, whole := lexemes(n.Content, n.Metadata)
	made, err := q.Exec(`INSERT INTO memdesk.nodes (workspace, id, type, subtype, tier, confidence, subject_id, created_at, updated_at,
		last_accessed, access_count, provenance, metadata, content, words, words_whole)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT (workspace, id) DO NOTHING`,
		s.workspace, n.ID, n.Type, n.Subtype, n.Tier, n.Confidence, n.SubjectID, n.CreatedAt.UnixNano(), n.UpdatedAt.UnixNano(),
		accessed(n), n.AccessCount, n.Provenance, n.Metadata, n.Content, words, whole)
	switch {
	case err != nil:
		return err
	case made == 0:
		return model.Errorf(model.AlreadyExists, q.Op(), "there is a node %.200q already", n.ID)
	case n.Decision == nil:
		return nil
	}
	return s.putDecision(q, n.ID, *n.Decision)
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

// accessed is NULL for a node that nobody has read.
func accessed(n hypergraph.Node) *int64 {
	if n.LastAccessed.IsZero() {
		return nil
	}
	at := n.LastAccessed.UnixNano()
	return &at
}

// UpdateNode implements hypergraph.Ops; it also writes the subject. Without a
// Decision the stored row stays, unless the type is no longer decision: then the row
// goes too, which is Conflict while other decisions hang on it.
func (o ops) UpdateNode(ctx context.Context, n hypergraph.Node) error {
	return o.change(ctx, "update", func(q *query) error {
		old, err := o.s.getNode(q, n.ID)
		if err != nil {
			return err
		}
		if err := rules.Node(q.Op(), n, &old); err != nil {
			return err
		}
		if err := o.s.updateDecision(q, old, n); err != nil {
			return err
		}
		return o.s.updateColumns(q, old, n)
	})
}

func (s *Store) updateColumns(q *query, old, n hypergraph.Node) error {
	delete(q.held, n.ID)
	now := s.clock.Now().UnixNano()
	if old.Content == n.Content && old.Metadata == n.Metadata { // the words stay, and with them the index
		_, err := q.Exec(`UPDATE memdesk.nodes SET type = $3, subtype = $4, tier = $5, confidence = $6, subject_id = $7, provenance = $8,
			updated_at = $9, row_version = row_version + 1 WHERE workspace = $1 AND id = $2`,
			s.workspace, n.ID, n.Type, n.Subtype, n.Tier, n.Confidence, n.SubjectID, n.Provenance, now)
		return err
	}
	words, whole := lexemes(n.Content, n.Metadata)
	vector := old.HasVector && old.Content == n.Content
	_, err := q.Exec(`UPDATE memdesk.nodes SET type = $3, subtype = $4, tier = $5, confidence = $6, subject_id = $7, provenance = $8,
		updated_at = $9, metadata = $10, content = $11, words = $12, words_whole = $13, has_vector = $14, row_version = row_version + 1
		WHERE workspace = $1 AND id = $2`,
		s.workspace, n.ID, n.Type, n.Subtype, n.Tier, n.Confidence, n.SubjectID, n.Provenance, now, n.Metadata, n.Content, words, whole, vector)
	if err != nil || !old.HasVector || vector {
		return err
	}
	return s.dropVector(q, n.ID)
}

func (s *Store) updateDecision(q *query, old, n hypergraph.Node) error {
	switch {
	case n.Type != sqlgraph.DecisionType && old.Type == sqlgraph.DecisionType:
		if err := s.refuseParent(q, n.ID); err != nil {
			return err
		}
		_, err := q.Exec(`DELETE FROM memdesk.decisions WHERE workspace = $1 AND node_id = $2`, s.workspace, n.ID)
		return err
	case n.Decision == nil, old.Decision != nil && *old.Decision == *n.Decision:
		return nil
	}
	delete(q.held, n.ID)
	return s.putDecision(q, n.ID, *n.Decision)
}

// putDecision writes the row beside a decision node. A parent that is no decision
// is Conflict, one that descends from the node InvalidInput. The parent is locked
// against being removed until the commit.
func (s *Store) putDecision(q *query, id string, d hypergraph.Decision) error {
	var parent *string
	if d.ParentID != "" {
		if err := s.checkParent(q, id, d.ParentID); err != nil {
			return err
		}
		parent = &d.ParentID
	}
	_, err := q.Exec(`INSERT INTO memdesk.decisions (workspace, node_id, decision_type, confidence, prompt, files, branch, commit_hash, parent_id, status)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (workspace, node_id) DO UPDATE SET decision_type = excluded.decision_type, confidence = excluded.confidence, prompt = excluded.prompt,
			files = excluded.files, branch = excluded.branch, commit_hash = excluded.commit_hash, parent_id = excluded.parent_id, status = excluded.status`,
		s.workspace, id, d.Kind, d.Confidence, d.Prompt, d.Files, d.Branch, d.Commit, parent, d.Status)
	return err
}

func (s *Store) checkParent(q *query, id, parent string) error {
	// The ancestors' nodes are locked first: whoever moves one of them waits or is
	// undone, so no circle comes about between two transactions.
	found, cycle := false, false
	err := q.Each(`WITH RECURSIVE up(id) AS (
			SELECT node_id FROM memdesk.decisions WHERE workspace = $1 AND node_id = $2
			UNION SELECT d.parent_id FROM up JOIN memdesk.decisions d ON d.workspace = $1 AND d.node_id = up.id WHERE d.parent_id IS NOT NULL)
		SELECT n.id FROM memdesk.nodes n WHERE n.workspace = $1 AND n.id IN (SELECT id FROM up) FOR UPDATE`, []any{s.workspace, parent},
		func(scan func(...any) error) error {
			var ancestor string
			err := scan(&ancestor)
			found, cycle = found || ancestor == parent, cycle || ancestor == id
			return err
		})
	switch {
	case err != nil:
		return err
	case !found:
		return model.Errorf(model.Conflict, q.Op(), "there is no decision %.200q to be the parent", parent)
	case cycle:
		return model.Errorf(model.InvalidInput, q.Op(), "decision %.200q descends from this one and cannot be its parent", parent)
	}
	return nil
}

// refuseParent is Conflict for a decision that others hang on: the schema has no
// rule for its deletion (recurse.md, Deletion).
func (s *Store) refuseParent(q *query, id string) error {
	var children int64
	if _, err := q.One(`SELECT count(*) FROM memdesk.decisions WHERE workspace = $1 AND parent_id = $2`, []any{s.workspace, id}, &children); err != nil {
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

// DeleteNode implements hypergraph.Ops. The node's edges are touched, so that two
// transactions which take members out of one edge do not both think it keeps two.
func (o ops) DeleteNode(ctx context.Context, id string) error {
	return o.change(ctx, "delete", func(q *query) error {
		n, err := o.s.getNode(q, id)
		if err != nil {
			return err
		}
		if n.Decision != nil {
			if err := o.s.refuseParent(q, id); err != nil {
				return err
			}
		}
		delete(q.held, id)
		var edges []string
		err = q.Each(`UPDATE memdesk.hyperedges e SET row_version = row_version + 1
			WHERE e.workspace = $1 AND e.id IN (SELECT m.hyperedge_id FROM memdesk.membership m WHERE m.workspace = $1 AND m.node_id = $2)
			RETURNING e.id`, []any{o.s.workspace, id}, sqlgraph.Collect(&edges))
		if err != nil {
			return err
		}
		// What hangs on the node goes with it by the schema's own rules.
		if _, err := q.Exec(`DELETE FROM memdesk.nodes WHERE workspace = $1 AND id = $2`, o.s.workspace, id); err != nil {
			return err
		}
		if len(edges) == 0 {
			return nil
		}
		_, err = q.Exec(`DELETE FROM memdesk.hyperedges e WHERE e.workspace = $1 AND e.id = ANY($2) AND
			(SELECT count(DISTINCT m.node_id) FROM memdesk.membership m WHERE m.workspace = $1 AND m.hyperedge_id = e.id) < 2`, o.s.workspace, edges)
		return err
	})
}

// deleteBatch is how many nodes one statement of DeleteNodes removes.
const deleteBatch = 5000

// DeleteNodes implements hypergraph.Ops by statements over many rows at once.
func (o ops) DeleteNodes(ctx context.Context, ids []string) (int64, error) {
	ids = sqlgraph.Storables(ids)
	var removed int64
	err := o.change(ctx, "delete", func(q *query) error {
		removed = 0
		if err := o.s.freeParents(q, ids); err != nil {
			return err
		}
		for part := range slices.Chunk(ids, deleteBatch) {
			n, err := o.s.deleteNodes(q, part)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

// freeParents is Conflict where a decision that stays hangs under one that goes,
// and takes the others off their parents: no order among them matters then.
func (s *Store) freeParents(q *query, ids []string) error {
	for part := range slices.Chunk(ids, deleteBatch) {
		var staying string
		found, err := q.One(`SELECT node_id FROM memdesk.decisions WHERE workspace = $1 AND parent_id = ANY($2) AND node_id <> ALL($3) LIMIT 1`,
			[]any{s.workspace, part, ids}, &staying)
		if err != nil {
			return err
		}
		if found {
			return model.Errorf(model.Conflict, q.Op(), "decision %.200q hangs under one that is to go: give it another parent first", staying)
		}
	}
	for part := range slices.Chunk(ids, deleteBatch) {
		if _, err := q.Exec(`UPDATE memdesk.decisions SET parent_id = NULL WHERE workspace = $1 AND parent_id = ANY($2)`, s.workspace, part); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) deleteNodes(q *query, ids []string) (int64, error) {
	for _, id := range ids {
		delete(q.held, id)
	}
	var edges []string
	if err := q.Each(`UPDATE memdesk.hyperedges e SET row_version = row_version + 1
		WHERE e.workspace = $1 AND e.id IN (SELECT m.hyperedge_id FROM memdesk.membership m WHERE m.workspace = $1 AND m.node_id = ANY($2))
		RETURNING e.id`, []any{s.workspace, ids}, sqlgraph.Collect(&edges)); err != nil {
		return 0, err
	}
	n, err := q.Exec(`DELETE FROM memdesk.nodes WHERE workspace = $1 AND id = ANY($2)`, s.workspace, ids)
	if err != nil || len(edges) == 0 {
		return n, err
	}
	_, err = q.Exec(`DELETE FROM memdesk.hyperedges e WHERE e.workspace = $1 AND e.id = ANY($2) AND
		(SELECT count(DISTINCT m.node_id) FROM memdesk.membership m WHERE m.workspace = $1 AND m.hyperedge_id = e.id) < 2`, s.workspace, edges)
	return n, err
}
