package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/gdpr"
	"memdesk/gdpr/papers"
	"memdesk/operator"
)

func (a *app) gdprDueCommand() *cobra.Command {
	within := 7
	c := &cobra.Command{
		Use: "due [--within DAYS]", Short: "Requests whose deadline is near or over; exit 3 when there are any",
		RunE: func(*cobra.Command, []string) error {
			d, err := a.desk()
			if err != nil {
				return err
			}
			if within < 0 {
				return usage("--within is a number of days from 0")
			}
			all, err := d.DueWithin(within)
			if err != nil {
				return err
			}
			tab := a.table("REQUEST", "STATE", "DEADLINE", "DUE")
			for _, r := range all {
				tab.put(dueRow{requestRow{r}})
			}
			tab.flush()
			if len(all) > 0 {
				return &exitError{code: exitPartial}
			}
			if !a.flags.json {
				a.sayf("nothing is due within %s", plural(int64(within), "day"))
			}
			return nil
		},
	}
	c.Flags().IntVar(&within, "within", within, "the number of `DAYS` from today")
	return c
}

// dueRow is a request whose deadline is near or over.
type dueRow struct{ requestRow }

func (dueRow) kind() string { return "due" }

func (r dueRow) cells() []any { return r.requestRow.cells()[:4] }

func (a *app) gdprLetterCommand() *cobra.Command {
	kind, lang := "", "en"
	c := &cobra.Command{
		Use: "letter REQUEST --kind received|extension|refused|done --lang en|de", Short: "A letter to the person, as Markdown",
		Long: "Prints a letter in plain words to be addressed and signed by hand: it holds no name. A template of your own goes\n" +
			"before the built-in one: gdpr/letters/KIND.LANG.md in the state directory (`memdesk info` names it).",
		Example: "  memdesk gdpr letter er-20260131-0a1b2c3d --kind received --lang de >letter.md",
		RunE: a.onRequest("", func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			text, err := d.Letter(ctx, r.ID, kind, lang)
			if err != nil {
				return err
			}
			if a.flags.json {
				a.emit("letter", row{"request": r.ID, "kind": kind, "lang": lang, "text": text})
			} else {
				a.body(text)
			}
			return nil
		}),
	}
	c.Flags().StringVar(&kind, "kind", "", "which letter: "+strings.Join(papers.Kinds, ", "))
	c.Flags().StringVar(&lang, "lang", lang, "the language: "+strings.Join(papers.Languages, ", "))
	return c
}

func (a *app) gdprRegisterCommand() *cobra.Command {
	year, asCSV := 0, false
	c := &cobra.Command{
		Use: "register --year YEAR [--csv]", Short: "The register of a year's requests, pseudonymous",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := a.desk()
			if err != nil {
				return err
			}
			if year == 0 {
				year = a.Clock.Now().UTC().Year()
			}
			r, err := d.Register(cmd.Context(), year)
			if err != nil {
				return err
			}
			if a.flags.json {
				for _, e := range r.Entries {
					a.emit("entry", row{"request": e.Request, "person": e.Person, "received": e.Received, "deadline": e.Deadline, "extended": e.Extended, "state": e.State,
						"finished": nilIfEmpty(e.Finished), "days": e.Days, "late": e.Late, "ground": nilIfEmpty(e.Ground), "forgotten": e.Forgotten, "redacted": e.Redacted,
						"held": e.Held, "attested": e.Layers, "exports": e.Exports})
				}
				return nil
			}
			if !asCSV {
				a.body(r.Markdown())
				return nil
			}
			text, err := r.CSV()
			if err == nil {
				_, err = io.WriteString(a.out, text)
			}
			return err
		},
	}
	c.Flags().IntVar(&year, "year", 0, "the `YEAR` in which the requests were received (default this one)")
	c.Flags().BoolVar(&asCSV, "csv", false, "as comma-separated values")
	return c
}

func (a *app) gdprRecipientCommand() *cobra.Command {
	name, told, answered := "", "", ""
	c := a.requestCommand("recipient REQUEST --name NAME (--told YYYY-MM-DD | --answered YYYY-MM-DD)", "Note that a recipient of the data was told of the erasure (Art. 19)",
		"Recipients are the [[recipient]] blocks of the configuration. Receipt and letter name those of the stores in which\nthe person was found, with the days on which they were told and have answered.",
		operator.Tell, func(ctx context.Context, d *operator.Erasures, id string) error {
			return d.Tell(ctx, id, name, told, answered)
		})
	c.Flags().StringVar(&name, "name", "", "the `NAME` of the recipient, as configured")
	c.Flags().StringVar(&told, "told", "", "the `DATE` on which the recipient was told")
	c.Flags().StringVar(&answered, "answered", "", "the `DATE` of the answer")
	return c
}

func (a *app) gdprIdentityCommand() *cobra.Command {
	method, on := "", ""
	c := a.requestCommand("identity REQUEST --method METHOD [--on YYYY-MM-DD]", "Note how you made sure who asks",
		"The receipt names method, day and operator. gdpr pause and gdpr resume stop and start the clock.", operator.Identify,
		func(ctx context.Context, d *operator.Erasures, id string) error {
			return d.Identify(ctx, id, method, on)
		})
	c.Flags().StringVar(&method, "method", "", "how: "+strings.Join(gdpr.IdentityMethods, ", "))
	c.Flags().StringVar(&on, "on", "", "the `DATE` of the check (default today)")
	return c
}

// openDSR takes a request from a file in OpenDSR's JSON; what the flags say goes before.
func (a *app) openDSR(ctx context.Context, file string, in *gdpr.Intake) error {
	if in.Subject != "" {
		return usage("give --subject or --opendsr, not both")
	}
	text, err := a.readInput(ctx, file)
	if err != nil {
		return err
	}
	from, err := gdpr.FromOpenDSR([]byte(text))
	if err != nil {
		return err
	}
	in.Subject, in.OpenDSR, in.Aliases = from.Subject, from.OpenDSR, append(from.Aliases, in.Aliases...)
	if in.Received == "" {
		in.Received = from.Received
	}
	if in.Ground == "" {
		in.Ground = from.Ground
	}
	return nil
}
