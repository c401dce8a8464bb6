package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
)

// repairCommand sets aside what keeps the program that owns a store from working.
func (a *app) repairCommand() *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use: "repair STORE", Short: "Set aside what the store's own program cannot read",
		Long: "Moves items that the program which owns the store cannot read into a file beside the store. One broken line of a\n" +
			"memory.jsonl makes every tool of the memory server fail. Nothing is lost: the file keeps the bytes, and `memdesk undo`\n" +
			"puts them back. Nothing to do is no error.",
		Args: cobra.ExactArgs(1),
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
				return a.repaired(store.Name, "", operator.Done{})
			}
			if err := s.Allow(ctx, operator.Repair, store.Name, ""); err != nil {
				return err
			}
			if err := a.confirm(ctx, yes, "move "+plural(int64(len(ids)), "line")+" of "+store.Name+" into a file beside it?"); err != nil {
				return err
			}
			file, done, err := s.Repair(ctx, store.Name, ids)
			if err != nil {
				return err
			}
			return a.repaired(store.Name, file, done)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func (a *app) repaired(store, file string, done operator.Done) error {
	if a.flags.json {
		return a.emit("repair", row{"store": store, "aside": nilIfEmpty(file), "lines": done.Removed, "undo": nilIfEmpty(done.Undo)})
	}
	if done.Removed == 0 {
		a.linef("%s: nothing to repair", store)
		return nil
	}
	a.linef("%s: %s moved to %s", store, plural(done.Removed, "line"), strings.TrimSpace(file))
	a.sayUndo(done)
	return nil
}
