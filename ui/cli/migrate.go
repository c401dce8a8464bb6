package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/backends"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) migrateCommand() *cobra.Command {
	to, named := 0, ""
	show, count := false, int64(0)
	c := &cobra.Command{
		Use: "migrate", Short: "Bring a store's schema up to date, or to a version",
		Long: "Moves the schema of the store that --store names to the newest version, or to the one given with --to,\n" +
			"one transaction per step. Going down asks for the store's name to be typed (without a terminal: --confirm NAME)\n" +
			"and is refused where it would remove items, or where a request holds an item of the store. In production the\n" +
			"number of the store's items is asked for too (--confirm-count). Version 0 is no schema at all. --show changes nothing.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			newest := !cmd.Flags().Changed("to")
			if to < 0 {
				return usage("--to takes a version, 0 or more")
			}
			s, store, err := a.onlyStore(cmd.Context(), "the one to migrate")
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
			if newest {
				to = before.Latest
			}
			if err := s.Allow(cmd.Context(), operator.Migrate, store.Name, ""); err != nil {
				return err
			}
			given := ""
			if cmd.Flags().Changed("confirm-count") {
				given = strconv.FormatInt(count, 10)
			}
			switch {
			case to == before.Current:
				a.sayf("the schema of %s is at version %d already", store.Name, to)
				return a.printSchema(store.Name, before, nil)
			case to < before.Current:
				err = a.confirmDown(cmd.Context(), named, given, store, before, to)
			default:
				err = a.confirm(cmd.Context(), fmt.Sprintf("migrate %s from schema %d to %d?", store.Name, before.Current, to))
			}
			if err != nil {
				return err
			}
			after, err := s.Migrate(cmd.Context(), store.Name, to)
			return a.printSchema(store.Name, after, err)
		},
	}
	f := c.Flags()
	f.IntVar(&to, "to", 0, "the `VERSION` to move to (default: the newest)")
	f.BoolVar(&show, "show", false, "only show where the schema stands")
	f.StringVar(&named, "confirm", "", "the store's `NAME`, to confirm a downgrade without a terminal")
	f.Int64Var(&count, "confirm-count", 0, "the `NUMBER` of the store's items, to confirm a downgrade in production without a terminal")
	return a.asksUnless(c, "do not ask before an upgrade")
}

// confirmDown asks for the store's name, because a migration down cannot be undone, and in production for the number
// of its items, as an erasure of a large part of a store does.
func (a *app) confirmDown(ctx context.Context, named, count string, s model.Store, at model.SchemaState, to int) error {
	q := fmt.Sprintf("migrate %s DOWN from schema %d to %d? What the newer schema holds is lost, and nothing is kept for undo.", s.Name, at.Current, to)
	if at.Removes(to) {
		q += " This removes the place of all its items."
	}
	if s.Environment != "" {
		q += " Environment: " + s.Environment + "."
	}
	err := a.typed(ctx, named, s.Name, "the name of the store", q+" Type the store's name to go on: ",
		usage("going down cannot be undone: without a terminal to type the store's name on, give --confirm %s", s.Name))
	if err != nil || !strings.EqualFold(s.Environment, "production") {
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
	n := strconv.FormatInt(items, 10)
	return a.typed(ctx, count, n, fmt.Sprintf("the number of items in %s, which is %s", s.Name, n), fmt.Sprintf("%s is production and holds %s items. Type that number to go on: ", s.Name, n),
		usage("%s is production: give --confirm-count with the number of its items (`memdesk tiers -s %s`)", s.Name, s.Name))
}

// typed asks for a word, unless a flag has given it, and refuses another one; is says what the word is.
func (a *app) typed(ctx context.Context, given, word, is, question string, unasked error) (err error) {
	if given == "" {
		if given, err = a.askLine(ctx, question, unasked); err != nil {
			return err
		}
	}
	if strings.TrimSpace(given) != word {
		return &exitError{exitRefused, fmt.Errorf("not done: %q is not %s", given, is)}
	}
	return nil
}

type stepRow struct {
	Store   string `json:"store"`
	Version int    `json:"version"`
	What    string `json:"what"`
	Applied bool   `json:"applied"`
}

type schemaRow struct {
	Store   string `json:"store"`
	Current int    `json:"current"`
	Latest  int    `json:"latest"`
}

func (a *app) printSchema(store string, s model.SchemaState, err error) error {
	if err != nil {
		return err
	}
	putAll(a.table("VERSION", "APPLIED", "WHAT"), "step", s.Steps, func(step model.SchemaStep) stepRow {
		return stepRow{store, step.Version, step.What, step.Applied}
	})
	a.emit("schema", schemaRow{store, s.Current, s.Latest})
	return nil
}

type reindexedRow struct {
	Store string `json:"store"`
	Items int64  `json:"items"`
}

func (a *app) reindexCommand() *cobra.Command {
	tier := ""
	c := &cobra.Command{
		Use: "reindex", Short: "Build the search index of a store anew",
		Long: "Builds anew what a store derives from its items: the index of words of a PostgreSQL store, or of a SQLite\n" +
			"store that memdesk created, with its totals. `memdesk health` says where that is needed. No item changes.\n" +
			"Searches use the old index until the new one is whole; writers of a PostgreSQL store wait meanwhile.\n" +
			"Every open store that has an index is asked; --store names one.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			asked := a.having(s, func(store model.Store) bool { return store.Reindexer != nil })
			if len(asked) == 0 {
				return model.Errorf(model.Unsupported, "reindex", "no open store has an index to build")
			}
			names := strings.Join(mapped(asked, func(m backends.Member) string { return m.Name }), ", ")
			if err := a.agree(ctx, operator.Reindex, "", "build the index of "+names+" anew?"); err != nil {
				return err
			}
			t := tally{app: a}
			t.each(asked, func(store model.Store) error {
				n, err := s.Reindex(ctx, store.Name, tier)
				if err == nil {
					a.result("reindexed", reindexedRow{store.Name, n}, "%s: %s in the new index", store.Name, plural(n, "item"))
				}
				return err
			})
			return t.result()
		}),
	}
	c.Flags().StringVar(&tier, "tier", "", "only this derived `TIER`; the only one is words")
	return a.asks(c)
}

// repairCommand sets aside items that break the store's own program.
func (a *app) repairCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "repair STORE", Short: "Set aside what the store's own program cannot read",
		Long: "Moves items that the program which owns the store cannot read into a file beside the store. One broken line of a\n" +
			"memory.jsonl makes every tool of the memory server fail. Nothing is lost: the file keeps the bytes, and `memdesk undo`\n" +
			"puts them back. Nothing to do is no error.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error {
			store, err := a.openStore(args[0])
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
			if err := a.agree(ctx, operator.Repair, store.Name, "move "+plural(int64(len(ids)), "line")+" of "+store.Name+" into a file beside it?"); err != nil {
				return err
			}
			file, done, err := s.Repair(ctx, store.Name, ids)
			if err == nil {
				a.repaired(store.Name, file, done)
			} else if file != "" {
				err = fmt.Errorf("%w; the bytes of these lines are in %s too", err, file)
			}
			return err
		}),
	}
	return a.asks(c)
}

// repairRow is what a repair set aside.
type repairRow struct {
	Store string  `json:"store"`
	Aside *string `json:"aside"` // the file
	Lines int64   `json:"lines"`
	Undo  *string `json:"undo"`
}

func (a *app) repaired(store, file string, done operator.Done) {
	words := "nothing to repair"
	if done.Removed > 0 {
		words = plural(done.Removed, "line") + " moved to " + strings.TrimSpace(file)
	}
	a.result("repair", repairRow{store, nilIfEmpty(file), done.Removed, nilIfEmpty(done.Undo)}, "%s: %s", store, words)
	a.sayUndo(done)
}

// stateRow is the state directory after a migration.
type stateRow struct {
	State string `json:"state"`
	From  int    `json:"from"`
	To    int    `json:"to"`
}

func (a *app) stateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "migrate", Short: "Bring the state directory to the format of this version",
		Long: "Brings state that an older version wrote to this version's format, and records it in the audit log. Older\n" +
			"state is read and not written before. State of a newer version is refused: use that version. Stop servers\n" +
			"and consoles first, and keep a copy of the directory that `memdesk info` names: there is no way back.",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
			if older, err := statedir.Older(s.State); err == nil && older { // else there is nothing to ask about
				if err := a.agree(ctx, operator.MigrateState, "", "Migrate the state directory? There is no way back."); err != nil {
					return err
				}
			}
			from, to, err := s.MigrateState(ctx)
			if err != nil {
				return err
			}
			words := a.text.Sprintf("the state directory has format %d; it had %d", to, from)
			if from == to {
				words = a.text.Sprintf("the state directory has format %d: nothing to migrate", to)
			}
			a.result("state", stateRow{s.State, from, to}, "%s", words)
			return nil
		}),
	}
	return group("state", "The directory of audit log, requests, undo and keys", a.asks(c))
}
