package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/postgres"
	"memdesk/internal/testpg"
	"memdesk/model"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bearerOf sends a token with each request.
type bearerOf string

func (b bearerOf) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// doorClient is the official client with a token.
func doorClient(t testing.TB, url, token string) *mcp.ClientSession {
	t.Helper()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "probe", Version: "1.0"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearerOf(token)}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// sums are the files below a directory with their content, without SQLite's files beside an open database.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, ".lock") {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReadersEverywhere: a reader's token, by its role and by its scopes, must read through every face
// of every store and change nothing through any verb.
func TestReadersEverywhere(t *testing.T) {
	d := newDesk(t)
	dir := filepath.Join(d.dir, "demo")
	d.bare("demo", "--dir", dir, "--seed-only").want(t, 0)
	config := filepath.Join(dir, "config.toml")
	const full = "full-0123456789abcdefghijkl"
	far, key := filepath.Join(d.dir, "far"), filepath.Join(d.dir, "key")
	for path, text := range map[string]string{far: "full " + full + "\n", key: full + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := strings.TrimSuffix(d.served("mcp", "--tokens", far, "--provider", "crewship"), "/mcp")
	dsn := testpg.DSN(t)
	d.env["SERVER_DSN"] = dsn
	server, err := postgres.Create(t.Context(), postgres.Config{DSN: model.NewSecret(dsn)})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.CreateNode(t.Context(), hypergraph.Node{ID: "tide", Type: "fact", Tier: "longterm", Content: "the harbour has a tide", Confidence: 1}), server.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\n[[store]]\nname = \"server\"\nkind = \"postgres\"\ndsn_env = \"SERVER_DSN\"\n")
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "\n[[store]]\nname = \"far\"\nkind = \"remote\"\nbase_url = %q\ntoken_file = %q\n"+
			"\n[[store]]\nname = \"tools\"\nkind = \"mcp\"\nbase_url = %q\ntoken_file = %q\n", base, key, base+"/mcp", key)
	}
	if err == nil {
		_, err = f.WriteString("\n[[operator.role]]\ntoken = \"looker\"\nrole = \"reviewer\"\n")
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	const looker, scoped = "looker-0123456789abcdefghij", "scoped-0123456789abcdefghij"
	tokens := filepath.Join(d.dir, "tokens")
	if err := os.WriteFile(tokens, []byte("looker "+looker+"\nscoped "+scoped+" memory:recall,memory:health\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env["MEMDESK_CONFIG"] = config
	before := sums(t, dir)
	tried := 0
	for _, row := range d.bare("stores", "--json").want(t, 0).rows {
		store := fmt.Sprint(row["store"])
		t.Run(store, func(t *testing.T) {
			on := &desk{t: t, env: d.env, dir: d.dir}
			tier := fmt.Sprint(on.bare("tiers", "--store", store, "--json").want(t, 0).rows[0]["tier"])
			base := on.servedAs("mcp", "--store", store, "--tokens", tokens, "--provider", store, "--tier", tier,
				"--alias", "mem0", "--alias", "server-memory", "--alias", "mcp-memory-service")
			base = strings.TrimSuffix(base, "/mcp")
			face := on.servedAs("mcp", "--store", store, "--tokens", tokens, "--face", "memory")
			ref := store + ":nothing-of-this-name"
			for _, who := range []string{looker, scoped} {
				c, m := doorClient(t, base+"/mcp", who), doorClient(t, face, who)
				// denied is a call that the reader may not make, read one that the reader may make.
				denied := func(c *mcp.ClientSession, tool, kind string, args map[string]any) {
					t.Helper()
					tried++
					res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
					if who == scoped {
						if err == nil {
							t.Errorf("scoped: %s %v: %s", tool, args, said(res))
						}
						return
					}
					if err != nil || !res.IsError || kind != "" && !strings.Contains(said(res), `"kind":"`+kind+`"`) {
						t.Errorf("looker: %s %v: %v, %s", tool, args, err, said(res))
					}
				}
				read := func(c *mcp.ClientSession, tool string, args map[string]any) string {
					t.Helper()
					tried++
					res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
					if err != nil || res.IsError {
						t.Errorf("%s: %s %v: %v, %s", who, tool, args, err, said(res))
						return ""
					}
					return said(res)
				}
				var list struct {
					Items []struct{ Ref string }
				}
				_ = json.Unmarshal([]byte(read(c, "memory_list", nil)), &list)
				if len(list.Items) > 0 {
					ref = list.Items[0].Ref
					read(c, "memory_get", map[string]any{"ref": ref})
					read(c, "get_memory", map[string]any{"memory_id": ref})
				} else if store != "scratch" {
					t.Errorf("%s lists nothing", store)
				}
				for tool, args := range map[string]map[string]any{"memory_recall": {"query": "harbour"}, "memory_health": nil, "search_memories": {"query": "harbour"},
					"get_memories": nil, "search_nodes": {"query": "harbour"}, "read_graph": nil, "memory_search": {"query": "harbour"}} {
					read(c, tool, args)
				}
				const no = "permission_denied"
				denied(c, "memory_retain", no, map[string]any{"content": "x", "tier": tier})
				denied(c, "memory_retain", no, map[string]any{"content": "x", "ref": ref})
				denied(c, "memory_forget", no, map[string]any{"ref": ref, "reason": "x"})
				denied(c, "add_memory", no, map[string]any{"text": "x"})
				denied(c, "delete_memory", no, map[string]any{"memory_id": ref})
				denied(c, "create_entities", no, map[string]any{"entities": []any{map[string]any{"name": "n", "observations": []string{"x"}}}})
				denied(c, "add_observations", "", map[string]any{"observations": []any{map[string]any{"entityName": "n", "contents": []string{"x"}}}})
				denied(c, "delete_entities", "", map[string]any{"entityNames": []string{"n"}})
				denied(c, "memory_store", no, map[string]any{"content": "x"})
				denied(c, "memory_delete", no, map[string]any{"content_hash": ref})
				denied(c, "create_relations", "", nil)
				path := "/memories/" + store + "/" + tier + "/n.md"
				read(m, "memory", map[string]any{"command": "view", "path": "/memories"})
				for _, args := range []map[string]any{{"command": "create", "path": path, "file_text": "x"}, {"command": "str_replace", "path": path, "old_str": "a", "new_str": "b"},
					{"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}, {"command": "delete", "path": path}, {"command": "rename", "old_path": path, "new_path": path + "x"}} {
					denied(m, "memory", "", args)
				}
				_, id, _ := strings.Cut(ref, ":")
				for verb, want := range map[string]int{`retain {"tier":"` + tier + `","mode":"append","content":"x"}`: http.StatusForbidden,
					fmt.Sprintf(`forget {"id":%q}`, id): http.StatusForbidden, `maintain {}`: http.StatusForbidden,
					`recall {"query":"harbour"}`: http.StatusOK, `list {}`: http.StatusOK} {
					tried++
					name, body, _ := strings.Cut(verb, " ")
					if status, answer := provided(t, base+"/v1/"+name, who, body); status != want && !(want == http.StatusForbidden && status == http.StatusNotFound) {
						t.Errorf("%s: %s: %d %s", who, verb, status, answer)
					}
				}
			}
		})
	}
	if tried < 500 {
		t.Errorf("only %d calls were tried", tried)
	}
	if n := testpg.Value(t, dsn, `SELECT string_agg(id || content, '') FROM memdesk.nodes`); n != "tidethe harbour has a tide" {
		t.Errorf("the server holds %q", n)
	}
	after := sums(t, dir)
	for path, sum := range before {
		if after[path] != sum {
			t.Errorf("%s has changed", path)
		}
	}
	for path := range after {
		if before[path] == "" {
			t.Errorf("%s is new", path)
		}
	}
	refused := 0
	for _, row := range d.bare("audit", "list", "--json", "--all").want(t, 0).rows {
		switch {
		case row["phase"] != "outcome":
		case row["result"] == "refused":
			refused++
		default:
			t.Errorf("the log has %v with the result %v by %v", row["action"], row["result"], row["actor"])
		}
	}
	if refused < 150 {
		t.Errorf("%d refusals are in the log", refused)
	}
}

// TestATokenIsTakenBack: a token removed from the file during its session must be refused from then on,
// in that session too, and another must continue to work.
func TestATokenIsTakenBack(t *testing.T) {
	d := newDesk(t)
	tokens := filepath.Join(d.dir, "tokens")
	const gone, stays = "gone-0123456789abcdefghijkl", "stays-0123456789abcdefghijkl"
	file := func(text string) {
		if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file("gone " + gone + "\nstays " + stays + "\n")
	url := d.served("mcp", "--tokens", tokens)
	write := func(c *mcp.ClientSession, day string) error {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_retain", Arguments: map[string]any{"tier": "daily", "key": day, "content": "x\n"}})
		if err == nil && res.IsError {
			err = fmt.Errorf("%s", said(res))
		}
		return err
	}
	taken, other := doorClient(t, url, gone), doorClient(t, url, stays)
	if err := write(taken, "2031-02-01"); err != nil {
		t.Fatal(err)
	}
	file("stays " + stays + "\n")
	for deadline := time.Now().Add(patience); ; { // the file is read again within a second
		if status, _ := provided(t, url, gone, "{}"); status == http.StatusUnauthorized {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the token is still taken")
		}
	}
	if err := write(taken, "2031-02-02"); err == nil {
		t.Error("its session goes on")
	}
	if err := write(other, "2031-02-03"); err != nil {
		t.Errorf("another session: %v", err)
	}
	if got := d.read("daily/2031-02-02.md"); got != "-" {
		t.Errorf("written: %q", got)
	}
}

// said is an answer's structured content, else its text.
func said(r *mcp.CallToolResult) string {
	if r == nil {
		return ""
	}
	if r.StructuredContent != nil {
		b, _ := json.Marshal(r.StructuredContent)
		return string(b)
	}
	var b bytes.Buffer
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// provided is one call of the Provider contract.
func provided(t *testing.T, url, token, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(b)
}
