package linesearch_test

import (
	"testing"

	"memdesk/backends/seam/internal/linesearch"
)

// TestPiece: a text of several lines must be one hit when it contains every word anywhere, at the line
// of the phrase, else of the first word.
func TestPiece(t *testing.T) {
	const text = "Deploy notes\nblue is first\nthe FIRST blue\nο λόγος"
	for _, c := range []struct {
		query string
		line  int
		score float64
	}{
		{"first blue", 3, 1}, {"blue deploy", 2, 0.5}, {"green deploy", 0, 0}, {"Ο ΛΌΓΟΣ", 4, 1},
	} {
		q, err := linesearch.New(c.query)
		if err != nil {
			t.Fatal(err)
		}
		hit, ok := q.Piece(text)
		if ok != (c.line > 0) || hit.Line != c.line || hit.Score != c.score {
			t.Errorf("%q: line %d, score %v, want line %d, score %v", c.query, hit.Line, hit.Score, c.line, c.score)
		}
		if ok && hit.Snippet != text {
			t.Errorf("%q: snippet %q", c.query, hit.Snippet)
		}
	}
}
