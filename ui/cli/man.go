package cli

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// manCommand prints the manual of all commands for man(1).
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{Use: "man", Short: "Print the manual of all commands, for man(1)", Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root := cmd.Root()
			page := fmt.Sprintf(".TH MEMDESK 1 \"\" \"memdesk %s\"\n.SH NAME\nmemdesk \\- %s\n.SH SYNOPSIS\n.B memdesk\n[COMMAND] [ARGUMENT...] [OPTION...]\n", troff(a.Version), troff(root.Short)) +
				".SH DESCRIPTION\n" + troff(root.Long) + "\n" + asIs(root.Example) + ".SH OPTIONS OF EVERY COMMAND\n" + asIs(root.PersistentFlags().FlagUsagesWrapped(manColumns)) + ".SH COMMANDS\n"
			_, err := a.out.WriteString(page + manOf(root))
			return err
		}}
}

const manColumns = 72

// manOf describes the commands below c.
func manOf(c *cobra.Command) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		if sub.Hidden || slices.Contains([]string{"help", "completion"}, sub.Name()) {
			continue
		}
		fmt.Fprintf(&b, ".SS %s\n%s\n%s%s", troff(sub.UseLine()), troff(cmp.Or(sub.Long, sub.Short+".")),
			asIs(sub.LocalFlags().FlagUsagesWrapped(manColumns)), asIs(sub.Example))
		b.WriteString(manOf(sub))
	}
	return b.String()
}

// asIs is a block whose lines man leaves as they are.
func asIs(text string) string {
	if text == "" {
		return ""
	}
	return ".PP\n.nf\n" + troff(strings.Trim(text, "\n")) + "\n.fi\n"
}

var quoted = regexp.MustCompile("`([^`]+)`")

// troff escapes what would be a request or an escape sequence, and makes what stands in backquotes bold.
func troff(text string) string {
	text = quoted.ReplaceAllString(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), `\fB$1\fR`)
	return strings.ReplaceAll(strings.ReplaceAll("\n"+text, "\n.", "\n\\&."), "\n'", "\n\\&'")[1:]
}
