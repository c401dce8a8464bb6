package door_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/door"
	"memdesk/undo"
)

// gated is the gate in front of one caller's stores, as a handler. docs/library.md shows its body.
func gated(ctx context.Context, state string, caller backends.Caller, stores ...backends.StoreConfig) (http.Handler, error) {
	ready := func() error { return os.MkdirAll(state, 0o700) }
	log, err := audit.Open(audit.Options{Dir: filepath.Join(state, "audit"), Actor: audit.Actor{ID: "agent " + caller.Name}})
	if err != nil {
		return nil, err
	}
	ledger := origin.OpenLedger(state, ready)
	gate := origin.Gate(origin.Rules{Ledger: ledger, Shelf: origin.OpenShelf(filepath.Join(state, "held"), ready)})
	fleet := backends.Open(ctx, backends.Builtin(), stores, backends.Env{}, backends.Policy{Audit: audit.Middleware(log), Origin: gate})
	desk := &door.Desk{Fleet: fleet, Ledger: ledger, Caller: caller, Undo: undo.New(filepath.Join(state, "undo"), 0, nil, ready)}
	return door.HTTP{Callers: []backends.Caller{caller}, Desk: func(backends.Caller) *door.Desk { return desk }}.Handler(), nil
}

// The gate in front of a store, mounted into another program's server.
func ExampleHTTP() {
	state, err := os.MkdirTemp("", "memdesk-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	planner := backends.Caller{Name: "planner", Token: model.NewSecret("a-token-of-forty-characters-or-so-000000")}
	handler, err := gated(context.Background(), state, planner, backends.StoreConfig{Name: "notes", Kind: "inmem"})
	if err != nil {
		fmt.Println(err)
		return
	}
	mine := http.NewServeMux()
	mine.Handle("/", handler)
	srv := httptest.NewServer(mine)
	defer srv.Close()
	res, err := http.Get(srv.URL + door.Path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	fmt.Println(res.StatusCode)
	// Output: 401
}

// TestTheLibraryPage: the code block of docs/library.md must equal the example.
func TestTheLibraryPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## The gate in front of a store\n")
	_, rest, ok := strings.Cut(rest, "```go\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed || !strings.Contains(string(code), block) {
		t.Errorf("docs/library.md shows another gate than gated:\n%s", block)
	}
}
