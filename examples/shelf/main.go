// Command shelf is memdesk with a kind of store more: what a third party writes to
// add one. It uses nothing under internal, so it compiles in a module of its own.
package main

import (
	"context"
	"fmt"
	"os"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/cli"
)

// kinds are memdesk's own and the shelf.
func kinds() (*backends.Registry, error) {
	reg := backends.Builtin()
	return reg, reg.Register(backends.Kind{
		Name: "shelf", Summary: "notes in memory, gone at the end", Location: "what the shelf is called", Bare: true,
		Own: map[string]any{"shelf": "hall", "note_bytes": 4000}, // the keys of its block, with their defaults
		Open: func(_ context.Context, c backends.StoreConfig, _ backends.Env) (model.Store, error) {
			return newShelf(c.Own["shelf"].(string), c.Own["note_bytes"].(int)), nil
		},
	})
}

func main() {
	reg, err := kinds()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(cli.NewProgram(reg).Run(context.Background()))
}
