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
		_, call, _ := strings.Cut(line, "memdesk ") // in a pipe too
		c, _, err := root.Find(strings.Fields(call))
		if err != nil {
			c = root
		}
		c.Example = strings.TrimPrefix(c.Example+"\n  "+line, "\n")
	}
}
