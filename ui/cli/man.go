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
			addExamples(root)
			page := fmt.Sprintf(".TH MEMDESK 1 \"\" \"memdesk %s\"\n.SH NAME\nmemdesk \\- %s\n.SH SYNOPSIS\n.B memdesk\n[COMMAND] [ARGUMENT...] [OPTION...]\n", troff(a.Version), troff(root.Short)) +
				".SH DESCRIPTION\n" + troff(root.Long) + "\n" + asIs(root.Example) + ".SH OPTIONS OF EVERY COMMAND\n" + asIs(root.PersistentFlags().FlagUsagesWrapped(manColumns)) + ".SH COMMANDS\n"
			_, err := a.out.WriteString(page + manOf(root) + manEnd())
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
		flags := sub.LocalFlags() // merges the parents' flags, which the usage line counts
		fmt.Fprintf(&b, ".SS %s\n%s\n%s%s", troff(sub.UseLine()), troff(cmp.Or(sub.Long, sub.Short+".")),
			asIs(flags.FlagUsagesWrapped(manColumns)), asIs(sub.Example))
		b.WriteString(manOf(sub))
	}
	return b.String()
}

// variables of the environment, for the manual and docs/scripting.md: a person sets them, or they decide who acts and
// where stores lie.
var variables = [][2]string{
	{"MEMDESK_CONFIG", "the configuration file, where --config names none"},
	{"MEMDESK_ROLE", "operator or reader: what this session may do; an SSH server sets it from the key's line"},
	{"XDG_CONFIG_HOME, XDG_STATE_HOME", "where configuration and state lie, below memdesk"},
	{"XDG_CACHE_HOME", "where AgentM's locks are, below agentm; memdesk keeps no cache"},
	{"VISUAL, EDITOR", "the editor of the console"},
	{"NO_COLOR", "no colours, where it is set"},
	{"TERM, LC_ALL, LC_CTYPE, LANG", "what the terminal can show"},
	{"SSH_AUTH_SOCK", "the SSH agent whose keys sign"},
	{"SSH_USER_AUTH", "the file in which an SSH server names the key that signed in"},
	{"SSH_CONNECTION, SSH_CLIENT, SSH_TTY", "a login over SSH: a viewer, where the configuration gives roles to people and none to this one"},
	{"MEMORY_VAULT_PATH, AGENTM_INSTALL_PREFIX, AGENTM_DEVICE_LOCAL_ROOT, CREWSHIP_DATA_DIR, CLAUDE_CONFIG_DIR, CODEX_HOME, OPENCLAW_STATE_DIR, MEMORY_FILE_PATH, ENGRAM_DATA_DIR", "where stores are looked for without a configuration"},
	{"AGENTM_STATE_DIR", "AgentM's own state, where what is left of a deleted note is looked for"},
	{"FOOLERY_BACKEND", "knots or beads: which of the two is taken where both are found"},
	{"KNOTS_BIN, KNOTS_DB_PATH", "the program of knots, and its database"},
}

// manEnd describes the environment and the exit codes.
func manEnd() string {
	var b strings.Builder
	b.WriteString(".SH ENVIRONMENT\n")
	for _, v := range variables {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", troff(v[0]), troff(v[1]))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for code, means := range exitCodes {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, troff(means))
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
