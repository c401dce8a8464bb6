package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCopy copies a text tree to a graph, resumes after a failure, and reports what it left out.
func TestCopy(t *testing.T) {
	d := newDesk(t)
	db := filepath.Join(d.dir, "notes.db")
	if r := d.bare("create", "--yes", "sqlite="+db); r.code != 0 {
		t.Fatal(r.err)
	}
	open := []string{"--open", "sqlite=" + db}
	copying := func(more ...string) result {
		return d.run(append(append(open, "copy", "--from", "crewship", "--to", "sqlite", "--json"), more...)...)
	}
	if r := copying("--yes"); r.code != 2 || !strings.Contains(r.err, "--map") {
		t.Errorf("without a mapping: %d %s", r.code, r.err)
	}
	maps := []string{"--map", "AGENT=longterm", "--map", "daily=session"}
	try := func(copied, skipped, failed float64) {
		t.Helper()
		r := copying(append(maps, "--dry-run")...).want(t, 0, "tier AGENT goes to tier longterm")
		if sum := r.row(t, "summary"); len(r.rows) != 3 || sum["copied"] != copied || sum["skipped"] != skipped || sum["failed"] != failed || sum["dry_run"] != true {
			t.Errorf("dry run: %v", r.rows)
		}
	}
	try(2, 0, 0)
	if r := copying(maps...); r.code != 2 {
		t.Errorf("without --yes and a terminal: %d", r.code)
	}
	d.run(append(open, "items", "-s", "sqlite", "-o", "name")...).want(t, 0)
	try(2, 0, 0) // the first wrote nothing
	r := copying(append(maps, "--yes")...)
	if r.code != 0 || len(r.rows) != 3 || r.rows[2]["type"] != "summary" || r.rows[2]["copied"] != 2.0 {
		t.Fatalf("copy: %d %v %s", r.code, r.rows, r.err)
	}
	for _, row := range r.rows[:2] {
		if row["type"] != "item" || row["outcome"] != "copied" || row["id"] == "" {
			t.Errorf("row = %v", row)
		}
	}
	if r = copying(append(maps, "--yes")...); r.code != 0 || r.rows[2]["copied"] != 0.0 || r.rows[2]["skipped"] != 2.0 {
		t.Errorf("again: %d %v", r.code, r.rows)
	}
	try(0, 2, 0)
	if r = d.run(append(open, "show", "sqlite:daily/2026-05-21.md")...); r.code != 0 || !strings.Contains(r.out, "second harbour") {
		t.Errorf("show: %d %s %s", r.code, r.out, r.err)
	}
	if row := d.run(append(open, "origin", "sqlite:daily/2026-05-21.md", "--json")...).want(t, 0).last(t, "origin"); row["actor"] != "unknown" {
		t.Errorf("the writer of a copied text that nobody knows: %v", row)
	}
	if r = d.run(append(open, "--read-only", "copy", "--from", "crewship", "--to", "sqlite", "--map", "AGENT=longterm", "--yes")...); r.code != 6 {
		t.Errorf("read-only: %d %s", r.code, r.err)
	}
}

// TestCopyLeavesATier: items of a tier without a place must be counted by themselves, and end in exit 3, also when the
// copy is taken up again and in a dry run: a script that moves would remove them.
func TestCopyLeavesATier(t *testing.T) {
	d := newDesk(t)
	db := filepath.Join(d.dir, "notes.db")
	d.bare("create", "--yes", "sqlite="+db).want(t, 0)
	for i, how := range []string{"--dry-run", "--yes", "--yes"} {
		r := d.run("--open", "sqlite="+db, "copy", "--from", "crewship", "--to", "sqlite", "--map", "daily=session", how, "--json").want(t, 3)
		if sum := r.row(t, "summary"); sum["left"] != 1.0 || sum["failed"] != 0.0 || sum["copied"].(float64)+sum["skipped"].(float64) != 1 {
			t.Errorf("%d: %v", i, r.rows)
		}
	}
}

// TestExportAndBack: a store goes into a directory and from there into another store, and the log must
// record the export.
func TestExportAndBack(t *testing.T) {
	d := newDesk(t)
	d.write("daily/2026-05-22.md", "café \x1b[31m\n")
	out := filepath.Join(d.dir, "backup")
	r := d.run("export", "crewship", "--out", out, "--reason", "before the move", "--json").want(t, 0)
	if row := r.row(t, "export"); row["items"] != 3.0 || row["dir"] != out {
		t.Errorf("export: %v", row)
	}
	d.run("export", "crewship", "--out", out).want(t, 5, "exists already")
	d.run("export", "crewship").want(t, 2, "--out")
	d.run("audit", "list", "--action", "export").want(t, 0, "before the move", "ok", out)
	other := filepath.Join(d.dir, "other", ".memory")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	d.bare("--open", "crewship="+other, "copy", "--from", "./backup", "--to", "crewship", "--yes").want(t, 0, "copied 3, skipped 0, failed 0")
	for _, name := range []string{"AGENT.md", "daily/2026-05-21.md", "daily/2026-05-22.md"} {
		got, err := os.ReadFile(filepath.Join(other, name))
		if err != nil || string(got) != d.read(name) {
			t.Errorf("%s: %q, was %q: %v", name, got, d.read(name), err)
		}
	}
	if err := os.Truncate(filepath.Join(out, "items.jsonl"), 10); err != nil {
		t.Fatal(err)
	}
	d.run("copy", "--from", out, "--to", "crewship", "--yes").want(t, 2, "not as it was written")
}

// TestACopyWhoseListBreaks: items that were copied before the source failed make the copy partial, and one that failed
// must not hide that others were not looked at.
func TestACopyWhoseListBreaks(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/v1/store":
			_, _ = io.WriteString(w, `{"kind":"x","tiers":[{"name":"notes"}],"facets":["browse"]}`)
		case "/v1/read":
			if strings.Contains(string(body), `"b"`) {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = io.WriteString(w, `{"id":"a","tier":"notes","bytes":4,"content":"rope"}`)
		case "/v1/list":
			if strings.Contains(string(body), "next") {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			_, _ = io.WriteString(w, `{"items":[{"id":"a","tier":"notes","bytes":4},{"id":"b","tier":"notes","bytes":4}],"next":"next","total":{"n":3}}`)
		}
	}))
	defer srv.Close()
	d := newDesk(t)
	d.env["FAR_TOKEN"] = "a-token-of-this-test-0123456789"
	r := d.run("--open", "remote=FAR_TOKEN@"+srv.URL, "copy", "--from", "remote", "--to", "crewship", "--map", "notes=topics", "--yes", "--json").want(t, 3, "list: the server answered with HTTP status 502")
	if sum := r.row(t, "summary"); sum["copied"] != 1.0 || sum["failed"] != 1.0 {
		t.Errorf("summary: %v", sum)
	}
}

// TestACopyThatFailsInPart: the error that ends it must say whether the same command may do better.
func TestACopyThatFailsInPart(t *testing.T) {
	for _, tt := range []struct {
		name      string
		items     string
		status    int
		code      int
		kind      string
		retryable bool
		words     string
	}{
		{"it passes by itself", `{"id":"a","tier":"notes","bytes":4},{"id":"b","tier":"notes","bytes":4}`, http.StatusServiceUnavailable, 3, "UNAVAILABLE", true, "not everything was copied; the same command"},
		{"it does not", `{"id":"a","tier":"notes","bytes":4},{"id":"b","tier":"notes","bytes":4}`, http.StatusForbidden, 3, "PERMISSION_DENIED", false, "mend"},
		{"nothing", `{"id":"b","tier":"notes","bytes":4}`, http.StatusServiceUnavailable, 1, "UNAVAILABLE", true, "nothing was copied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				switch {
				case r.URL.Path == "/v1/store":
					_, _ = io.WriteString(w, `{"kind":"x","tiers":[{"name":"notes"}],"facets":["browse"]}`)
				case r.URL.Path == "/v1/read" && strings.Contains(string(body), `"b"`):
					w.WriteHeader(tt.status)
				case r.URL.Path == "/v1/read":
					_, _ = io.WriteString(w, `{"id":"a","tier":"notes","bytes":4,"content":"rope"}`)
				case r.URL.Path == "/v1/list":
					_, _ = io.WriteString(w, `{"items":[`+tt.items+`],"total":{"n":2}}`)
				}
			}))
			defer srv.Close()
			d := newDesk(t)
			d.env["FAR_TOKEN"] = "a-token-of-this-test-0123456789"
			r := d.run("--open", "remote=FAR_TOKEN@"+srv.URL, "copy", "--from", "remote", "--to", "crewship", "--map", "notes=topics", "--yes", "--json").want(t, tt.code)
			for _, want := range []string{`"kind":"` + tt.kind + `"`, `"retryable":` + strconv.FormatBool(tt.retryable), tt.words} {
				if !strings.Contains(r.err, want) {
					t.Errorf("%q is missing in %s", want, r.err)
				}
			}
		})
	}
}

// TestADryRunThatWouldFail: a script that tries first must learn that not everything would be copied.
func TestADryRunThatWouldFail(t *testing.T) {
	d := newDesk(t)
	d.write("topics/x-y.md", "one\n")
	d.write("topics/x/y.md", "two\n") // of the same name there
	other := filepath.Join(d.dir, "other", ".memory")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	r := d.run("--open", "devicelocal="+other, "copy", "--from", "crewship", "--to", "devicelocal", "--tier", "topics", "--map", "topics=fix", "--replace", "--dry-run", "--json").want(t, 3)
	if sum := r.row(t, "summary"); sum["failed"] != 1.0 {
		t.Errorf("%v", r.rows)
	}
}
