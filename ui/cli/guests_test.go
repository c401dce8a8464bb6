package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
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
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
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
