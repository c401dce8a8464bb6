package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// gatewayDesk is a desk whose only store is a gateway. fail names the call that answers 500 and echoes
// the key.
func gatewayDesk(t *testing.T, fail string) (d *desk, calls func() string) {
	t.Helper()
	const key = "uk_cli_only_77"
	var mu sync.Mutex
	var seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb := strings.TrimPrefix(r.URL.Path, "/memories/")
		mu.Lock()
		seen = append(seen, verb)
		mu.Unlock()
		if verb == fail {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "denied "+key)
			return
		}
		_, _ = io.WriteString(w, `{"results":[{"id":"m1","text":"harbour lights","score":0.9,"raw":"RAWCLI"}]}`)
	}))
	t.Cleanup(srv.Close)
	d = newDesk(t)
	d.env["GW_KEY"] = key
	cfg := filepath.Join(d.dir, "gw.toml")
	text := fmt.Sprintf("[[store]]\nname = \"gw\"\nkind = \"gateway\"\nbase_url = %q\nuser_id = \"u\"\nuser_key_env = \"GW_KEY\"\nscope = [\"resources\"]\n", srv.URL)
	if err := os.WriteFile(cfg, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env["MEMDESK_CONFIG"] = cfg
	t.Cleanup(func() { // no file of the desk's state may contain the key
		err := filepath.Walk(d.dir, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if s := string(data); strings.Contains(s, key) || strings.Contains(s, "RAWCLI") {
				t.Errorf("%s holds a secret", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	return d, func() string {
		mu.Lock()
		defer mu.Unlock()
		out := strings.Join(seen, " ")
		seen = nil
		return out
	}
}

func TestGatewayCommands(t *testing.T) {
	for _, tt := range []struct {
		name, fail string
		args       []string
		code       int
		out, err   string
		calls      string
	}{
		{"recall", "", []string{"recall", "harbour"}, 0, "harbour lights", "", "search"},
		{"recall fails", "search", []string{"recall", "harbour"}, 1, "", "http 500", "search"},
		{"retain", "", []string{"retain", "--tier", "AGENT", "--mode", "append", "-", "--yes"}, 0, "added to gw  5 bytes", "cannot be read back", "add flush"},
		{"retain as JSON", "", []string{"retain", "--tier", "AGENT", "--mode", "append", "-", "--yes", "--json"}, 0, `"bytes":5`, "", "add flush"},
		{"add fails", "add", []string{"retain", "--tier", "AGENT", "--mode", "append", "-", "--yes"}, 1, "", "may have been stored", "add"},
		{"flush fails", "flush", []string{"retain", "--tier", "AGENT", "--mode", "append", "-", "--yes"}, 3, "added to gw  5 bytes", "do not repeat it", "add flush"},
		{"flush fails, JSON", "flush", []string{"retain", "--tier", "AGENT", "--mode", "append", "-", "--yes", "--json"}, 3, `"bytes":5`, "do not repeat it", "add flush"},
		{"replace", "", []string{"retain", "--tier", "AGENT", "--mode", "replace", "-", "--yes"}, 1, "", "only adds: use append", ""},
		{"forget", "", []string{"forget", "gw:m1", "--yes"}, 1, "", "no delete", ""},
		{"items", "", []string{"items"}, 1, "", "cannot be browsed", ""},
		{"show", "", []string{"show", "gw:m1"}, 1, "", "cannot", ""},
		{"tiers", "", []string{"tiers"}, 1, "", "cannot", ""},
		{"health", "", []string{"health"}, 0, "gw", "", ""},
		{"stores", "", []string{"stores", "gw"}, 0, "append only", "", ""},
		{"read-only", "", []string{"--read-only", "retain", "--tier", "AGENT", "--mode", "append", "-", "--yes"}, 6, "", "read-only", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, calls := gatewayDesk(t, tt.fail)
			d.in = "hello"
			r := d.bare(tt.args...)
			if r.code != tt.code || !strings.Contains(r.out, tt.out) || !strings.Contains(r.err, tt.err) {
				t.Errorf("code %d, out %q, err %q; want %d, %q, %q", r.code, r.out, r.err, tt.code, tt.out, tt.err)
			}
			if got := calls(); got != tt.calls {
				t.Errorf("calls %q, want %q", got, tt.calls)
			}
			if s := r.out + r.err; strings.Contains(s, "uk_cli_only_77") || strings.Contains(s, "RAWCLI") {
				t.Errorf("a secret is shown: %q", s)
			}
		})
	}
}

func TestCuratedFromTheCommandLine(t *testing.T) {
	d := newDesk(t)
	put := func(rel, text string) {
		t.Helper()
		path := filepath.Join(d.dir, "hermes", rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	get := func(rel string) string {
		data, _ := os.ReadFile(filepath.Join(d.dir, "hermes", rel))
		return string(data)
	}
	put("memories/MEMORY.md", "one\n§\ntwo\n§\n\n§\ntwo")
	put("pending/memory/0a1b2c3d.json", `{"id":"0a1b2c3d","subsystem":"memory","action":"add","summary":"tea","payload":{"action":"add","target":"user","content":"likes tea"}}`)
	run := func(want int, args ...string) result {
		t.Helper()
		r := d.bare(append([]string{"--open", "curated=hermes/memories"}, args...)...)
		if r.code != want {
			t.Fatalf("%v: code %d, want %d: %s%s", args, r.code, want, r.out, r.err)
		}
		return r
	}
	// A drifted file must be refused with a way out that works.
	d.in = "three"
	if r := run(6, "retain", "--tier", "MEMORY", "--mode", "append", "-", "--yes"); !strings.Contains(r.err, "memdesk retain curated:MEMORY.md") {
		t.Errorf("the refusal says %q", r.err)
	}
	d.in = run(0, "show", "--raw", "curated:MEMORY.md").out
	run(0, "retain", "curated:MEMORY.md", "--mode", "replace", "-", "--yes")
	if got := get("memories/MEMORY.md"); got != "one\n§\ntwo" {
		t.Errorf("repaired to %q", got)
	}
	// An added entry, an edit, and the undo of both.
	d.in = "three"
	r := run(0, "retain", "--tier", "MEMORY", "--mode", "append", "-", "--yes", "--json")
	id, _ := r.rows[0]["id"].(string)
	d.in = "drei"
	r = run(0, "retain", "curated:"+id, "--mode", "replace", "-", "--yes", "--json")
	undo, _ := r.rows[0]["undo"].(string)
	if got := get("memories/MEMORY.md"); got != "one\n§\ntwo\n§\ndrei" {
		t.Errorf("edited to %q", got)
	}
	run(0, "undo", "restore", undo, "--yes")
	if got := get("memories/MEMORY.md"); got != "one\n§\ntwo\n§\nthree" {
		t.Errorf("undone to %q", got)
	}
	r = run(0, "forget", "curated:"+id, "--yes", "--json")
	undo, _ = r.rows[0]["undo"].(string)
	run(0, "undo", "restore", undo, "--yes")
	if got := get("memories/MEMORY.md"); got != "one\n§\ntwo\n§\nthree" {
		t.Errorf("put back to %q", got)
	}
	// A proposal is approved by editing its state.
	d.in = strings.Replace(run(0, "show", "--raw", "curated:pending/0a1b2c3d").out, "state: pending", "state: approved", 1)
	run(0, "retain", "curated:pending/0a1b2c3d", "--mode", "replace", "-", "--yes")
	if get("memories/USER.md") != "likes tea" || get("pending/memory/0a1b2c3d.json") != "" {
		t.Errorf("USER.md holds %q", get("memories/USER.md"))
	}
}
