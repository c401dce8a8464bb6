package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
)

// migrateCommand shows a store's schema, or moves it to a version.
func (a *app) migrateCommand() *cobra.Command {
	to, named := -1, ""
	show, count := false, int64(-1)
	c := &cobra.Command{
		Use: "migrate", Short: "Bring a store's schema up to date, or to a version",
		Long: "Moves the schema of the store that --store names to the newest version, or to the one given with --to,\n" +
			"one transaction per step. Going down asks for the store's name to be typed (without a terminal: --confirm NAME)\n" +
			"and is refused where it would remove items, or where a request holds an item of the store. In production the\n" +
			"number of the store's items is asked for too (--confirm-count). Version 0 is no schema at all. --show changes nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("to") && to < 0 {
				return usage("--to takes a version, 0 or more")
			}
			s, err := a.stores(cmd.Context())
			if err != nil {
				return err
			}
			m := s.Fleet.Members()
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
			if err := s.Allow(cmd.Context(), operator.Migrate, store.Name, ""); err != nil {
				return err
			}
			ask := func() error { return a.confirm(cmd.Context(), migrateQuestion(store.Name, before.Current, to)) }
			if to < before.Current {
				ask = func() error { return a.confirmDown(cmd.Context(), named, count, store, before, to) }
			}
			if err := ask(); err != nil {
				return err
			}
			after, err := s.Migrate(cmd.Context(), store.Name, to)
			return a.printSchema(store.Name, after, err)
		},
	}
	f := c.Flags()
	f.IntVar(&to, "to", -1, "the `VERSION` to move to (default: the newest)")
	f.BoolVar(&show, "show", false, "only show where the schema stands")
	f.BoolVar(&a.flags.yes, "yes", false, "do not ask, on the way up")
	f.StringVar(&named, "confirm", "", "the store's `NAME` again, on the way down, where there is no terminal to type it on")
	f.Int64Var(&count, "confirm-count", -1, "the `NUMBER` of the store's items, on the way down in production, where there is no terminal")
	return c
}

func migrateQuestion(store string, from, to int) string {
	return fmt.Sprintf("migrate %s from schema %d to %d?", store, from, to)
}

// confirmName wants the store's name, as the worst acts do: a migration down cannot be undone.
func (a *app) confirmName(ctx context.Context, named string, s model.Store, at model.SchemaState, to int) error {
	q := fmt.Sprintf("migrate %s DOWN from schema %d to %d? What the newer schema holds is lost, and nothing is kept for undo.", s.Name, at.Current, to)
	if at.Removes(to) {
		q += " This removes the place of all its items."
	}
	if s.Environment != "" {
		q += " Environment: " + s.Environment + "."
	}
	if named == "" {
		if !a.Terminal(a.Stdin) || !a.Terminal(a.Stderr) {
			return usage("going down cannot be undone: without a terminal to type the store's name on, give --confirm %s", s.Name)
		}
		var err error
		if named, err = a.askLine(ctx, q+" Type the store's name to go on: "); err != nil {
			return err
		}
	}
	if named != s.Name {
		return &exitError{exitRefused, fmt.Errorf("not done: %q is not the name of the store", named)}
	}
	return nil
}

// confirmDown wants the store's name, and in production the number of its items too, as an
// erasure does of a large part of a store.
func (a *app) confirmDown(ctx context.Context, named string, count int64, s model.Store, at model.SchemaState, to int) error {
	if err := a.confirmName(ctx, named, s, at, to); err != nil || !strings.EqualFold(s.Environment, "production") {
		return err
	}
	tiers, err := s.Browser.Tiers(ctx)
	if err != nil {
		return err
	}
	items := int64(0)
	for _, t := range tiers {
		items += t.Items
	}
	if count < 0 {
		if !a.Terminal(a.Stdin) || !a.Terminal(a.Stderr) {
			return usage("%s is production: give --confirm-count with the number of its items (`memdesk tiers -s %s`)", s.Name, s.Name)
		}
		typed, err := a.askLine(ctx, fmt.Sprintf("%s is production and holds %d items. Type that number to go on: ", s.Name, items))
		if err != nil {
			return err
		}
		if count, err = strconv.ParseInt(strings.TrimSpace(typed), 10, 64); err != nil {
			count = -1
		}
	}
	if count != items {
		return &exitError{exitRefused, fmt.Errorf("not done: %d is not the number of items in %s, which is %d", count, s.Name, items)}
	}
	return nil
}

func (a *app) printSchema(store string, s model.SchemaState, err error) error {
	if err != nil {
		return err
	}
	tab := a.table("VERSION", "APPLIED", "WHAT")
	for _, step := range s.Steps {
		tab.put(stepRow{store, step})
	}
	tab.flush()
	if a.flags.json {
		a.emit("schema", row{"store": store, "current": s.Current, "latest": s.Latest})
	}
	return nil
}
