package cli

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"
)

// helpColumns is the width of help where the terminal is wider or unknown.
const helpColumns = 100

// help prints a command's help, wrapped at the terminal's width.
func (a *app) help(c *cobra.Command, _ []string) {
	addExamples(c.Root())
	width := min(cmp.Or(a.columns(), helpColumns), helpColumns)
	heading := func(s string) string { return "\n" + s + "\n" }
	if a.Terminal(a.Stdout) && !a.flags.plain && !a.flags.noColor && a.Env("NO_COLOR") == "" && a.Env("TERM") != "dumb" {
		bold := lipgloss.NewStyle().Bold(true)
		heading = func(s string) string { return "\n" + bold.Render(s) + "\n" }
	}
	var b strings.Builder
	put := func(first, indent, text string) { b.WriteString(first + wrap(a.text.Line(text), indent, width) + "\n") }
	if long := cmp.Or(c.Long, c.Short); strings.Contains(long, "\n\n") { // cobra's own, with commands on lines of their own
		b.WriteString(strings.TrimSpace(long) + "\n")
	} else {
		put("", "", strings.ReplaceAll(long, "\n", " "))
	}
	b.WriteString(heading("Usage"))
	if c.Runnable() {
		put("  ", "    ", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " [command]\n")
	}
	if c.Example != "" {
		b.WriteString(heading("Examples"))
		for line := range strings.SplitSeq(strings.TrimRight(c.Example, "\n"), "\n") {
			b.WriteString(broken(line, width) + "\n")
		}
	}
	list := func(title, group string) {
		commands := slices.DeleteFunc(slices.Clone(c.Commands()), func(s *cobra.Command) bool { return s.GroupID != group || !s.IsAvailableCommand() })
		if len(commands) == 0 {
			return
		}
		b.WriteString(heading(title))
		for _, s := range commands {
			name := "  " + s.Name() + strings.Repeat(" ", max(c.NamePadding()-len(s.Name()), 0)+2)
			put(name, strings.Repeat(" ", len(name)), s.Short)
		}
	}
	for _, g := range c.Groups() {
		list(g.Title, g.ID)
	}
	list("Commands", "")
	if c.HasAvailableLocalFlags() {
		b.WriteString(heading("Flags") + c.LocalFlags().FlagUsagesWrapped(width))
	}
	if c.HasParent() {
		b.WriteString("\n`memdesk --help` lists the flags of every command.\n")
	}
	_, _ = a.out.WriteString(b.String())
}

// broken is an example in lines that a shell takes as one, each before a flag.
func broken(line string, width int) string {
	call, comment, _ := strings.Cut(line, "  # ")
	if comment != "" && len(line) > width { // nothing to align with
		line = strings.TrimRight(call, " ") + "  # " + comment
	}
	out := ""
	for i, part := range strings.SplitAfter(line, " --") {
		if i > 0 && len(line) > width && len(out)-strings.LastIndex(out, "\n")+len(part) > width-len(" \\") {
			out = strings.TrimSuffix(out, "--") + "\\\n      --"
		}
		out += part
	}
	return out
}

//go:embed examples.txt
var examples string

// addExamples gives each command its example lines.
func addExamples(root *cobra.Command) {
	for line := range strings.Lines(examples) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		_, call, _ := strings.Cut(line, "memdesk ") // in a pipe too
		c, _, err := root.Find(strings.Fields(call))
		if err != nil {
			c = root
		}
		c.Example = strings.TrimPrefix(c.Example+"\n  "+line, "\n")
	}
}
