package programs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"memdesk/backends"
	"memdesk/model"
)

// mem0Packages replaces better-sqlite3, which must be compiled, by libsql, which has the same interface
// and is published as a binary. The code under test is mem0's.
var mem0Packages = []string{"mem0ai@3.3.1", "better-sqlite3@npm:libsql@0.5.22"}

// embedder serves as an OpenAI-compatible server with one vector for every text, because a test has no model.
func embedder(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "model": "test",
			"data": []any{map[string]any{"object": "embedding", "index": 0, "embedding": []float32{1, 2, 3, 4, 5, 6, 7, 8}}}})
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func listOf(tier string) model.PageRequest { return model.PageRequest{Tier: tier, Hidden: true} }

// TestMem0: mem0's TypeScript package and memdesk must work on one folder.
func TestMem0(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, "mem0", mem0Packages, dir, embedder(t))
	add := func(user, words string) string {
		t.Helper()
		return do[[]said](t, p, "add", map[string]any{"user": user, "text": words})[0].ID
	}
	ada, brin := add("ada", "Ada likes rye"), add("brin", "Brin likes boats")
	s := open(t, backends.StoreConfig{Kind: "mem0", Path: dir}, nil)
	if got := text(t, s, ada); got != "Ada likes rye" {
		t.Errorf("the program's memory reads %q", got)
	}
	must(t, write(t, s, ada, "Ada likes bread"))
	if got := do[said](t, p, "get", map[string]any{"id": ada}); got.Text != "Ada likes bread" {
		t.Errorf("the program reads %+v", got)
	}
	if got := do[[]struct{ Was, Is, Action string }](t, p, "history", map[string]any{"id": ada}); len(got) != 2 {
		t.Errorf("the program's history has %+v", got)
	}
	do[any](t, p, "update", map[string]any{"id": ada, "text": "Ada likes soup"})
	if got := text(t, s, ada); got != "Ada likes soup" {
		t.Errorf("after the program's update it reads %q", got)
	}
	const n = 20
	atOnce(t, n, func(i int) error {
		return p.call("add", map[string]any{"user": "brin", "text": fmt.Sprintf("note %d", i)}, nil)
	}, func(i int) error { return write(t, s, ada, fmt.Sprintf("Ada %d", i)) })
	if got := do[[]said](t, p, "all", map[string]any{"user": "brin"}); len(got) != n+1 {
		t.Errorf("%d memories of %d stand after both wrote at once", len(got), n+1)
	}
	forget(t, s, ada)
	if got := do[[]any](t, p, "history", map[string]any{"id": ada}); len(got) != 0 {
		t.Errorf("the program's history still has %v", got)
	}
	if got := do[[]said](t, p, "search", map[string]any{"user": "ada", "text": "soup"}); len(got) != 0 {
		t.Errorf("the program still finds %+v", got)
	}
	do[any](t, p, "remove", map[string]any{"id": brin})
	if page, err := s.Browser.List(t.Context(), listOf("memory")); err != nil || len(page.Items) != n {
		t.Errorf("%d memories after the program's delete, %v", len(page.Items), err)
	}
}
