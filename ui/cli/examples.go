package cli

import (
	_ "embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed examples.txt
var examples string

// addExamples gives each command its example lines.
func addExamples(root *cobra.Command) {
	for line := range strings.Lines(examples) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := exampleOf(root, line)
		c.Example = strings.TrimPrefix(c.Example+"\n  "+line, "\n")
	}
}

// exampleOf is the command of an example line, in a pipe too.
func exampleOf(root *cobra.Command, line string) *cobra.Command {
	_, call, _ := strings.Cut(line, "memdesk ")
	c, _, err := root.Find(strings.Fields(call))
	if err != nil {
		return root
	}
	return c
}
