package sqlite

import (
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
)

const (
	insertOwnSQL = `INSERT INTO nodes (id, type, subtype, tier, confidence, subject_id, created_at, updated_at, last_accessed, access_count, provenance, metadata, content)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	insertTextSQL = `INSERT INTO nodes_fts (rowid, content, metadata) VALUES (last_insert_rowid(), ?, ?)`
)

func (s *Store) insertOwnNode(q *query, n hypergraph.Node) error {
	if err := s.insertOwnRow(q, n); err != nil {
		return err
	}
	return count(q, n.Tier, n.Type, n.Subtype, 1, int64(len(n.Content)))
}

// insertOwnRow writes the row and its text index, not the counters.
func (s *Store) insertOwnRow(q *query, n hypergraph.Node) error {
	if _, err := q.Exec(insertOwnSQL, n.ID, n.Type, n.Subtype, n.Tier, n.Confidence, n.SubjectID,
		n.CreatedAt.UnixNano(), n.UpdatedAt.UnixNano(), s.layout.kept(n.LastAccessed), n.AccessCount, n.Provenance, n.Metadata, n.Content); err != nil {
		return err
	}
	_, err := q.Exec(insertTextSQL, n.Content, n.Metadata)
	return err
}

func (s *Store) updateOwnNode(q *query, rowid int64, old, n hypergraph.Node, set []string, args []any) error {
	text := old.Content != n.Content || old.Metadata != n.Metadata
	if text {
		if err := unindexText(q, rowid, old); err != nil {
			return err
		}
	}
	set = append(set, `updated_at = ?`, `row_version = row_version + 1`)
	if _, err := q.Exec(`UPDATE nodes SET `+strings.Join(set, `, `)+` WHERE seq = ?`, append(args, s.clock.Now().UnixNano(), rowid)...); err != nil {
		return err
	}
	if text {
		if _, err := q.Exec(`INSERT INTO nodes_fts (rowid, content, metadata) VALUES (?, ?, ?)`, rowid, n.Content, n.Metadata); err != nil {
			return err
		}
	}
	if err := count(q, old.Tier, old.Type, old.Subtype, -1, -int64(len(old.Content))); err != nil {
		return err
	}
	return count(q, n.Tier, n.Type, n.Subtype, 1, int64(len(n.Content)))
}

// forgetOwnNode takes a node out of the text index and the counters.
func (s *Store) forgetOwnNode(q *query, rowid int64, old hypergraph.Node) error {
	bytes := int64(len(old.Content))
	if old.Oversize > 0 { // its text is not here: SQLite moves it by itself
		if _, err := q.Exec(`INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata) SELECT 'delete', seq, content, metadata FROM nodes WHERE seq = ?`, rowid); err != nil {
			return err
		}
		if _, err := q.One(`SELECT octet_length(content) FROM nodes WHERE seq = ?`, []any{rowid}, &bytes); err != nil {
			return err
		}
	} else if err := unindexText(q, rowid, old); err != nil {
		return err
	}
	return count(q, old.Tier, old.Type, old.Subtype, -1, -bytes)
}

// unindexText must be given the text as it was indexed: an external content index
// keeps no copy.
func unindexText(q *query, rowid int64, old hypergraph.Node) error {
	_, err := q.Exec(`INSERT INTO nodes_fts (nodes_fts, rowid, content, metadata) VALUES ('delete', ?, ?, ?)`, rowid, old.Content, old.Metadata)
	return err
}

// count moves the counters of one tier, type and subtype.
func count(q sqlgraph.Query, tier, typ, subtype string, items, bytes int64) error {
	changed, err := q.Exec(`UPDATE counters SET items = items + ?, bytes = bytes + ? WHERE tier = ? AND type = ? AND subtype = ?`,
		items, bytes, tier, typ, subtype)
	if err != nil {
		return err
	}
	if changed == 0 {
		_, err = q.Exec(`INSERT INTO counters (tier, type, subtype, items, bytes) VALUES (?, ?, ?, ?, ?)`, tier, typ, subtype, items, bytes)
		return err
	}
	if items < 0 {
		_, err = q.Exec(`DELETE FROM counters WHERE tier = ? AND type = ? AND subtype = ? AND items = 0`, tier, typ, subtype)
	}
	return err
}
