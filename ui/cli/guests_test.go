package cli_test

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestOneServerAndRevokedTokens: one process serves both faces to the same tokens; a token revoked in
// use must stop working on both, and a new one must work without a restart. While the tokens cannot be
// read, every caller must be refused.
func TestOneServerAndRevokedTokens(t *testing.T) {
	d := newDesk(t)
	tokens := filepath.Join(d.dir, "tokens")
	const one, two = "0123456789abcdefghij-one", "0123456789abcdefghij-two"
	write := func(text string) {
		t.Helper()
		next := tokens + ".new"
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, tokens); err != nil {
			t.Fatal(err)
		}
	}
	write("planner " + one + "\n")
	url := strings.TrimSuffix(d.served("mcp", "--tokens", tokens, "--provider", "crewship"), "/mcp")
	ask := func(method, path, token, body string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	both := func(token string) [2]int {
		return [2]int{ask("POST", "/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}`),
			ask("GET", "/v1/health", token, "")}
	}
	become := func(what, token string, want [2]int) {
		t.Helper()
		var got [2]int
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if got = both(token); got == want {
				return
			}
		}
		t.Errorf("%s: %v, want %v", what, got, want)
	}
	in, out := [2]int{200, 200}, [2]int{401, 401}
	if got := both(one); got != in {
		t.Fatalf("the token: %v", got)
	}
	write("other " + two + "\n")
	become("a token that was taken away", one, out)
	become("a new one", two, in)
	write("other " + two + " memory:health\nplanner " + one + " memory:none\n")
	become("tokens that cannot be read", two, out)
	write("planner " + one + "\n")
	become("the token again", one, in)
	if err := os.Remove(tokens); err != nil {
		t.Fatal(err)
	}
	become("no tokens at all", one, out)
}

// TestReviewOnBothFaces: with untrusted = "review" a token's write waits over the contract as over MCP, unless the
// operator trusts the token's user. Without the setting the contract writes what its store takes.
func TestReviewOnBothFaces(t *testing.T) {
	for untrusted, want := range map[string][3]string{"review": {"quarantined", "403", "200"}, "label": {"retained", "200", "200"}} {
		d := newDesk(t)
		const agent, desk = "0123456789abcdefghij-agent", "0123456789abcdefghij-desk"
		tokens := d.file("tokens", "planner "+agent+"\ndesk "+desk+"\n")
		d.env["MEMDESK_CONFIG"] = d.file("config.toml", "[door]\nuntrusted = \""+untrusted+"\"\n\n[door.trust]\ndesk = [\"user\"]\n")
		url := strings.TrimSuffix(d.served("mcp", "--tokens", tokens, "--provider", "crewship"), "/mcp")
		session := ""
		post := func(path, token, body string) (code int, answer string) {
			t.Helper()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": session} {
				req.Header.Set(k, v)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			all, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			session = cmp.Or(res.Header.Get("Mcp-Session-Id"), session)
			return res.StatusCode, string(all)
		}
		post("/mcp", agent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}`)
		post("/mcp", agent, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		_, answer := post("/mcp", agent, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_retain","arguments":{"ref":"crewship:daily/2031-01-01.md","content":"by MCP"}}}`)
		if !strings.Contains(answer, `"status":"`+want[0]+`"`) {
			t.Errorf("%s: MCP answers %s", untrusted, answer)
		}
		for i, token := range []string{agent, desk} {
			code, answer := post("/v1/retain", token, `{"id":"daily/2031-01-0`+strconv.Itoa(i+2)+`.md","mode":"append","content":"by the contract"}`)
			if strconv.Itoa(code) != want[i+1] || code == http.StatusForbidden && !strings.Contains(answer, "held for review") {
				t.Errorf("%s: the contract answers %d %s", untrusted, code, answer)
			}
		}
		held := d.run("quarantine", "list", "--json").out
		if n := strings.Count(held, `"id":"door/`); (n == 2) != (untrusted == "review") || n != 2 && n != 0 {
			t.Errorf("%s: %d writes wait: %s", untrusted, n, held)
		}
		for _, row := range d.run("quarantine", "list", "--json").rows {
			id, _ := row["id"].(string)
			if !strings.HasPrefix(id, "door/") {
				continue
			}
			whole := d.run("quarantine", "show", "crewship:"+id, "--json").rows[0] // whoever releases it has to see what it would do
			fields, _ := whole["fields"].(map[string]any)
			if where := fields["item"]; where != "daily/2031-01-01.md" && where != "daily/2031-01-02.md" || fields["writer"] == nil || fields["mode"] == nil || whole["live"] != nil {
				t.Errorf("%s: of %s it shows %v, live %v", untrusted, id, fields, whole["live"])
			}
			if out := d.run("quarantine", "show", "crewship:"+id).out; !strings.Contains(out, "item: daily/2031-01-0") || !strings.Contains(out, "(waits)") {
				t.Errorf("%s: %s", untrusted, out)
			}
		}
		if row := d.run("origin", "crewship:daily/2031-01-03.md", "--json").rows[0]; row["actor"] != "desk" || row["channel"] != "user" || row["trust"] != "trusted" {
			t.Errorf("%s: the desk's write: %v", untrusted, row)
		}
	}
}
