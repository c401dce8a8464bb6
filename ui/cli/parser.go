package cli

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memdesk/operator"
)

// farthest is the edit distance up to which a word is suggested.
const farthest = 2

// noCommand refuses an unknown command and suggests near ones.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = farthest
	meant := ""
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage("unknown command %q for %q%s", args[0], c.CommandPath(), meant)
}

// usageArgs checks the arguments of every command below c by its usage line. A group without a command
// prints its help; an unknown command in a group gets suggestions.
func usageArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
	if c.HasSubCommands() {
		c.Args = noCommand
		if c.RunE == nil {
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		return
	}
	check := c.Args
	if check == nil {
		check = cobra.RangeArgs(arity(c.Use))
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		if check(cmd, args) == nil {
			return nil
		}
		return usage("%s given; write it as: %s", plural(int64(len(args)), "argument"), cmd.UseLine())
	}
}

// strictHelp refuses the help of a command that is not there.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error {
		c, rest, err := root.Find(args)
		if err != nil {
			return err
		}
		return noCommand(c, rest)
	}
}

// arity derives the number of arguments from a usage line: REF is one, [REF] one or none, REF... one or more.
// Arguments precede flags and alternatives in parentheses.
func arity(use string) (least, most int) {
	for _, word := range strings.Fields(use)[1:] {
		switch {
		case strings.HasPrefix(word, "(") || strings.Contains(word, "--"):
			return least, most
		case strings.HasPrefix(word, "["):
			most++
		case strings.HasSuffix(word, "..."):
			return least + 1, math.MaxInt
		default:
			least, most = least+1, most+1
		}
	}
	return least, most
}

// group declares a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short}
	c.AddCommand(commands...)
	return c
}

// flagError words an error of a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var own *exitError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			return usage("unknown flag -%s in -%s; see %s --help", name, short, c.CommandPath())
		}
		meant := ""
		if near := nearestFlags(c, name); len(near) > 0 {
			meant = "; did you mean --" + strings.Join(near, " or --") + "?"
		}
		return usage("unknown flag --%s for %q%s", name, c.CommandPath(), meant)
	case errors.As(err, &value):
		return usage("--%s takes %s, not %q", value.GetFlag().Name, takes(value.GetFlag()), value.GetValue())
	case errors.As(err, &missing):
		return usage("--%s needs a value: %s", missing.GetFlag().Name, takes(missing.GetFlag()))
	}
	return &exitError{exitUsage, err}
}

// alone refuses the command's own flags beside a flag that they would not change, save those that go with it.
func alone(c *cobra.Command, flag string, with ...string) (err error) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != flag && !slices.Contains(with, f.Name) && err == nil {
			err = usage("--%s does not go with --%s", f.Name, flag)
		}
	})
	return err
}

// timeVar adds a flag for a time, as operator.ParseTime reads it; empty is the zero time.
func (a *app) timeVar(fl *pflag.FlagSet, to *time.Time, name, about string) {
	fl.Func(name, about, func(text string) (err error) {
		if *to = (time.Time{}); text == "" {
			return nil
		}
		if *to, err = operator.ParseTime(name, text, a.Clock.Now()); err != nil {
			return usage("%v", err)
		}
		return nil
	})
}

// takes describes the value of a flag.
func takes(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "uint", "uint64", "count":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 10s or 2h"
	case "bool":
		return "true or false"
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// nearestFlags suggests flags for a misspelt name, as cobra suggests commands.
func nearestFlags(c *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: farthest}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	return flags.SuggestionsFor(name)
}
