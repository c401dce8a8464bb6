package cli

import (
	"strings"
	"testing"
)

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
