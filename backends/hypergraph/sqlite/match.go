package sqlite

import (
	"strings"

	"memdesk/backends/hypergraph/internal/sqlgraph"
)

// WordsExpr implements sqlgraph.Dialect by an FTS5 expression. Every term is a quoted string, so that
// none of it is syntax; a term that the tokenizer splits is a phrase.
func (dialect) WordsExpr(terms []string, prefix bool) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
	}
	q := strings.Join(quoted, ` AND `)
	if prefix {
		q += ` *`
	}
	return q
}

// WordsMatches implements sqlgraph.Dialect.
func (d dialect) WordsMatches(q sqlgraph.Query, expr string, limit int) (n int64, err error) {
	if err := d.current(q); err != nil {
		return 0, err
	}
	_, err = q.One(`SELECT count(*) FROM (SELECT 1 FROM nodes_fts WHERE nodes_fts MATCH ? LIMIT ?)`, []any{expr, limit}, &n)
	return n, err
}
