package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/undo"
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
			store, err := s.fleet.Store(args[0])
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
				return a.repaired(store, "", 0, undo.Entry{})
			}
			if err := a.mayChange(s, "repair"); err != nil {
				return err
			}
			if err := a.confirm(ctx, yes, "move "+plural(int64(len(ids)), "line")+" of "+store.Name+" into a file beside it?"); err != nil {
				return err
			}
			return a.setAside(ctx, s, store, ids)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// setAside writes the file first: what is forgotten afterwards is never the only copy.
func (a *app) setAside(ctx context.Context, s *session, store model.Store, ids []string) error {
	file, err := store.Repairer.SetAside(ctx, ids)
	if err != nil {
		return err
	}
	changes := make([]undo.Change, len(ids))
	for i, id := range ids {
		changes[i].Forget = &model.ForgetRequest{ID: id}
	}
	_, e, err := s.undo.Together(ctx, store, changes)
	if err != nil {
		return err
	}
	return a.repaired(store, file, len(ids), e)
}

func (a *app) repaired(store model.Store, file string, lines int, e undo.Entry) error {
	if a.flags.json {
		return a.emit("repair", row{"store": store.Name, "aside": nilIfEmpty(file), "lines": lines, "undo": undoID(e)})
	}
	if lines == 0 {
		a.linef("%s: nothing to repair", store.Name)
		return nil
	}
	a.linef("%s: %s moved to %s", store.Name, plural(int64(lines), "line"), strings.TrimSpace(file))
	a.sayUndo(e)
	return nil
}
