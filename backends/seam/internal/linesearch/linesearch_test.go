package linesearch_test

import (
	"strings"
	"testing"

	"memdesk/backends/seam/internal/linesearch"
	"memdesk/model"
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

// TestLinesAreBounded: one file of matching lines must not fill the memory of every recall, and its best lines must be there.
func TestLinesAreBounded(t *testing.T) {
	q, err := linesearch.New("old boat")
	if err != nil {
		t.Fatal(err)
	}
	lines := q.Lines(strings.Repeat("a boat, old\n", 1000) + strings.Repeat("an old boat\n", 1000))
	if len(lines) != 2*model.RecallLimit || lines[0].Line != 1 || lines[len(lines)-1].Line != 1000+model.RecallLimit {
		t.Errorf("%d lines, the last is %+v", len(lines), lines[len(lines)-1])
	}
}
