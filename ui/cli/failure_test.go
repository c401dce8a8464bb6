package cli_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// With --json an error must be one object on standard error, with its kind, by which a program decides,
// and its store.
func TestErrorsAreObjects(t *testing.T) {
	d := newDesk(t)
	db := filepath.Join(d.dir, "graph.db")
	d.bare("create", "--yes", "sqlite="+db).want(t, 0)
	for name, tt := range map[string]struct {
		args []string
		code int
		want map[string]any
	}{
		"no item":       {[]string{"show", "crewship:daily/1999-01-01.md"}, 4, map[string]any{"kind": "NOT_FOUND", "retryable": false, "store": "crewship"}},
		"no store":      {[]string{"show", "nobody:x"}, 2, map[string]any{"kind": "INVALID_INPUT", "retryable": false, "store": "nobody"}},
		"no flag":       {[]string{"items", "--no-such-flag"}, 2, map[string]any{"kind": "INVALID_INPUT", "retryable": false, "store": nil}},
		"unanswered":    {[]string{"forget", "crewship:AGENT.md"}, 2, map[string]any{"kind": "INVALID_INPUT", "retryable": false, "store": "crewship"}},
		"not confirmed": {[]string{"migrate", "-s", "sqlite", "--to", "0", "--confirm", "another"}, 6, map[string]any{"kind": "PERMISSION_DENIED", "retryable": false, "store": "sqlite"}},
		"one of two":    {[]string{"forget", "crewship:AGENT.md", "crewship:../\u202egone", "--yes"}, 3, map[string]any{"kind": "INVALID_INPUT", "retryable": false, "store": "crewship"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.run(append([]string{"--json", "--open", "sqlite=" + db}, tt.args...)...).want(t, tt.code)
			var found map[string]any
			for line := range strings.Lines(r.err) {
				var m map[string]any
				if json.Unmarshal([]byte(line), &m) == nil && m["type"] == "error" {
					found = m
				}
			}
			if found["v"] != 1.0 || found["message"] == "" {
				t.Fatalf("no error object on standard error:\n%s", r.err)
			}
			got := map[string]any{"kind": found["kind"], "retryable": found["retryable"], "store": found["store"]}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			for line := range strings.Lines(r.out) {
				if strings.Contains(line, `"type":"error"`) {
					t.Errorf("an error on standard output: %s", line)
				}
			}
		})
	}
	if r := newDesk(t).run("--json", "audit", "key").want(t, 4); !strings.Contains(r.err, `"kind":"NOT_FOUND"`) {
		t.Errorf("an audit log without a record: %s", r.err)
	}
	if r := d.run("show", "crewship:daily/1999-01-01.md"); strings.Contains(r.err, "{") || !strings.HasPrefix(r.err, "memdesk: ") {
		t.Errorf("without --json: %s", r.err)
	}
}

// A plain error must be escaped once: the escape of an escape hides what was there.
func TestErrorsAreEscapedOnce(t *testing.T) {
	r := newDesk(t).run("items", "--no\x1b[31m\u202eflag").want(t, 2)
	if !strings.Contains(r.err, "--no^[[31m⟦U+202E⟧flag") {
		t.Errorf("%q", r.err)
	}
}

// TestOnlyStoreThatDoesNotOpen: a command that not every store can answer exits like the others where its only store does
// not open.
func TestOnlyStoreThatDoesNotOpen(t *testing.T) {
	d := newDesk(t)
	for _, command := range [][]string{{"items"}, {"tiers"}, {"recall", "x"}, {"health"}} {
		d.bare(append([]string{"--open", "claude=" + filepath.Join(d.dir, "nowhere")}, command...)...).want(t, 1)
	}
}
