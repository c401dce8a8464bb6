package crewship

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
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
		if i%7 == 0 {
			text += "\n\n## Krk\nŽluťoučký kůň – „úpěl“ ďábelské ódy, " + strings.Repeat("naïve Ærø x², ", i) + "\n"
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
	for _, query := range []string{"harbour", "harbour words", "MORE OR nothing", "zurich harbour", `"harbour long"`, "harb* AND par*", "kůň naive", "kun OR harbour", "x² ody", "úpě*", "Ærø"} {
		all, everything := ranks([]string{"न"}, query, true) // a word that every row may contain
		some, few := ranks(wordsOf(query), query, false)
		if everything != 60 || few >= everything || len(all) == 0 || !slices.Equal(all, some) {
			t.Errorf("%q: %d of %d files\n%q\nwant\n%q", query, few, everything, some, all)
		}
	}
}

// TestLettersAreThoseOfTheIndex: for each character that is not foreign, FTS5 must agree whether it is a letter, and fold it to one.
func TestLettersAreThoseOfTheIndex(t *testing.T) {
	db := sql.OpenDB(connector{":memory:"})
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, text := range []string{rankSchema, "CREATE VIRTUAL TABLE words USING fts5vocab(memory_chunks, instance)"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for r := range rune(0x3000) {
		if isForeign(r) {
			continue
		}
		n++
		if _, err := db.ExecContext(t.Context(), "INSERT INTO memory_chunks(rowid, content) VALUES (?, ?)", r, "x"+string(r)+"y"); err != nil {
			t.Fatal(err)
		}
		var words string
		if err := db.QueryRowContext(t.Context(), "SELECT group_concat(term, ' ') FROM (SELECT term FROM words WHERE doc = ? ORDER BY offset)", r).Scan(&words); err != nil {
			t.Fatal(err)
		}
		if isLetter(r) && (utf8.RuneCountInString(words) != 3 || strings.Contains(words, " ")) || !isLetter(r) && words != "x y" {
			t.Errorf("%U: FTS5 has the words %q", r, words)
		}
	}
	if n < 0x250 {
		t.Errorf("only %d characters were looked at", n)
	}
}

// FuzzRows: rows and tokens must be those of the plain way, line by line and character by character.
func FuzzRows(f *testing.F) {
	long := strings.Repeat("seven words of a tide table here ", 9)
	for _, text := range []string{
		"", "## a\nb\n## c", "x\n## \n##  \n### d\n", "staging-gate 2026-07-30T09\n", "@[`{/:Az", "Zürich café na\u0308ive ½ Ⅷ \ue000x",
		"a\u0301b\u0301", "\u0301ab", "1234567é12345678é", "日本語 text", long + "\n\n" + long + "\n\n\n" + long + "\n## " + long,
		long + "\n\n \n\n" + long + long + "\u00a0\n\n\u00a0", "\n## a\r\n\n## b", "\x00a\x7fb\x10c",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		var rows []string
		for row := range chunks([]byte(text)) {
			rows = append(rows, string(bytes.Join(row, paragraphs)))
		}
		if want := plainRows(text); !slices.Equal(rows, want) {
			t.Errorf("rows of %q: %q, want %q", text, rows, want)
		}
		ascii := strings.Map(func(r rune) rune { return min(r, unicode.MaxASCII) }, text)
		if got, want := countTokens([]byte(ascii)), plainTokens(ascii); got != want {
			t.Errorf("%q: %d tokens, want %d", ascii, got, want)
		}
	})
}

func plainRows(text string) (out []string) {
	sections := []string{""}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			sections = append(sections, "")
		}
		sections[len(sections)-1] += line
	}
	for _, section := range sections {
		if section = strings.TrimSpace(section); section == "" {
			continue
		}
		if len(section) <= chunkSize {
			out = append(out, section)
			continue
		}
		joined := ""
		for _, paragraph := range strings.Split(section, "\n\n") {
			switch paragraph = strings.TrimSpace(paragraph); {
			case paragraph == "":
			case joined == "":
				joined = paragraph
			case len(joined)+len("\n\n")+len(paragraph) > chunkSize:
				out = append(out, joined)
				joined = paragraph
			default:
				joined += "\n\n" + paragraph
			}
		}
		if joined != "" {
			out = append(out, joined)
		}
	}
	return out
}

func plainTokens(ascii string) (n int64) {
	in := false
	for _, r := range ascii {
		is := unicode.IsLetter(r) || unicode.IsDigit(r)
		if is && !in {
			n++
		}
		in = is
	}
	return n
}
