package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/internal/testpg"
)

// TestGraph walks the demo's graph.
func TestGraph(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "demo")
	d.bare("demo", "--dir", dir, "--seed-only").want(t, 0)
	md := func(args ...string) result {
		return d.bare(append([]string{"--config", filepath.Join(dir, "config.toml")}, args...)...)
	}
	edge := md("items", "--store", "graph", "--tier", "edges", "--limit", "1", "--json").want(t, 0).row(t, "item")["id"].(string)
	around := md("graph", "subgraph", "graph:fact-0009", "--depth", "2", "--json").want(t, 0)
	start := ""
	for _, r := range around.rows {
		switch r["type"] {
		case "item":
			start, _ = r["id"].(string)
		case "link":
			if items, ok := r["items"].([]any); !ok || len(items) < 2 || r["kind"] == "" {
				t.Errorf("link = %v", r)
			}
		}
	}
	if start == "" {
		t.Fatalf("no items: %v", around.rows)
	}
	near := md("graph", "neighbours", "graph:fact-0009", "--limit", "1", "--json").want(t, 0)
	if len(near.rows) != 1 || !strings.Contains(near.err, "there may be more") {
		t.Errorf("neighbours: %v, %q", near.rows, near.err)
	}
	for _, r := range near.rows {
		if r["type"] != "item" || r["id"] == "fact-0009" || r["store"] != "graph" {
			t.Errorf("neighbour = %v", r)
		}
	}
	md("graph", "neighbours", "graph:fact-0009").want(t, 0, "REF", "TITLE", "graph:")
	md("graph", "neighbours", "graph:no-such").want(t, 4)
	md("graph", "subgraph", "graph:fact-0009", "scratch:x").want(t, 2, "one store")
	md("graph", "neighbours").want(t, 2)
	if edge == "" {
		t.Error("the demo has no edge")
	}
	d.run("graph", "neighbours", "crewship:AGENT.md").want(t, 1, "no relations")
	d.run("graph", "neighbours", "crewship:AGENT.md", "--depth", "-1").want(t, 2, "--depth must not be negative")
	d.run("graph", "similar", "crewship:AGENT.md", "--limit", "-5").want(t, 2, "--limit must not be negative")
}

// TestMigrate makes a server's schema, goes down and up, and is refused by stores without one.
func TestMigrate(t *testing.T) {
	d := newDesk(t)
	d.env["DESK_DSN"] = testpg.DSN(t)
	db := func(args ...string) result {
		return d.bare(append([]string{"--open", "postgres=DESK_DSN"}, args...)...)
	}
	at := func(current float64, args ...string) {
		t.Helper()
		r := db(append(args, "--json")...).want(t, 0)
		if s := r.row(t, "schema"); s["current"] != current || s["latest"] != 3.0 || s["store"] != "postgres" {
			t.Errorf("%v: %v", args, s)
		}
		for _, row := range r.rows {
			if row["type"] == "step" && row["applied"] != (row["version"].(float64) <= current) {
				t.Errorf("%v: %v", args, row)
			}
		}
	}
	db("stores", "--json").want(t, 1, "no memdesk schema", "memdesk create postgres=")
	d.bare("create", "postgres=DESK_DSN").want(t, 0, "DESK_DSN")
	d.bare("create", "postgres=DESK_DSN").want(t, 5, "schema already")
	at(3, "migrate", "--show")
	db("migrate").want(t, 0, "at version 3 already") // nothing to ask about
	d.in = "kept"
	db("retain", "--tier", "task", "--key", "k", "--mode", "replace", "-", "--yes").want(t, 0)
	db("migrate", "--to", "1", "--yes").want(t, 2, "--confirm")
	db("migrate", "--to", "1", "--confirm", "other").want(t, 6, "not the name")
	db("migrate", "--to", "1", "--confirm", "other", "--json").want(t, 6, `"store":"postgres"`)
	conf := filepath.Join(d.dir, "production.toml")
	if err := os.WriteFile(conf, []byte("[[store]]\nname = \"postgres\"\nkind = \"postgres\"\ndsn_env = \"DESK_DSN\"\nenvironment = \"production\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	production := func(args ...string) result { return d.bare(append([]string{"--config", conf}, args...)...) }
	production("migrate", "--to", "1", "--confirm", "postgres").want(t, 2, "--confirm-count")
	production("migrate", "--to", "1", "--confirm", "postgres", "--confirm-count", "7").want(t, 6, "which is 1")
	production("migrate", "--to", "2", "--confirm", "postgres", "--confirm-count", "1").want(t, 0)
	at(1, "migrate", "--to", "1", "--confirm", "postgres")
	d.in = "refused"
	db("retain", "--tier", "task", "--key", "k", "--mode", "replace", "-", "--yes").want(t, 1, "memdesk migrate")
	db("--read-only", "migrate", "--yes").want(t, 6)
	db("migrate").want(t, 2, "--yes")
	at(3, "migrate", "--yes")
	db("show", "--raw", "postgres:k").want(t, 0, "kept")
	id, _ := db("gdpr", "request", "--subject", "usr_ida9931", "--received", "2026-01-31", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	db("gdpr", "hold", id, "--item", "postgres:k", "--ground", "a claim").want(t, 0)
	db("migrate", "--to", "0", "--confirm", "postgres").want(t, 6, "on hold under request "+id)
	at(3, "migrate", "--show")
	db("gdpr", "unhold", id, "--item", "postgres:k").want(t, 0)
	if r := db("migrate", "--to", "0", "--confirm", "postgres"); r.code == 0 || strings.Contains(r.err, "on hold") {
		t.Errorf("without the hold: %d, %s", r.code, r.err) // the item itself prevents it
	}
	db("show", "--raw", "postgres:k").want(t, 0, "kept")
	db("migrate", "--show").want(t, 0, "VERSION", "the index of words")
	db("migrate", "--to", "9", "--yes").want(t, 2, "no schema 9")
	db("migrate", "--to", "-1", "--yes").want(t, 2)
	d.run("migrate", "--yes").want(t, 1, "no schema of memdesk's own")
}
