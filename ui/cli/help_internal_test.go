package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"memdesk/internal/clock"
)

// TestFlagsNameTheirValues: the help of a flag must name its value as its sentence does, and not by a type of Go.
func TestFlagsNameTheirValues(t *testing.T) {
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			seen++
			switch name, _ := pflag.UnquoteUsage(f); name {
			case "string", "strings", "stringArray", "int", "ints", "float", "duration", "value":
				t.Errorf("%s --%s takes a %s", c.CommandPath(), f.Name, name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&app{Program: Program{Clock: clock.System{}}}).root())
	if seen < 100 {
		t.Errorf("only %d flags were looked at", seen)
	}
}

// TestExamplesAreBrokenAtFlags: a long example stays one command for a shell, and each of its lines fits where it can.
func TestExamplesAreBrokenAtFlags(t *testing.T) {
	broke := 0
	for line := range strings.Lines(examples) {
		line = "  " + strings.TrimSpace(line)
		got := broken(line, 80)
		if joined := strings.ReplaceAll(got, "\\\n      ", ""); strings.Join(strings.Fields(joined), " ") != strings.Join(strings.Fields(line), " ") {
			t.Errorf("%q became %q", line, got)
		}
		if len(line) <= 80 && got != line {
			t.Errorf("%q fits, and became %q", line, got)
		}
		broke += strings.Count(got, "\\\n")
		for part := range strings.SplitSeq(got, "\n") {
			if flags := strings.Count(strings.TrimSpace(part), " --"); len(part) > 80 && flags > 0 {
				t.Errorf("%d columns: %q", len(part), part)
			}
		}
	}
	if broke == 0 {
		t.Error("no example is long")
	}
}
