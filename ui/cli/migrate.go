package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"memdesk/model"
)

// migrateCommand shows a store's schema, or moves it to a version.
func (a *app) migrateCommand() *cobra.Command {
	to := -1
	yes, show := false, false
	c := &cobra.Command{
		Use: "migrate", Short: "Bring a store's schema up to date, or to a version",
		Long: "Moves the schema of the store that --store names to the newest version, or to the one given with --to,\n" +
			"one transaction per step. Going down drops what the newer version holds; version 0 is no schema at all.\n" +
			"--show changes nothing.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("to") && to < 0 {
				return usage("--to takes a version, 0 or more")
			}
			s, err := a.stores(cmd.Context())
			if err != nil {
				return err
			}
			m := s.fleet.Members()
			if len(m) != 1 {
				return usage("name the one store to migrate with --store NAME")
			}
			store, err := a.openStore(m[0].Name)
			if err != nil {
				return err
			}
			if store.Migrator == nil {
				return model.Errorf(model.Unsupported, "migrate", "store %s has no schema of memdesk's own to migrate", store.Name)
			}
			before, err := store.Migrator.Schema(cmd.Context())
			if err != nil || show {
				return a.printSchema(store.Name, before, err)
			}
			if to < 0 {
				to = before.Latest
			}
			if err := a.mayChange(s, "migrate"); err != nil {
				return err
			}
			if err := a.confirm(cmd.Context(), yes, migrateQuestion(store.Name, before.Current, to)); err != nil {
				return err
			}
			after, err := store.Migrator.Migrate(cmd.Context(), to)
			return a.printSchema(store.Name, after, err)
		},
	}
	f := c.Flags()
	f.IntVar(&to, "to", -1, "the `VERSION` to move to (default: the newest)")
	f.BoolVar(&show, "show", false, "only show where the schema stands")
	f.BoolVar(&yes, "yes", false, "do not ask")
	return c
}

func migrateQuestion(store string, from, to int) string {
	q := fmt.Sprintf("migrate %s from schema %d to %d?", store, from, to)
	if to < from {
		q += " What the newer schema holds is lost."
	}
	return q
}

func (a *app) printSchema(store string, s model.SchemaState, err error) error {
	if err != nil {
		return err
	}
	tab := a.table("VERSION", "APPLIED", "WHAT")
	for _, step := range s.Steps {
		if a.flags.json {
			if err := a.emit("step", row{"store": store, "version": step.Version, "what": step.What, "applied": step.Applied}); err != nil {
				return err
			}
			continue
		}
		word := "no"
		if step.Applied {
			word = "yes"
		}
		tab.add(step.Version, word, step.What)
	}
	tab.flush()
	if a.flags.json {
		return a.emit("schema", row{"store": store, "current": s.Current, "latest": s.Latest})
	}
	return nil
}
