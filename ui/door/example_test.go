package door_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/ui/door"
	"memdesk/undo"
)

// The gate in front of a store, mounted into somebody else's server.
func ExampleHTTP() {
	state, err := os.MkdirTemp("", "memdesk-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	ready := func() error { return nil }
	log, err := audit.Open(audit.Options{Dir: filepath.Join(state, "audit"), Actor: audit.Actor{ID: "agent planner"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ledger := origin.OpenLedger(state, ready)
	gate := origin.Gate(origin.Rules{Ledger: ledger, Shelf: origin.OpenShelf(filepath.Join(state, "held"), ready)})
	fleet := backends.Open(context.Background(), backends.Builtin(), []backends.StoreConfig{{Name: "notes", Kind: "inmem"}},
		backends.Env{}, backends.Policy{Audit: audit.Middleware(log), Origin: gate})
	defer fleet.Close()
	planner := backends.Caller{Name: "planner", Token: model.NewSecret("a-token-of-forty-characters-or-so-000000")}
	desk := &door.Desk{Fleet: fleet, Undo: undo.New(filepath.Join(state, "undo"), 0, nil, ready), Ledger: ledger,
		Names: origin.OpenPaths(state, ready), Caller: planner}
	mine := http.NewServeMux()
	mine.Handle("/", door.HTTP{Callers: []backends.Caller{planner}, Desk: func(backends.Caller) *door.Desk { return desk }}.Handler())
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
