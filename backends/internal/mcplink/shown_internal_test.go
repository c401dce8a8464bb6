package mcplink

import (
	"strings"
	"testing"
)

// TestACommandWithoutItsSecrets: a location is shown and logged, so it must hold no secret, and must still tell two
// stores apart.
func TestACommandWithoutItsSecrets(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"npx -y @modelcontextprotocol/server-memory", ""},
		{"/usr/bin/env MEMORY_FILE_PATH=/x/memory.jsonl node index.js", ""},
		{"npx server --api-key s3cret --verbose", "npx server --api-key *** --verbose ("},
		{"npx server --token=s3cret", "npx server --token=*** ("},
		{"env OPENAI_API_KEY=s3cret npx server", "env OPENAI_API_KEY=*** npx server ("},
		{"npx mcp-remote https://h/mcp?api_key=s3cret&x=1", "npx mcp-remote https://h/mcp?*** ("},
		{"npx mcp-remote https://h/mcp?k=s3cret#top", "npx mcp-remote https://h/mcp?*** ("},
		{"npx mcp-remote --header=Authorization:Bearer-s3cret", "npx mcp-remote --header=Authorization:*** ("},
		{"npx mcp-remote --header=X-Api-Key=s3cret", "npx mcp-remote --header=X-Api-Key=*** ("},
		{"npx server --dsn=token://ana:s3cret@host/db?sslkey=s3cret", "npx server --dsn=token:*** ("},
		{"npx mcp-remote https://auth.example.com:8443/mcp", ""},
		{"npx server postgres://ana:x?s3cret@host/db", "npx server postgres://*** ("},
		{"npx mcp-remote https://h?k=x@s3cret", "npx mcp-remote https://*** ("},
		{"npx server postgres://ana:s3cret@host/db", "npx server postgres://***@host/db ("},
	} {
		words := strings.Fields(c.command)
		got := shown(words[0], words[1:])
		if c.want == "" && got != c.command || !strings.HasPrefix(got, c.want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s is shown as %s, want %s", c.command, got, c.want)
		}
		other := strings.Fields(strings.ReplaceAll(c.command, "s3cret", "s4cret"))
		if c.want != "" && shown(other[0], other[1:]) == got {
			t.Errorf("%s: another secret is another store", c.command)
		}
	}
	if got := shown("server", []string{"--header", "Authorization: Bearer s3cret"}); strings.Contains(got, "s3cret") {
		t.Errorf("a header is shown: %s", got)
	}
}
