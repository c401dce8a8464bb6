package backends_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/model"
)

// Open a store behind an audit log, and call the four verbs.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "memdesk-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "audit"), Actor: audit.Actor{ID: "ana"}, Tool: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	fleet := backends.Open(ctx, backends.Builtin(), []backends.StoreConfig{{Name: "notes", Kind: "inmem"}},
		backends.Env{}, backends.Policy{Audit: audit.Middleware(log)})
	defer fleet.Close()
	member := fleet.Members()[0]
	if member.Err != nil {
		fmt.Println(member.Err)
		return
	}
	notes := member.Store.Provider

	kept, err := notes.Retain(ctx, model.RetainRequest{Tier: "longterm", Key: "rye", Content: "Rye bread is baked on Fridays.", Mode: model.Replace})
	fmt.Println(kept.ID, kept.Bytes, err)

	_, err = notes.Retain(ctx, model.RetainRequest{ID: kept.ID, Content: "Never.", Mode: model.Replace, IfMatch: "another revision"})
	fmt.Println("conflict:", errors.Is(err, model.Conflict))

	found, err := notes.Recall(ctx, model.RecallRequest{Query: "rye bread"})
	fmt.Println(len(found.Hits), err)

	gone, err := notes.Forget(ctx, model.ForgetRequest{ID: kept.ID, IfMatch: kept.Revision})
	fmt.Println(gone.Removed, err)

	fmt.Println("well:", notes.Health(ctx).OK)
	// Output:
	// rye 30 <nil>
	// conflict: true
	// 1 <nil>
	// 1 <nil>
	// well: true
}

// A kind of your own has its own configuration keys; the defaults set their types.
func ExampleRegistry_Register() {
	reg := backends.Builtin()
	err := reg.Register(backends.Kind{
		Name: "shelf", Location: "what the shelf is called", Bare: true,
		Own: map[string]any{"shelf": "hall", "depth": 1},
		Open: func(_ context.Context, c backends.StoreConfig, _ backends.Env) (model.Store, error) {
			fmt.Println("open", c.Own["shelf"].(string), c.Own["depth"].(int))
			return model.Store{Location: "a shelf"}, nil
		},
	})
	fmt.Println(err)
	cfg, err := backends.ParseConfig(reg, "config.toml", "[[store]]\nkind = \"shelf\"\nshelf = \"kitchen\"\n")
	fmt.Println(err)
	fleet := backends.Open(context.Background(), reg, cfg.Stores, backends.Env{}, backends.Policy{ReadOnly: "an example"})
	defer fleet.Close()
	_, err = backends.ParseConfig(reg, "config.toml", "[[store]]\nkind = \"shelf\"\ndepth = \"deep\"\n")
	fmt.Println(err)
	// Output:
	// <nil>
	// <nil>
	// open kitchen 1
	// config: config.toml:3:1: depth wants a whole number
}
