package sqlite

import (
	"database/sql"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends/hypergraph/internal/words"
)

func TestCheckList(t *testing.T) {
	for _, c := range []struct {
		ddl  string
		want []string
	}{
		{`CREATE TABLE n (type TEXT CHECK(type IN ('a', 'b')))`, []string{"a", "b"}},
		{"CREATE TABLE n (-- CHECK(type IN ('no'))\n/* CHECK(type IN ('no')) */ type TEXT check ( TYPE in\n('a', -- it's\n 'b''c')))", []string{"a", "b'c"}},
		{`CREATE TABLE n (tier TEXT CHECK(tier IN ('x')), note TEXT DEFAULT 'CHECK(type IN (''no''))')`, nil},
		{`CREATE TABLE n (type TEXT CHECK(type IN (SELECT x FROM y)))`, nil},
		{`CREATE TABLE n (type TEXT CHECK(type IN ('a'`, nil},
		{``, nil},
	} {
		if d := cmp.Diff(c.want, checkList(c.ddl, "type")); d != "" {
			t.Errorf("%q: %s", c.ddl, d)
		}
	}
}

func FuzzCheckList(f *testing.F) {
	f.Add(`CREATE TABLE n (type TEXT CHECK(type IN ('a', 'b''c')) -- '`)
	f.Add("/*")
	f.Fuzz(func(t *testing.T, ddl string) {
		for _, w := range checkList(ddl, "type") {
			if len(w) > len(ddl) {
				t.Error(w)
			}
		}
	})
}

// FuzzQuery: no query text may be syntax to the index.
func FuzzQuery(f *testing.F) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, text := range []string{`CREATE VIRTUAL TABLE nodes_fts USING fts5 (content, metadata, tokenize = 'unicode61 remove_diacritics 2')`,
		`INSERT INTO nodes_fts VALUES ('a needle in a haystack', '')`} {
		if _, err := db.Exec(text); err != nil {
			f.Fatal(err)
		}
	}
	for _, s := range []string{`needle`, `"`, `a" OR "b`, `NEAR(a b)`, `content:x*`, "\x00", `^a + b`, `-`, `{a}:b`, "é\u0301", "記憶"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		terms := words.Terms(text)
		if len(terms) == 0 {
			return
		}
		for _, prefix := range []bool{false, true} {
			var n int
			if err := db.QueryRow(`SELECT count(*) FROM nodes_fts WHERE nodes_fts MATCH ?`, dialect{}.WordsExpr(terms, prefix)).Scan(&n); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
		rankTexts(terms, []document{{text: text}, {text: "a needle"}}, 0)
	})
}

func TestRecurseTime(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-02T08:00:00.52428968Z":       "2026-03-02T08:00:00.52428968Z",
		"2026-03-03T08:00:00.501242012+02:00": "2026-03-03T06:00:00.501242012Z",
		"2026-03-02T19:00:00Z":                "2026-03-02T19:00:00Z",
		"2026-11-21 02:56:00":                 "2026-11-21T02:56:00Z",
		"2026-11-21 02:56:00.25":              "2026-11-21T02:56:00.25Z",
		"yesterday":                           "0001-01-01T00:00:00Z",
		"":                                    "0001-01-01T00:00:00Z",
	} {
		if got := recurseTime(in).Format("2006-01-02T15:04:05.999999999Z07:00"); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
