package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
)

// repairCommand sets aside what keeps the program that owns a store from working.
func (a *app) repairCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "repair STORE", Short: "Set aside what the store's own program cannot read",
		Long: "Moves items that the program which owns the store cannot read into a file beside the store. One broken line of a\n" +
			"memory.jsonl makes every tool of the memory server fail. Nothing is lost: the file keeps the bytes, and `memdesk undo`\n" +
			"puts them back. Nothing to do is no error.",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := a.stores(ctx)
			if err != nil {
				return err
			}
			store, err := s.Fleet.Store(args[0])
			if err != nil {
				return err
			}
			if store.Repairer == nil {
				return model.Errorf(model.Unsupported, "repair", "store %s has nothing that could be set aside", store.Name)
			}
			ids, err := store.Repairer.Broken(ctx)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				a.repaired(store.Name, "", operator.Done{})
				return nil
			}
			if err := s.Allow(ctx, operator.Repair, store.Name, ""); err != nil {
				return err
			}
			if err := a.confirm(ctx, "move "+plural(int64(len(ids)), "line")+" of "+store.Name+" into a file beside it?"); err != nil {
				return err
			}
			file, done, err := s.Repair(ctx, store.Name, ids)
			if err == nil {
				a.repaired(store.Name, file, done)
			}
			return err
		},
	}
	return a.asks(c)
}

func (a *app) repaired(store, file string, done operator.Done) {
	if a.flags.json {
		a.emit("repair", row{"store": store, "aside": nilIfEmpty(file), "lines": done.Removed, "undo": nilIfEmpty(done.Undo)})
	} else if done.Removed == 0 {
		a.linef("%s: nothing to repair", store)
	} else {
		a.linef("%s: %s moved to %s", store, plural(done.Removed, "line"), strings.TrimSpace(file))
		a.sayUndo(done)
	}
}
