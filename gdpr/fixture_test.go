package gdpr_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// fixtures is the directory, beside the repository, of data that real programs wrote.
func fixtures(t *testing.T, name string, expected any) string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "fixtures", name)
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skip("no fixtures stand beside the repository")
	}
	if err := json.Unmarshal(b, expected); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rowsOf are the rows of every table of a database, by table and key.
func rowsOf(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	out := map[string]string{}
	for table, key := range map[string]string{"nodes": "id", "hyperedges": "id", "membership": "hyperedge_id || node_id || coalesce(role, '')", "decisions": "node_id",
		"evolution_log": "id", "node_embeddings": "node_id", "proposals": "id"} {
		rows, err := db.Query("SELECT " + key + ", * FROM " + table)
		if err != nil {
			continue // older versions have no such table
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			cells := make([]any, len(columns))
			dest := make([]any, len(columns))
			for i := range cells {
				dest[i] = &cells[i]
			}
			if err := rows.Scan(dest...); err != nil {
				t.Fatal(err)
			}
			text := ""
			for i, c := range cells {
				if columns[i] != "updated_at" {
					text += fmt.Sprintf("%s=%s|", columns[i], c)
				}
			}
			out[table+"/"+fmt.Sprint(cells[0])] = text
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestRecurseFixture erases each subject of a database that a real recurse wrote.
func TestRecurseFixture(t *testing.T) {
	t.Parallel()
	var expected struct {
		Subjects map[string]struct {
			Tokens             []string `json:"tokens"`
			NodesContent       []string `json:"nodes_content"`
			NodesMetadata      []string `json:"nodes_metadata_only"`
			NodesProvenance    []string `json:"nodes_provenance_only"`
			EdgesLabel         []string `json:"edges_label"`
			EdgesMetadata      []string `json:"edges_metadata_only"`
			EdgesTouchingNamed []string `json:"edges_touching_named_nodes"`
		} `json:"subjects"`
		Friends any `json:"false_friend_nodes"`
	}
	dir := fixtures(t, "recurse", &expected)
	for who, s := range expected.Subjects {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			path := filepath.Join(w.dir, "rlm.db")
			copyFile(t, filepath.Join(dir, "rlm.db"), path)
			w.more = []backends.StoreConfig{{Name: "rlm", Kind: "sqlite", Path: path}}
			w.open()
			before := rowsOf(t, path)
			r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: who, Aliases: without(s.Tokens, who), Received: "2026-02-20", Ground: "asked"})
			if err != nil {
				t.Fatal(err)
			}
			w.complete(w.plan(r.ID))
			if err := w.fleet.Close(); err != nil {
				t.Fatal(err)
			}
			w.fleet = nil
			after := rowsOf(t, path)
			touched := map[string]bool{}
			for _, ids := range [][]string{s.NodesContent, s.NodesMetadata, s.NodesProvenance, s.EdgesLabel, s.EdgesMetadata} {
				for _, id := range ids {
					touched[id] = true
				}
			}
			for key, row := range before {
				table, id, _ := strings.Cut(key, "/")
				if (table == "nodes" || table == "node_embeddings" || table == "proposals") && !touched[id] && after[key] != row && !named(row, s.Tokens) {
					t.Errorf("the bystander %s: %q, was %q", key, after[key], row)
				}
			}
			for _, token := range s.Tokens {
				for _, text := range after {
					if holdsWhole(text, token) {
						t.Errorf("%q is left in a row", token)
					}
				}
			}
			if left := wholeIn(t, filepath.Dir(path), s.Tokens); len(left) > 0 {
				t.Errorf("bytes are left: %q", left)
			}
			w.open()
		})
	}
}

func without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}

func named(text string, tokens []string) bool {
	return slices.ContainsFunc(tokens, func(t string) bool { return holdsWhole(text, t) })
}

// holdsWhole is the fixtures' rule for a token: exact case, no letter, digit or underscore before or after
// it, no hyphen after it.
func holdsWhole(text, token string) bool {
	word := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], token)
		if i < 0 {
			return false
		}
		lo, hi := from+i, from+i+len(token)
		if (lo == 0 || !word(text[lo-1])) && (hi == len(text) || !word(text[hi]) && text[hi] != '-') {
			return true
		}
		from = lo + 1
	}
}

// wholeIn are the files below a directory that contain a token.
func wholeIn(t *testing.T, dir string, tokens []string) []string {
	t.Helper()
	var out []string
	for name, body := range tree(t, dir) {
		for _, token := range tokens {
			if holdsWhole(name+"\n"+body, token) {
				out = append(out, name+": "+token)
			}
		}
	}
	return out
}

// TestCrewshipFixture erases each subject of a directory that a real Crewship wrote, including one whom
// Crewship's own erasure left in lessons and learned files. The report must list what memdesk cannot reach.
func TestCrewshipFixture(t *testing.T) {
	t.Parallel()
	var expected struct {
		Subjects map[string]struct {
			Tokens []string            `json:"tokens"`
			Files  map[string][]string `json:"files"`
		} `json:"subjects"`
	}
	dir := fixtures(t, "crewship", &expected)
	if len(expected.Subjects) == 0 {
		t.Fatal("no subjects")
	}
	for who, s := range expected.Subjects {
		t.Run(who, func(t *testing.T) {
			w := newWorld(t)
			root := filepath.Join(w.dir, "ship")
			if err := os.CopyFS(root, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(root, "expected.json")); err != nil {
				t.Fatal(err)
			}
			w.more = []backends.StoreConfig{{Name: "ship", Kind: "crewship", Path: root}}
			w.open()
			before := tree(t, root)
			r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: who, Aliases: without(s.Tokens, who), Received: "2026-02-20", Ground: "asked"})
			if err != nil {
				t.Fatal(err)
			}
			p := w.plan(r.ID)
			out := w.inScope(p)
			after := tree(t, root)
			var left []string
			for name, body := range after {
				if named(name+"\n"+body, s.Tokens) && !strings.HasPrefix(name, "crewship.db") && name != "recall.json" { // that file is the fixture's, not Crewship's
					left = append(left, name)
				}
				if was, ok := before[name]; ok && !named(was, s.Tokens) && was != body && !strings.HasSuffix(name, "index.sqlite") {
					t.Errorf("the bystander's file %s changed", name)
				}
			}
			for name, body := range before {
				if _, ok := after[name]; !ok && !named(name+"\n"+body, s.Tokens) && !strings.HasSuffix(name, ".lock") && !concerned(p, name) {
					t.Errorf("the bystander's file %s is gone", name)
				}
			}
			for _, name := range left {
				said := slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
					return l.Store == "ship" && l.Verdict == model.VerdictOutOfScope && l.Reason != "" && strings.Contains(name, strings.TrimSuffix(l.Layer, "/"))
				})
				if strings.HasPrefix(name, "memory/"+"versions/") || strings.HasPrefix(name, "output/") || !said {
					t.Errorf("%s still names her; the report says so: %v", name, said)
				}
			}
			for name := range s.Files {
				if _, ok := before[name]; !ok {
					t.Errorf("the fixture has no %s", name)
				}
			}
			if !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
				return l.Layer == "crewship.db" && l.Verdict == model.VerdictOutOfScope
			}) {
				t.Error("Crewship's database is not named as out of reach")
			}
		})
	}
}

// concerned reports whether a plan has a step for a file.
func concerned(p gdpr.Plan, name string) bool {
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if strings.HasSuffix(name, st.ID[strings.LastIndexByte(st.ID, '/')+1:]) {
				return true
			}
		}
	}
	return false
}
