package sqlite

import (
	"strings"

	"memdesk/backends/hypergraph"
	"memdesk/backends/internal/litefile"
)

// fileVocabulary narrows the family's lists to the values that the CHECK constraints in the file's
// table definitions admit; a list without a constraint stays.
func fileVocabulary(nodes, edges string) hypergraph.Vocabulary {
	v := hypergraph.Recurse()
	if l := checkList(nodes, "type"); len(l) > 0 {
		v.NodeTypes = l
	}
	if l := checkList(nodes, "tier"); len(l) > 0 {
		v.Tiers = l
	}
	if l := checkList(edges, "type"); len(l) > 0 {
		v.EdgeTypes = l
	}
	return v
}

// checkList finds `CHECK(column IN ('a', 'b'))` in a table definition and returns the words; nil
// without such a constraint.
func checkList(ddl, column string) []string {
	tokens := litefile.Tokens(ddl)
	for i := range tokens {
		rest := tokens[i:]
		if len(rest) < 6 || !strings.EqualFold(rest[0], "CHECK") || rest[1] != "(" ||
			!strings.EqualFold(rest[2], column) || !strings.EqualFold(rest[3], "IN") || rest[4] != "(" {
			continue
		}
		return quotedList(rest[5:])
	}
	return nil
}

func quotedList(tokens []string) []string {
	var words []string
	for _, t := range tokens {
		switch {
		case t == ")":
			return words
		case t == ",":
		case len(t) >= 2 && t[0] == '\'':
			words = append(words, strings.ReplaceAll(t[1:len(t)-1], "''", "'"))
		default:
			return nil
		}
	}
	return nil
}
