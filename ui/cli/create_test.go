package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWithoutATerminal: an act that replaces nothing must ask nothing, and a refusal must name its question.
func TestWithoutATerminal(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(d.dir, "notes.db")
	d.bare("create", "sqlite="+path).want(t, 0)
	before, err := os.ReadFile(path)
	must(t, err)
	d.bare("create", "sqlite="+path).want(t, 5, "there already")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("what exists was touched")
	}
	d.run("forget", "crewship:AGENT.md").want(t, 2, "AGENT.md", "--yes")
	r := d.run("gdpr", "request", "--subject", "usr_x", "--alias", "Al", "--received", "2026-01-31", "--ground", "letter").want(t, 2, "--yes")
	if strings.Contains(r.err, "changes memory") || !strings.Contains(r.err, "Al") {
		t.Errorf("a request is asked about as a change of memory: %s", r.err)
	}
}
