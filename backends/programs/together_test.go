package programs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/door"
	"memdesk/undo"
)

// hurried is a clock on which a caller never reaches its rate limit of writes.
type hurried struct{ start time.Time }

func (h hurried) Now() time.Time { return h.start.Add(1000 * time.Since(h.start)) }

// TestTogether: sixteen agents at the door append to the same files of one directory, alternating with
// Anthropic's memory tool, which writes its own files there. No acknowledged write may be lost, and
// none may appear twice. MEMDESK_SOAK makes 10,000 of a few hundred.
func TestTogether(t *testing.T) {
	const agents, files = 16, 4
	each := 20
	if os.Getenv("MEMDESK_SOAK") != "" {
		each = 625
	}
	state, base := t.TempDir(), t.TempDir()
	p := start(t, "memorytool", []string{"@anthropic-ai/sdk@1.12.0"}, base)
	tool := func(args map[string]any) error { return p.call("run", args, nil) }
	for f := range files {
		must(t, tool(map[string]any{"command": "create", "path": fmt.Sprintf("/memories/shared%d.md", f), "file_text": "begun by the tool\n"}))
	}
	ready := func() error { return nil }
	ledger := origin.OpenLedger(state, ready)
	fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{{Name: "claude", Kind: "claude", Path: base}}, backends.Env{Getenv: os.Getenv}, backends.Policy{
		Audit: backends.Unrecorded, Origin: origin.Gate(origin.Rules{Ledger: ledger, Shelf: origin.OpenShelf(filepath.Join(state, "held"), ready)})})
	t.Cleanup(func() { _ = fleet.Close() })
	var callers []backends.Caller
	desks := map[string]*door.Desk{}
	for a := range agents {
		c := backends.Caller{Name: fmt.Sprintf("agent%02d", a), Token: model.NewSecret(fmt.Sprintf("a-token-of-this-test-01234567-%02d", a))}
		callers = append(callers, c)
		desks[c.Name] = &door.Desk{Fleet: fleet, Undo: undo.New(filepath.Join(state, "undo"), 0, clock.System{}, ready), Ledger: ledger,
			Caller: c, Face: door.Tools, Clock: hurried{time.Now()}}
	}
	srv := httptest.NewServer(door.HTTP{Callers: callers, Desk: func(c backends.Caller) *door.Desk { return desks[c.Name] }}.Handler())
	t.Cleanup(srv.Close)
	clients := make([]*mcp.ClientSession, agents)
	for a := range agents {
		c, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: srv.URL + door.Path, HTTPClient: &http.Client{Transport: tokenOf(callers[a].Token.Reveal())}, DisableStandaloneSSE: true}, nil)
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		clients[a] = c
	}
	var put, busy atomic.Int64
	writers := []func(int) error{func(i int) error {
		return tool(map[string]any{"command": "create", "path": fmt.Sprintf("/memories/own%d.md", i), "file_text": fmt.Sprintf("the tool's %d\n", i)})
	}}
	kept := make([][]string, agents)
	for a := range agents {
		writers = append(writers, func(i int) error {
			line := fmt.Sprintf("agent %02d says %04d", a, i)
			res, err := clients[a].CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_retain",
				Arguments: map[string]any{"ref": fmt.Sprintf("claude:memories/shared%d.md", i%files), "content": line + "\n"}})
			if err != nil {
				return err
			}
			facts, _ := json.Marshal(res.StructuredContent)
			switch {
			case strings.Contains(string(facts), `"status":"retained"`):
				put.Add(1)
				kept[a] = append(kept[a], line)
			case strings.Contains(string(facts), `"kind":"locked"`), strings.Contains(string(facts), `"kind":"conflict"`):
				busy.Add(1) // reported as not written
			default:
				return fmt.Errorf("%s: %s", line, facts)
			}
			return nil
		})
	}
	began := time.Now()
	atOnce(t, each, writers...)
	t.Logf("%d retains of %d agents in %.1f s, %d told that the file was busy", put.Load(), agents, time.Since(began).Seconds(), busy.Load())
	if put.Load()+busy.Load() != int64(agents*each) || busy.Load() > put.Load()/10 {
		t.Errorf("%d written and %d busy of %d", put.Load(), busy.Load(), agents*each)
	}
	seen := map[string]int{}
	for f := range files {
		b, err := os.ReadFile(filepath.Join(base, "memories", fmt.Sprintf("shared%d.md", f)))
		must(t, err)
		first, rest, _ := strings.Cut(string(b), "\n")
		if first != "begun by the tool" {
			t.Errorf("file %d begins with %q", f, first)
		}
		for line := range strings.Lines(rest) {
			seen[strings.TrimSuffix(line, "\n")]++
		}
	}
	n := 0
	for a := range kept {
		for _, line := range kept[a] {
			n++
			if seen[line] != 1 {
				t.Errorf("%q is there %d times", line, seen[line])
			}
		}
	}
	if len(seen) != n {
		t.Errorf("%d lines, %d were answered for", len(seen), n)
	}
	for i := range each {
		if b, err := os.ReadFile(filepath.Join(base, "memories", fmt.Sprintf("own%d.md", i))); err != nil || string(b) != fmt.Sprintf("the tool's %d\n", i) {
			t.Errorf("the tool's file %d holds %q, %v", i, b, err)
		}
	}
}

// tokenOf sends a token with each request.
type tokenOf string

func (s tokenOf) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	return http.DefaultTransport.RoundTrip(r)
}
