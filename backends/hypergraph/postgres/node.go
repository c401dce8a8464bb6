package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// nodeColumns are read by scanNode from the aliases n and, for decisions, d.
var nodeColumns = `n.id, n.type, n.subtype, ` + bounded(`n.content`) + `, n.tier, n.confidence, ` + bounded(`n.provenance`) + `, ` + bounded(`n.metadata`) + `, n.subject_id,
	n.created_at, n.updated_at, COALESCE(n.last_accessed, 0), n.access_count, n.has_vector, n.row_version, ` + oversize(`n.content`, `n.provenance`, `n.metadata`) + `,
	d.decision_type, d.confidence, d.prompt, d.files, d.branch, d.commit_hash, d.parent_id, d.status`

// bounded selects a text, empty where it is larger than MaxText. PostgreSQL tells the
// length of a stored text without reading it.
func bounded(column string) string {
	return fmt.Sprintf(`CASE WHEN octet_length(%[1]s) > %[2]d THEN '' ELSE %[1]s END`, column, hypergraph.MaxText)
}

// oversize selects the bytes of the texts together where one is larger than MaxText,
// else 0.
func oversize(columns ...string) string {
	var large, sum []string
	for _, c := range columns {
		large = append(large, fmt.Sprintf(`octet_length(%s) > %d`, c, hypergraph.MaxText))
		sum = append(sum, `octet_length(`+c+`)::bigint`)
	}
	return `CASE WHEN ` + strings.Join(large, ` OR `) + ` THEN ` + strings.Join(sum, ` + `) + ` ELSE 0 END`
}

const withDecision = ` LEFT JOIN memdesk.decisions d ON d.workspace = n.workspace AND d.node_id = n.id AND n.type = 'decision' `

func scanNode(scan func(...any) error, more ...any) (hypergraph.Node, error) {
	var n hypergraph.Node
	var d hypergraph.Decision
	var kind, prompt, files, branch, commit, parent, status *string
	var confidence *int64
	var created, updated, accessed int64
	err := scan(append([]any{&n.ID, &n.Type, &n.Subtype, &n.Content, &n.Tier, &n.Confidence, &n.Provenance, &n.Metadata, &n.SubjectID,
		&created, &updated, &accessed, &n.AccessCount, &n.HasVector, &n.RowVersion, &n.Oversize,
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
	if !sqlgraph.Storable(id) {
		return n, sqlgraph.NoSuchNode(q.Op(), id)
	}
	lock := ""
	if q.changing {
		lock = ` FOR UPDATE OF n`
	}
	found := false
	err := q.Each(`SELECT `+nodeColumns+` FROM memdesk.nodes n`+withDecision+`WHERE n.workspace = $1 AND n.id = $2`+lock, []any{s.workspace, id},
		func(scan func(...any) error) (err error) {
			found = true
			n, err = scanNode(scan)
			return err
		})
	switch {
	case err != nil:
		return n, err
	case !found:
		return n, sqlgraph.NoSuchNode(q.Op(), id)
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

// selectNodes reads the nodes of a condition over the alias n; rest follows it.
func (s *Store) selectNodes(q sqlgraph.Query, c conditions, rest string) ([]hypergraph.Node, error) {
	var out []hypergraph.Node
	err := q.Each(`SELECT `+nodeColumns+` FROM memdesk.nodes n`+withDecision+c.Where()+rest, c.Args, func(scan func(...any) error) error {
		n, err := scanNode(scan)
		out = append(out, n)
		return err
	})
	return out, err
}

// StreamNodes implements hypergraph.Ops.
func (o ops) StreamNodes(ctx context.Context) iter.Seq2[hypergraph.Node, error] {
	return o.AllNodes(ctx, hypergraph.NodeFilter{})
}
