package door_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/door"
)

// verbs is a store of only the four verbs, whose texts are given.
type verbs struct{ words string }

func (v verbs) Retain(context.Context, model.RetainRequest) (model.RetainResult, error) {
	return model.RetainResult{ID: "x", Warnings: []string{v.words}}, nil
}

func (v verbs) Recall(_ context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if req.Query == "fail" {
		return model.RecallResult{}, model.Errorf(model.Unavailable, "recall", "%s", v.words)
	}
	hits := []model.RecallSnippet{{ID: "x", Source: "x", Snippet: "a planted heron"}, {ID: "y", Source: "y", Snippet: "a heron"}}
	return model.RecallResult{Hits: hits[:min(len(hits), req.Limit)], Total: 2}, nil
}

func (v verbs) Forget(context.Context, model.ForgetRequest) (model.ForgetResult, error) {
	return model.ForgetResult{}, model.Errorf(model.NotFound, "forget", "%s", v.words)
}

func (v verbs) Health(context.Context) model.HealthStatus {
	return model.HealthStatus{Message: v.words, CheckedAt: time.Unix(0, 0)}
}

// uncounted returns no counts.
type uncounted struct{}

func (uncounted) Tiers(context.Context) ([]model.TierCount, error) { return nil, nil }

// partial is a list that is incomplete.
type partial struct {
	uncounted
	words string
}

func (p partial) List(context.Context, model.PageRequest) (model.Page, error) {
	return model.Page{Problems: []string{p.words}}, nil
}

func (partial) Read(context.Context, string) (model.Item, error) {
	return model.Item{}, model.Errorf(model.NotFound, "read", "nothing")
}

// overVerbs is a desk over stores of one kind: bare has four verbs, cut an incomplete list, full an
// item with a long title for each position of a page.
func overVerbs(t *testing.T, words string, names ...string) *door.Desk {
	t.Helper()
	kinds := &backends.Registry{}
	if err := kinds.Register(backends.Kind{Name: "verbs", Open: func(_ context.Context, c backends.StoreConfig, _ backends.Env) (model.Store, error) {
		s := model.Store{Name: c.Name, Kind: "verbs", Provider: verbs{words}, Tiers: []model.TierSpec{{Name: "t", Writable: true}}}
		switch c.Name {
		case "cut":
			s.Browser = partial{words: words}
		case "full":
			s.Browser = long{}
		case "odd": // its server names the tiers
			s.Browser, s.Tiers = odd{}, append(s.Tiers, model.TierSpec{Name: poison, Writable: true})
		}
		return s, nil
	}}); err != nil {
		t.Fatal(err)
	}
	var configs []backends.StoreConfig
	for _, n := range names {
		configs = append(configs, backends.StoreConfig{Name: n, Kind: "verbs"})
	}
	d := newDesk(t, bearer.Caller{Name: "planner"})
	d.Fleet = backends.Open(t.Context(), kinds, configs, backends.Env{Clock: clock.System{}, Getenv: func(string) string { return "" }}, backends.Policy{Audit: backends.Unrecorded})
	t.Cleanup(func() { _ = d.Fleet.Close() })
	return d
}

// long is a page of items with ids and titles of the maximum length.
type long struct{ uncounted }

func (long) List(_ context.Context, req model.PageRequest) (model.Page, error) {
	var p model.Page
	for i := range req.Limit {
		p.Items = append(p.Items, model.Header{ID: fmt.Sprintf("%04d", i) + strings.Repeat("i", model.MaxID-4), Tier: "t", Title: strings.Repeat("t", 300)})
	}
	return p, nil
}

func (long) Read(_ context.Context, id string) (model.Item, error) {
	return model.Item{Header: model.Header{ID: id, Tier: "t"}, Body: "x"}, nil
}

// odd has items of a tier that reads like instructions.
type odd struct{ long }

func (odd) List(context.Context, model.PageRequest) (model.Page, error) {
	return model.Page{Items: []model.Header{{ID: "x", Tier: poison}, {ID: "y", Tier: "t"}}, Next: "more"}, nil
}

func (odd) Read(_ context.Context, id string) (model.Item, error) {
	return model.Item{Header: model.Header{ID: id, Tier: map[string]string{"x": poison, "y": "t"}[id]}, Body: "calm\n"}, nil
}

// TestTiersOfServers: a tier's name must not bring instructions to an agent.
func TestTiersOfServers(t *testing.T) {
	d := overVerbs(t, "", "odd")
	c := client(t, d)
	for tool, a := range map[string]args{"memory_list": nil, "memory_get": {"ref": "odd:x"}, "memory_retain": {"content": "x"}, "memory_health": nil} {
		res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
		if err != nil {
			t.Fatal(err)
		}
		res.Meta = nil // it is for programs
		if whole, _ := json.Marshal(res); strings.Contains(string(whole), "ignore previous") {
			t.Errorf("%s: %s", tool, whole)
		}
	}
	block, problems, err := d.Hook(t.Context(), "", 4096, origin.Writer{})
	if err != nil || strings.Contains(block, "ignore previous") || !strings.Contains(block, "odd:y") || len(problems) != 1 || !strings.Contains(problems[0], "the first in its own order") {
		t.Errorf("the hook: %q, %q, %v", block, problems, err)
	}
}

// TestWordsOfStores: a store's own words in errors, health, warnings and problems reach an agent
// outside the fences, so instructions must be left out of them, and other words must stay.
func TestWordsOfStores(t *testing.T) {
	for words, want := range map[string]string{poison: "left out: it reads like instructions", "the disk is full": "the disk is full"} {
		c := client(t, overVerbs(t, words, "bare", "cut"))
		for tool, all := range map[string][]args{
			"memory_health": {nil}, "memory_list": {{"store": "cut"}},
			"memory_recall": {{"query": "fail", "store": "bare"}, {"query": "fail"}},
			"memory_retain": {{"content": "x", "tier": "t", "store": "bare"}}, "memory_forget": {{"ref": "bare:x", "reason": "x"}},
		} {
			for _, a := range all {
				res, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
				if err != nil {
					t.Fatal(err)
				}
				whole, _ := json.Marshal(res)
				if strings.Contains(string(whole), "ignore previous") || !strings.Contains(string(whole), want) {
					t.Errorf("%s %v: %s", tool, a, whole)
				}
			}
		}
	}
}

// TestARecallThatFails: the text of an answer must say which stores did not answer, because no hit there is not
// the same as nothing remembered; when none answered, the call failed.
func TestARecallThatFails(t *testing.T) {
	c := client(t, overVerbs(t, "half of it is locked", "bare", "cut"))
	if r := call(t, c, "memory_recall", args{"query": "fail"}); !r.error || !strings.Contains(r.text, "half of it is locked") {
		t.Errorf("no store answers: %+v", r)
	}
	d := newDesk(t, bearer.Caller{Name: "planner"})
	both := overVerbs(t, "half of it is locked", "bare")
	both.Fleet = backends.NewFleet(append(both.Fleet.Members(), d.Fleet.Members()...), nil)
	r := call(t, client(t, both), "memory_recall", args{"query": "fail"})
	if r.error || !strings.Contains(r.text, "[not all searched: bare: half of it is locked]\n--- end of recalled memory ---") {
		t.Errorf("one of two stores answers: %+v", r)
	}
}

// TestAListOfManyStores: a store that cannot list must be named, and the list must continue with the
// next store.
func TestAListOfManyStores(t *testing.T) {
	c := client(t, overVerbs(t, "half of it is locked", "bare", "cut", "full"))
	var cursor any = ""
	var named []string
	items := 0
	for range 3 {
		r := call(t, c, "memory_list", args{"cursor": cursor})
		if r.error {
			t.Fatalf("%+v", r)
		}
		if stores, ok := r.facts["stores"].([]any); ok {
			for _, s := range stores {
				named = append(named, fmt.Sprint(s.(map[string]any)["store"], ": ", s.(map[string]any)["error"]))
			}
		}
		items += len(r.facts["items"].([]any))
		if cursor = r.facts["next"]; cursor == nil {
			break
		}
	}
	if got := strings.Join(named, ", "); items != 50 || got != "bare: store bare cannot show its items, cut: half of it is locked" {
		t.Errorf("%d items; named: %s", items, got)
	}
	if r := call(t, c, "memory_list", args{"store": "bare"}); r.kind() != "unsupported" {
		t.Errorf("asked for alone: %+v", r)
	}
}

// TestATotalOfManyStores: a list of several stores has their sum, unless one of them does not count.
func TestATotalOfManyStores(t *testing.T) {
	dir := t.TempDir()
	d := deskOver(t, bearer.Caller{Name: "planner"}, dir, "inmem=", "devicelocal="+filepath.Join(dir, "memory"))
	c := client(t, d)
	call(t, c, "memory_retain", args{"store": "inmem", "tier": "session", "content": "x"})
	call(t, c, "memory_retain", args{"ref": "devicelocal:a.md", "content": "x"})
	for _, a := range []args{nil, {"cursor": "devicelocal:"}} {
		if r := call(t, c, "memory_list", a); r.facts["total"] != 2.0 {
			t.Errorf("%v: %+v", a, r)
		}
	}
	if r := call(t, c, "memory_list", args{"tier": "session"}); r.facts["total"] != 1.0 {
		t.Errorf("of one tier: %+v", r)
	}
	if r := call(t, client(t, overVerbs(t, "", "bare", "full")), "memory_list", nil); r.error || r.facts["total"] != nil {
		t.Errorf("one store does not count: %v", r.facts["total"])
	}
}

// TestTextsAreBounded: an answer's text has at most 32 KiB, its structured content is complete (AD15).
func TestTextsAreBounded(t *testing.T) {
	d := overVerbs(t, "", "full")
	d.Aliases = []string{"server-memory"}
	c := client(t, d)
	r := call(t, c, "memory_list", nil)
	if len(r.text) > 32<<10 || !strings.HasSuffix(r.text, "[the rest is left out]\n--- end of recalled memory ---") || len(r.facts["items"].([]any)) != 50 {
		t.Errorf("a text of %d bytes: %.80q … %q", len(r.text), r.text, r.text[max(0, len(r.text)-80):])
	}
	var names []string
	for range 100 {
		names = append(names, strings.Repeat("n", 1000))
	}
	if r := call(t, c, "delete_entities", args{"entityNames": append(names, "one more")}); r.kind() != "invalid_input" {
		t.Errorf("101 values: %.200s", r.text)
	}
}

// TestHitsOfFourVerbs: a hit of a store without readable items must be judged by its snippet, and a withheld one must not
// take the place of another.
func TestHitsOfFourVerbs(t *testing.T) {
	d := overVerbs(t, "", "bare")
	d.Suspect = func(_ context.Context, store, _, text string) bool {
		return store == "bare" && strings.Contains(text, "planted")
	}
	for _, a := range []args{{"query": "heron"}, {"query": "heron", "limit": 1}} {
		if r := call(t, client(t, d), "memory_recall", a); strings.Contains(r.text, "planted") || !strings.Contains(r.text, "a heron") {
			t.Errorf("%v: %+v", a, r)
		}
	}
}

// TestATierWithAPlantedName: a server names its tiers, and the memory face shows names outside any fence.
func TestATierWithAPlantedName(t *testing.T) {
	d := overVerbs(t, "", "full")
	members := d.Fleet.Members()
	members[0].Store.Tiers = append(members[0].Store.Tiers, model.TierSpec{Name: poison})
	d.Fleet, d.Face = backends.NewFleet(members, nil), door.Memory
	c := client(t, d)
	for _, path := range []string{"/memories", "/memories/full"} {
		if r := call(t, c, "memory", args{"command": "view", "path": path}); r.error || strings.Contains(r.text, "ignore previous") || !strings.Contains(r.text, "/t") {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if r := call(t, c, "memory", args{"command": "view", "path": "/memories/full/" + poison}); !r.error || !strings.Contains(r.text, "does not exist") {
		t.Errorf("%+v", r)
	}
}

// TestAliasesOfOthers: the tools that other servers' prompts expect must accept unknown arguments, obey
// the rate of writes, and find an entity again by its name.
func TestAliasesOfOthers(t *testing.T) {
	d := deskOver(t, bearer.Caller{Name: "planner"}, t.TempDir(), "inmem=")
	d.Clock = clock.Fixed(time.Date(2031, 2, 1, 8, 0, 0, 0, time.UTC))
	d.Tier, d.Aliases = "session", door.Aliases()
	c := client(t, d)
	for tool, a := range map[string]args{
		"memory_list": {"page": 1, "page_size": 10, "tag": "x"}, "memory_health": {"detail": true}, "get_memories": {"user_id": "u", "page": 2},
		"memory_search": {"query": "x", "mode": "semantic"}, "search_memories": {"query": "x", "Query": 1, "filters": args{"a": 1}, "limit": 500},
		"create_entities": {"entities": []any{args{"name": "Pier", "NAME": 1, "observations": []string{"long"}}}},
		"memory_store":    {"content": "kept", "tags": "a,b", "metadata": args{}}, "add_memory": {"text": "kept", "metadata": args{}}, "read_graph": {"depth": 2},
	} {
		if r := call(t, c, tool, a); r.error {
			t.Errorf("%s: %+v", tool, r)
		}
	}
	if r := call(t, client(t, newDesk(t, bearer.Caller{Name: "planner"})), "memory_list", args{"page": 1}); r.kind() != "invalid_input" {
		t.Errorf("without an alias: %+v", r)
	}
	entity := func(name string) args {
		return args{"name": name, "entityType": "person", "observations": []string{"likes tea"}}
	}
	if r := call(t, c, "create_entities", args{"entities": []any{entity("Ida Quarn")}}); r.error {
		t.Fatalf("%+v", r)
	}
	if r := call(t, c, "add_observations", args{"observations": []any{args{"entityName": "Ida Quarn", "contents": []string{"lives in Kiel"}}}}); r.error {
		t.Errorf("%+v", r)
	}
	if r := call(t, c, "open_nodes", args{"names": []string{"Ida Quarn"}}); !strings.Contains(r.text, "> likes tea\n> lives in Kiel\n") {
		t.Errorf("%+v", r)
	}
	if r := call(t, c, "delete_entities", args{"entityNames": []string{"Ida Quarn", "Nobody"}}); r.error || !strings.Contains(r.text, "forgotten") || !strings.Contains(r.text, "no entity has this name") {
		t.Errorf("%+v", r)
	}
	var many []any
	for i := range 100 {
		many = append(many, entity(fmt.Sprintf("E%03d", i)))
	}
	r := call(t, c, "create_entities", args{"entities": many})
	if n := strings.Count(r.text, "retained"); n == 100 || n < 80 || !strings.Contains(r.text, "more than 600 writes a minute") {
		t.Errorf("%d of 100 entities are written at once: %.300s", n, r.text)
	}
}

// TestAnEntityInASilentStore: what a store did not answer is not absent, and a change waits until it is known that no
// other item has the name.
func TestAnEntityInASilentStore(t *testing.T) {
	d := newDesk(t, bearer.Caller{Name: "planner"})
	silent := overVerbs(t, "out of reach", "bare").Fleet.Members()[0]
	silent.Store.Provider = mute{silent.Store.Provider}
	d.Fleet = backends.NewFleet(append(d.Fleet.Members(), silent), nil)
	d.Tier, d.Aliases = "fix", door.Aliases()
	c := client(t, d)
	if r := call(t, c, "memory_retain", args{"ref": note, "content": "Ida Quarn\nlikes tea\n"}); r.error {
		t.Fatalf("%+v", r)
	}
	for _, tt := range []struct {
		tool string
		args args
		want string
	}{
		{"open_nodes", args{"names": []string{"Nobody"}}, "not all searched: bare: "},
		{"open_nodes", args{"names": []string{"Ida Quarn"}}, "likes tea"},
		{"add_observations", args{"observations": []any{args{"entityName": "Ida Quarn", "contents": []string{"x"}}}}, "not all searched: bare: "},
		{"create_entities", args{"entities": []any{args{"name": "Yan"}}}, "there are several stores: give store, one of vault, bare"},
		{"delete_entities", args{"entityNames": []string{"Ida Quarn"}}, "not all searched: bare: "},
	} {
		if r := call(t, c, tt.tool, tt.args); !strings.Contains(r.text, tt.want) {
			t.Errorf("%s %v: %+v", tt.tool, tt.args, r)
		}
	}
}

// TestAnEntityBeyondTheHits: a search that stopped early does not tell that a name is free.
func TestAnEntityBeyondTheHits(t *testing.T) {
	d := newDesk(t, bearer.Caller{Name: "planner"})
	members := d.Fleet.Members()
	members[0].Store.Provider = stopped{members[0].Store.Provider}
	d.Fleet, d.Tier, d.Aliases = backends.NewFleet(members, nil), "fix", door.Aliases()
	if r := call(t, client(t, d), "open_nodes", args{"names": []string{"Nobody"}}); r.kind() != "not_found" || !strings.Contains(r.text, "there may be more") {
		t.Errorf("%+v", r)
	}
}

// stopped is a store whose search stops early.
type stopped struct{ model.Provider }

func (stopped) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{Bounded: true, Total: model.TotalUnknown}, nil
}

// mute is a store that cannot be searched.
type mute struct{ model.Provider }

func (mute) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{}, model.Errorf(model.Unavailable, "recall", "out of reach")
}

// TestAnEntityInEveryStore: an entity must be made, extended and found by its name in tiers that need a
// key, and in the graph of the official memory server, whose observations are a list.
func TestAnEntityInEveryStore(t *testing.T) {
	dir := t.TempDir()
	graph := filepath.Join(dir, "memory.jsonl")
	if err := os.WriteFile(graph, []byte(`{"type":"entity","name":"Pier","entityType":"place","observations":["has a lamp"]}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "vault", "memory", "fix"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ open, tier, want string }{
		{"vault=" + filepath.Join(dir, "vault"), "fix", "> likes tea\n> lives in Kiel\n"},
		{"mcpgraph=" + graph, "entity", "> - likes tea\n> - lives in Kiel\n"},
	} {
		d := deskOver(t, bearer.Caller{Name: "planner"}, t.TempDir(), tt.open)
		d.Tier, d.Aliases = tt.tier, door.Aliases()
		c := client(t, d)
		if r := call(t, c, "create_entities", args{"entities": []any{args{"name": "Ida Quarn", "entityType": "person", "observations": []string{"likes tea"}}}}); r.error {
			t.Errorf("%s: %+v", tt.open, r)
		}
		if r := call(t, c, "add_observations", args{"observations": []any{args{"entityName": "Ida Quarn", "contents": []string{"lives in Kiel"}}}}); r.error {
			t.Errorf("%s: %+v", tt.open, r)
		}
		if r := call(t, c, "open_nodes", args{"names": []string{"Ida Quarn"}}); !strings.Contains(r.text, tt.want) {
			t.Errorf("%s: %+v", tt.open, r)
		}
		if r := call(t, c, "add_memory", args{"text": "The heron leaves at six."}); tt.tier == "fix" && (r.error || !strings.Contains(r.text, "the-heron-leaves-at-six-")) {
			t.Errorf("%s: %+v", tt.open, r)
		}
	}
}

// slow is a store whose reads all fail for a while.
type slow struct{ model.Browser }

func (slow) Read(context.Context, string) (model.Item, error) {
	return model.Item{}, model.Errorf(model.Timeout, "read", "too slow")
}

// TestAHitThatCannotBeReadIsLeftOut: only the whole item says that its store blocks it, or that it waits for approval.
func TestAHitThatCannotBeReadIsLeftOut(t *testing.T) {
	d := overVerbs(t, "", "full")
	members := d.Fleet.Members()
	members[0].Store.Browser = slow{members[0].Store.Browser}
	d.Fleet = backends.NewFleet(members, nil)
	r := call(t, client(t, d), "memory_recall", args{"query": "heron"})
	if hits, _ := r.facts["hits"].([]any); r.error || len(hits) > 0 || strings.Contains(r.text, "planted") || !strings.Contains(r.text, "[not all searched: full: a hit could not be read and is left out: ") {
		t.Errorf("%+v", r)
	}
}

// TestListedTitlesAreAsked: a title that looks planted must not reach an agent by a list.
func TestListedTitlesAreAsked(t *testing.T) {
	d := overVerbs(t, "", "full")
	d.Suspect = func(_ context.Context, _, _, text string) bool { return strings.HasPrefix(text, "ttt") }
	if r := call(t, client(t, d), "memory_list", args{}); r.error || strings.Contains(r.text, "ttt") {
		t.Errorf("%.300s", r.text)
	}
}

// TestACutTextSaysSo: the text of an answer that does not hold all must say so, whatever the length of the lines, and
// hold as much of a long line as fits.
func TestACutTextSaysSo(t *testing.T) {
	d := newDesk(t, bearer.Caller{Name: "planner"})
	c := client(t, d)
	for _, text := range []string{strings.Repeat("line of text\n", 2350), strings.Repeat("\n", 12000), strings.Repeat("é", 16500), strings.Repeat("x", 40000) + "\nshort\n"} {
		for i := range 30 {
			ref := fmt.Sprintf("vault:memory/fix/n%s.md", strings.Repeat("n", i)) // another length of the first line
			if err := os.WriteFile(filepath.Join(d.Fleet.Members()[0].Location, "memory/fix", ref[len("vault:memory/fix/"):]), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r := call(t, c, "memory_get", args{"ref": ref})
			if len(r.text) > 32<<10 || len(r.text) < 31<<10 || !strings.HasSuffix(r.text, "\n> [the rest is left out]\n--- end of recalled memory ---") {
				t.Fatalf("%d bytes of %.10q…, cut to %d, end in %q", len(text), text, len(r.text), r.text[max(0, len(r.text)-80):])
			}
		}
	}
}

// TestAnEntityIsMadeOnce: agents give an entity again when they learn more; a second item of its name could be neither
// opened nor deleted.
func TestAnEntityIsMadeOnce(t *testing.T) {
	d := deskOver(t, bearer.Caller{Name: "planner"}, t.TempDir(), "inmem=")
	d.Tier, d.Aliases = "session", door.Aliases()
	c := client(t, d)
	zed := args{"entities": []any{args{"name": "Zed", "entityType": "person", "observations": []string{"likes tea"}}}}
	if r := call(t, c, "create_entities", zed); r.error {
		t.Fatalf("%+v", r)
	}
	zed["entities"] = append(zed["entities"].([]any), args{"name": "Yan", "observations": []string{"likes rain"}})
	if r := call(t, c, "create_entities", zed); r.error || !strings.Contains(r.text, "already: inmem:") || !strings.Contains(fmt.Sprint(r.facts), "status:exists") {
		t.Errorf("again: %+v", r)
	}
	if r := call(t, c, "open_nodes", args{"names": []string{"Zed", "Yan"}}); r.error || !strings.Contains(r.text, "likes tea") || !strings.Contains(r.text, "likes rain") {
		t.Errorf("%+v", r)
	}
	if r := call(t, c, "create_entities", args{"entities": []any{args{"name": " ", "observations": []string{}}}}); r.kind() != "invalid_input" {
		t.Errorf("without a name: %+v", r)
	}
}

// TestTheHookSaysWhatDoesNotFit: a session that gets only a part, or nothing, must not take that for all.
func TestTheHookSaysWhatDoesNotFit(t *testing.T) {
	d := newDesk(t, bearer.Caller{Name: "planner"})
	c := client(t, d)
	if r := call(t, c, "memory_retain", args{"ref": note, "content": strings.Repeat("the heron\n", 100)}); r.error {
		t.Fatalf("%+v", r)
	}
	block, problems, err := d.Hook(t.Context(), "", 300, origin.Writer{})
	if block != "" || err != nil || len(problems) != 1 || !strings.HasSuffix(problems[0], "do not fit: 1") {
		t.Errorf("%q, %q, %v", block, problems, err)
	}
}
