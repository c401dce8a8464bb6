package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestItemsAndRecallTakeFilters(t *testing.T) {
	d := newDesk(t)
	d.write("daily/2026-05-22.md", "---\nkind: decision\nconfidence: 0.8\n---\nharbour lights stay on\n")
	if r := d.run("items", "--type", "decision", "--json").want(t, 0); len(r.rows) != 2 || r.rows[0]["id"] != "daily/2026-05-22.md" || r.rows[1]["total"] != 1.0 {
		t.Errorf("items by type: %v", r.rows)
	}
	if r := d.run("items", "--confidence", "0.9", "--json").want(t, 0); len(r.rows) != 1 {
		t.Errorf("items by confidence: %v", r.rows)
	}
	r := d.run("recall", "harbour", "--type", "decision").want(t, 0, "picked among the first")
	if strings.Contains(r.out, "AGENT.md") || !strings.Contains(r.out, "daily/2026-05-22.md") {
		t.Errorf("recall by type: %s", r.out)
	}
	d.run("items", "--since", "yesterday").want(t, 2, "is no time")
	d.run("audit", "list", "--until", "soon").want(t, 2, `until: "soon" is no time`)
	d.run("items", "--archived", "yes").want(t, 2, "also and only")
	d.run("recall", "harbour", "--confidence", "7").want(t, 2, "between 0 and 1")
	d.run("items", "--until", "2000-01-01", "--json").want(t, 0)
}

// TestScopeOfEveryStore: a store that knows no crews must say so. One that
// refuses what every store can do has failed.
func TestScopeOfEveryStore(t *testing.T) {
	d := newDesk(t)
	vault := []string{"--open", "vault=" + t.TempDir()}
	run := func(args ...string) result { return d.bare(append(vault, args...)...) }
	run("recall", "the", "--agent", "nobody").want(t, 0)
	run("-s", "vault", "recall", "the", "--crew", "c").want(t, 2, "knows no crews")
	run("-s", "vault", "recall", "the", "--explain", "vault:x.md", "--agent", "ada").want(t, 2, "knows no agents")
	for _, args := range [][]string{{"--agent", "ada"}, {"--crew", "c"}, {"--workspace", "w"}} {
		run(append([]string{"retain", "vault:notes/x.md", "--mode", "append", "--yes"}, args...)...).want(t, 2, "knows no "+args[0][2:])
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/store" {
			_, _ = io.WriteString(w, `{"kind":"x","tiers":[],"facets":["browse"]}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":"INVALID_INPUT","message":"no"}}`)
	}))
	defer srv.Close()
	d.env["FAR_TOKEN"] = "a-token-of-this-test-0123456789"
	conf := filepath.Join(d.dir, "far.toml")
	must(t, os.WriteFile(conf, []byte("[[store]]\nkind = \"remote\"\nbase_url = \""+srv.URL+"\"\ntoken_env = \"FAR_TOKEN\"\n[[store]]\nkind = \"vault\"\npath = \""+t.TempDir()+"\"\n"), 0o600))
	for _, args := range [][]string{{"items"}, {"recall", "x"}} {
		d.bare(append([]string{"--config", conf}, args...)...).want(t, 3, "remote: ")
	}
}
