package programs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends"
	"memdesk/internal/testnpm"
	"memdesk/model"
)

// server is the official memory server on one file.
type server struct {
	t *testing.T
	c *mcp.ClientSession
}

func memoryServer(t *testing.T, file string) server {
	t.Helper()
	node, dir := testnpm.Require(t, "@modelcontextprotocol/server-memory@2026.8.31")
	cmd := exec.Command(node, filepath.Join(dir, "node_modules/@modelcontextprotocol/server-memory/dist/index.js"))
	cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+file)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "memdesk-test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return server{t, c}
}

func (s server) call(tool string, args any) error {
	res, err := s.c.CallTool(s.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err == nil && res.IsError {
		err = fmt.Errorf("%s: %v", tool, res.Content[0])
	}
	return err
}

// entities are the names and observations that the server reads.
func (s server) entities() map[string][]string {
	s.t.Helper()
	res, err := s.c.CallTool(s.t.Context(), &mcp.CallToolParams{Name: "read_graph", Arguments: map[string]any{}})
	must(s.t, err)
	raw, err := json.Marshal(res.StructuredContent)
	must(s.t, err)
	var g struct {
		Entities []struct {
			Name         string   `json:"name"`
			Observations []string `json:"observations"`
		} `json:"entities"`
	}
	must(s.t, json.Unmarshal(raw, &g))
	out := map[string][]string{}
	for _, e := range g.Entities {
		out[e.Name] = e.Observations
	}
	return out
}

func entity(name string) map[string]any {
	return map[string]any{"entities": []map[string]any{{"name": name, "entityType": "note", "observations": []string{"from the server"}}}}
}

// TestMemoryServer: the official memory server and memdesk share one memory.jsonl. The server takes no
// lock and writes the whole file: memdesk must report each of its writes that the server undoes, so
// every other acknowledged write must exist.
func TestMemoryServer(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	srv := memoryServer(t, file)
	must(t, srv.call("create_entities", entity("Ada")))
	s := open(t, backends.StoreConfig{Kind: "mcpgraph", Path: file}, state(t))
	if got := text(t, s, "Ada"); got != "- from the server" {
		t.Errorf("the server's entity reads as %q", got)
	}
	must(t, write(t, s, "Ada", "- edited\n- on\n  two lines"))
	if got := srv.entities()["Ada"]; !slices.Equal(got, []string{"edited", "on\ntwo lines"}) {
		t.Errorf("the server reads %q after an edit", got)
	}
	must(t, srv.call("add_observations", map[string]any{"observations": []map[string]any{{"entityName": "Ada", "contents": []string{"added"}}}}))
	if got := text(t, s, "Ada"); got != "- edited\n- on\n  two lines\n- added" {
		t.Errorf("after the server's write it reads %q", got)
	}
	const n = 30
	said := map[string]bool{}
	atOnce(t, n, func(i int) error { return srv.call("create_entities", entity(fmt.Sprintf("server %d", i))) }, func(i int) error {
		name := fmt.Sprintf("desk %d", i)
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: name, Mode: model.Replace, Content: "- from the desk"})
		if k := model.KindOf(err); err != nil && k != model.Conflict && k != model.Locked {
			return err
		}
		said[name] = err == nil
		return nil
	})
	have := srv.entities()
	undone, theirs := 0, 0
	for i := range n {
		name := fmt.Sprintf("desk %d", i)
		switch {
		case said[name] && have[name] == nil:
			t.Errorf("memdesk said that %q was written, and it is gone", name)
		case !said[name]:
			undone++
		}
		if have[fmt.Sprintf("server %d", i)] != nil {
			theirs++
		}
	}
	t.Logf("at once: %d of %d writes of memdesk were said to be undone, %d of %d of the server's stand", undone, n, theirs, n)
	if theirs < n { // memdesk compares right before its rename, and never overwrites unread content
		t.Errorf("%d writes of the server are gone", n-theirs)
	}
	forget(t, s, "Ada")
	if srv.entities()["Ada"] != nil {
		t.Error("the server still reads a forgotten entity")
	}
	must(t, srv.call("delete_entities", map[string]any{"entityNames": []string{"server 0"}}))
}
