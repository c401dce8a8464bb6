package cli_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/ui/cli"
)

// TestStateMigrate: a migration must be recorded; state of a newer version must be neither migrated nor
// written.
func TestStateMigrate(t *testing.T) {
	d := newDesk(t)
	d.in = "a line\n"
	d.run("turn", "after", "--tier", "daily", "--key", "2031-02-01", "--yes", "-").want(t, 0)
	mark := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk", "format")
	d.bare("state", "migrate").want(t, 0, "nothing to migrate")
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	d.bare("state", "migrate").want(t, 2, "--yes")
	r := d.bare("state", "migrate", "--yes", "--json").want(t, 0).row(t, "state")
	if r["from"] != 0.0 || r["to"] != 1.0 {
		t.Errorf("%v", r)
	}
	if list := d.bare("audit", "list", "--json").out; strings.Count(list, `"action":"state-migrate"`) != 2 {
		t.Errorf("the intent and the outcome of one migration: %s", list)
	}
	if err := os.WriteFile(mark, []byte("9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := treeOf(t, filepath.Dir(mark))
	d.bare("state", "migrate", "--yes").want(t, 6, `format "9", this version knows 1`)
	d.run("turn", "after", "--tier", "daily", "--key", "2031-02-02", "--yes", "-").want(t, 6, `format "9", this version knows 1`)
	if after := treeOf(t, filepath.Dir(mark)); after != before {
		t.Errorf("newer state was written:\n%s\nis now\n%s", before, after)
	}
}

// treeOf is every file with a hash of its content.
func treeOf(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %x\n", filepath.Base(path), sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestEveryFormatOpens: state as each version of the format left it must be readable, verifiable and
// writable.
func TestEveryFormatOpens(t *testing.T) {
	kept, err := filepath.Glob("testdata/state-*")
	if err != nil || len(kept) < 2 {
		t.Fatalf("%v, %v", kept, err)
	}
	for _, from := range kept {
		d := newDesk(t)
		look := holds[filepath.Base(from)]
		if look == nil {
			t.Fatalf("nothing looks at what %s holds", from)
		}
		to := filepath.Join(d.env["XDG_STATE_HOME"], "memdesk")
		err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			if e.IsDir() {
				return os.MkdirAll(filepath.Join(to, rel), 0o700)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, rel), text, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
		now := clock.NewFake(time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)) // undo entries expire
		run := func(in string, args ...string) result {
			var out, errw bytes.Buffer
			code := cli.Program{Args: append([]string{"--open", "crewship=" + d.mem}, args...), Stdin: strings.NewReader(in), Stdout: &out, Stderr: &errw,
				Env: d.environ(), Dir: d.dir, Clock: now, Version: "test", Kinds: backends.Builtin(),
				Terminal: func(any) bool { return false }, User: "op"}.Run(t.Context())
			return result{code: code, out: out.String(), err: errw.String()}
		}
		// A log must detect that it is a copy, and continue when the operator says so.
		run("", "audit", "verify").want(t, 7, "restored from a copy", "are as they were")
		run("", "audit", "acknowledge", "--reason", "restored", "--yes").want(t, 0)
		run("", "state", "migrate", "--yes").want(t, 0)
		look(t, run)
		run("a further line\n", "turn", "after", "--tier", "daily", "--key", "2031-02-05", "--yes", "-").want(t, 0)
	}
}

// holds checks the content of testdata's state directories.
var holds = map[string]func(t *testing.T, run func(in string, args ...string) result){
	"state-1": func(t *testing.T, run func(in string, args ...string) result) {
		run("", "audit", "list").want(t, 0, "crewship:daily/2031-02-01.md", "gdpr-request")
		run("", "undo", "list").want(t, 0, "crewship:daily/2031-02-01.md")
		run("", "gdpr", "list").want(t, 0, "er-20261123-b563b8a8", "open")
		run("", "jobs", "list").want(t, 0)
		run("", "origin", "crewship:daily/2031-02-01.md").want(t, 0, "untrusted")
	},
	"state-1-erased": func(t *testing.T, run func(in string, args ...string) result) {
		const request = "er-20261125-74794bf8"
		run("", "gdpr", "status", request).want(t, 0, "complete", "1 export neither handed over nor deleted")
		run("", "gdpr", "receipt", request, "--out", "receipt.json").want(t, 0)
		run("", "gdpr", "register", "--year", "2026").want(t, 0, request)
		run("", "jobs", "list").want(t, 0, "gdpr-erase", "done")
		run("again Ida Quill-9931\n", "turn", "after", "--tier", "daily", "--key", "2031-02-04", "--yes", "-").want(t, 6, "a person who was erased under request "+request)
		run("", "gdpr", "export", request, "--mark", "deleted", "--export", "1").want(t, 0)
	},
}
