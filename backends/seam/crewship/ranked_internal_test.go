package crewship

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRanksAreThoseOfTheWholeIndex: an index of only the files that can match, with the totals of all
// files, must rank as an index of all files.
func TestRanksAreThoseOfTheWholeIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".memory")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		text := fmt.Sprintf("# note %d\n\n%s\n", i, strings.Repeat("quay pier 7-b, ", 1+i%9))
		if i%3 == 0 {
			text += strings.Repeat("harbour ", 1+i%4) + strings.Repeat("Long paragraph of words. ", i%30) + "\n\n## More\n"
		}
		if i%10 == 0 {
			text += "Zürich café naïve नमस्ते สวัสดี 👍🏽\n"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("n%02d.md", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := Open(t.Context(), Config{Name: "m", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.Provider.(*store)
	snap, err := s.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ranks := func(words []string, query string, again bool) (out []string, files int) {
		x, err := s.ranked(t.Context(), snap, snap.memories[0], words)
		if err != nil {
			t.Fatal(err)
		}
		defer x.close()
		if again { // with the totals of FTS5 itself
			if _, err := x.db.ExecContext(t.Context(), "INSERT INTO memory_chunks(memory_chunks) VALUES ('rebuild')"); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := x.db.QueryContext(t.Context(), "SELECT file, rank FROM memory_chunks WHERE memory_chunks MATCH ? ORDER BY rank", expression(query))
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var file string
			var rank float64
			if err := rows.Scan(&file, &rank); err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s %.12f", file, rank))
		}
		return out, len(x.rows)
	}
	for _, query := range []string{"harbour", "harbour words", "MORE OR nothing", "zurich harbour"} {
		all, everything := ranks([]string{"é"}, query, true) // a word that every file may contain
		some, few := ranks(wordsOf(query), query, false)
		if everything != 60 || few >= everything || len(all) == 0 || !slices.Equal(all, some) {
			t.Errorf("%q: %d of %d files\n%q\nwant\n%q", query, few, everything, some, all)
		}
	}
}
