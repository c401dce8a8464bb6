package postgres

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"memdesk/backends/hypergraph/internal/words"
)

// Limits of a tsvector (the PostgreSQL manual, Limitations).
const (
	lexemeBytes    = 2046
	lexemePlaces   = 255
	lastPlace      = 16383
	tsvectorBytes  = 1<<20 - 1
	tsvectorMargin = 1 << 10
)

// lexemes are the words of a node's own text with their positions; the result is false where not all fit.
// Positions beyond the type's last become the last: far inside a very long text no phrase is found.
func lexemes(content, metadata string) (pgtype.TSVector, bool) {
	places := map[string][]pgtype.TSVectorPosition{}
	whole, size, place := true, 0, 0
	for _, w := range append(words.Tokens(content), words.Tokens(metadata)...) {
		place++
		at := uint16(min(place, lastPlace))
		have, known := places[w]
		more := 2
		if !known {
			more += len(w) + 4 // the number of positions, and alignment twice
		}
		switch {
		case len(w) > lexemeBytes || size+more > tsvectorBytes-tsvectorMargin:
			whole = false
		case len(have) == lexemePlaces || len(have) > 0 && have[len(have)-1].Position == at:
		default:
			places[w] = append(have, pgtype.TSVectorPosition{Position: at})
			size += more
		}
	}
	v := pgtype.TSVector{Lexemes: make([]pgtype.TSVectorLexeme, 0, len(places)), Valid: true}
	for w, at := range places {
		v.Lexemes = append(v.Lexemes, pgtype.TSVectorLexeme{Word: w, Positions: at})
	}
	slices.SortFunc(v.Lexemes, func(a, b pgtype.TSVectorLexeme) int { return strings.Compare(a.Word, b.Word) })
	return v, whole
}

// WordsExpr implements sqlgraph.Dialect by a tsquery in which each term is a phrase of its words. Words
// hold letters and digits only, so none of them is syntax.
func (dialect) WordsExpr(terms []string, prefix bool) string {
	var parts []string
	for _, t := range terms {
		phrase := words.Tokens(t)
		for i, w := range phrase {
			if len(w) > lexemeBytes {
				return ""
			}
			phrase[i] = "'" + w + "'"
		}
		if len(phrase) > 0 {
			parts = append(parts, "("+strings.Join(phrase, " <-> ")+")")
		}
	}
	q := strings.Join(parts, " & ")
	if prefix && q != "" {
		q = strings.TrimSuffix(q, ")") + ":*)"
	}
	return q
}
