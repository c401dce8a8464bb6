package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"memdesk/internal/clock"
)

// TestExamples: every command must have an example that uses only its own flags and arguments.
func TestExamples(t *testing.T) {
	root := (&app{Program: Program{Clock: clock.System{}}}).root()
	addExamples(root)
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
				each(sub)
			}
		}
		if !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			_, call, ok := strings.Cut(strings.TrimSpace(line), "memdesk ")
			call = regexp.MustCompile(`\s+#.*| [|>] .*`).ReplaceAllString(call, "")
			words, err := exec.Command("sh", "-c", `printf '%s\n' `+call).Output()
			if !ok || err != nil {
				t.Fatalf("%s: %q: %v", c.CommandPath(), line, err)
			}
			called, rest, err := root.Find(strings.Split(strings.TrimSpace(string(words)), "\n"))
			if err != nil || called != c && c != root {
				t.Errorf("%q calls %v, not %s: %v", line, called, c.CommandPath(), err)
				continue
			}
			if err := called.ParseFlags(rest); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			if err := called.ValidateArgs(called.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	each(root)
}
