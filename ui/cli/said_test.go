package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// TestARefusalComesBeforeTheQuestion: who may only look must not be told to give --yes, and the try is on record.
func TestARefusalComesBeforeTheQuestion(t *testing.T) {
	d := newDesk(t)
	d.write("topics/x.md", "tide\n")
	d.in = "text\n"
	d.run("forget", "crewship:topics/x.md", "--yes").want(t, 0)
	d.write("topics/x.md", "tide\n")
	id := d.run("undo", "list", "--json").want(t, 0).row(t, "undo")["undo"].(string)
	for _, args := range [][]string{{"forget", "crewship:topics/x.md"}, {"retain", "--mode", "append", "--tier", "topics", "--key", "y", "-"}, {"undo", "restore", id},
		{"turn", "after", "--tier", "daily", "--key", "2031-02-01", "-"}, {"quarantine", "calibrate", "--apply", "5"}, {"jobs", "cancel", "20260504t091500-0a1b2c3d4e5f6071"}} {
		if r := d.run(append([]string{"--read-only"}, args...)...).want(t, 6); strings.Contains(r.err, "--yes") {
			t.Errorf("%q asks: %s", args, r.err)
		}
	}
	noted := map[any]bool{}
	for _, r := range d.run("audit", "list", "--all", "--json").rows {
		noted[r["action"]] = noted[r["action"]] || r["result"] == "refused"
	}
	for _, act := range []string{"forget", "append", "restore", "quarantine-calibrate", "jobs"} {
		if !noted[act] {
			t.Errorf("no record of a refused %s", act)
		}
	}
}

// TestALossIsSaidInEveryForm: what a list could not read is an error, which -q does not leave out and --json makes an
// object.
func TestALossIsSaidInEveryForm(t *testing.T) {
	d := newDesk(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/store" {
			_, _ = io.WriteString(w, `{"kind":"x","tiers":[{"name":"notes"}],"facets":["browse"]}`)
			return
		}
		_, _ = io.WriteString(w, `{"items":[{"id":"a","tier":"notes","bytes":4}],"problems":["locked: permission denied"],"total":{"n":1}}`)
	}))
	defer srv.Close()
	d.env["FAR_TOKEN"] = "a-token-of-this-test-0123456789"
	for form, want := range map[string]string{"-q": "remote: not looked at: locked", "--json": `{"type":"error"`} {
		for _, args := range [][]string{{"items"}, {"items", "--limit", "1"}} {
			if r := d.bare(append([]string{"--open", "remote=FAR_TOKEN@" + srv.URL, form}, args...)...).want(t, 3); !strings.Contains(r.err, want) {
				t.Errorf("%s %q: %s", form, args, r.err)
			}
		}
	}
}

// TestOneErrorForOneCopy: a copy that cannot be removed is told once.
func TestOneErrorForOneCopy(t *testing.T) {
	d := newDesk(t)
	d.file("vault/plan.md", "a plan\n")
	d.file("vault/plan (conflicted copy 2026-05-01).md", "a plan\n")
	config := d.file("config.toml", "[[store]]\nkind = \"vault\"\nread_only = true\npath = \""+filepath.Join(d.dir, "vault")+"\"\n")
	if r := d.bare("--config", config, "conflicts", "resolve", "--redundant", "--yes", "--json"); strings.Count(r.err, `"type":"error"`) != 1 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestConfigCheckOpensTheScannersModel: a file with which no command runs is not fine.
func TestConfigCheckOpensTheScannersModel(t *testing.T) {
	d := newDesk(t)
	config := d.file("config.toml", "[scanner]\nmodel = \"/nonexistent/w.json\"\n")
	d.bare("--config", config, "config", "check").want(t, 2, "scanner.model")
}

// TestUndoListWithoutAPlace: no place for entries is not "no entries".
func TestUndoListWithoutAPlace(t *testing.T) {
	d := newDesk(t)
	d.env["XDG_STATE_HOME"], d.env["HOME"] = "", ""
	d.bare("undo", "list").want(t, 1, "XDG_STATE_HOME")
}
