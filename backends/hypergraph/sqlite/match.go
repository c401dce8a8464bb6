package sqlite

import (
	"strings"

	"memdesk/backends/hypergraph/internal/sqlgraph"
	"memdesk/backends/hypergraph/internal/words"
)

// ftsQuery is an FTS5 expression that all terms must meet. Every term is a quoted
// string, so nothing in it is syntax; one that the tokenizer splits is a phrase.
// With prefix, the last term also matches words that begin with it.
func ftsQuery(terms []string, prefix bool) string {
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

// lookup finds what a text matches in the own schema, the first of these that
// matches anything: its words, its words with the last one as a prefix, the text
// as a substring.
type lookup struct {
	expr    string // FTS5 expression; empty: substring
	terms   []string
	prefix  bool  // the last term is a beginning
	matches int64 // up to sqlgraph.ExactLimit+1
}

func findLookup(q sqlgraph.Query, text string) (lookup, error) {
	parts := words.Terms(text)
	if len(parts) == 0 {
		return lookup{}, nil
	}
	for _, prefix := range []bool{false, true} {
		l := lookup{expr: ftsQuery(parts, prefix), terms: parts, prefix: prefix}
		if _, err := q.One(`SELECT count(*) FROM (SELECT 1 FROM nodes_fts WHERE nodes_fts MATCH ? LIMIT ?)`,
			[]any{l.expr, sqlgraph.ExactLimit + 1}, &l.matches); err != nil || l.matches > 0 {
			return l, err
		}
	}
	return lookup{}, nil
}
