package cli_test

import (
	"strings"
	"testing"
)

// TestQuiet: -q must leave out the messages, but no data and no errors.
func TestQuiet(t *testing.T) {
	d := newDesk(t)
	if r := d.run("-q", "forget", "crewship:AGENT.md", "--yes").want(t, 0, "removed 1"); r.err != "" {
		t.Errorf("talk: %q", r.err)
	}
	d.run("--quiet", "show", "crewship:AGENT.md").want(t, 4, "memdesk: ")
}

// TestHealthSaysHowManyServe: the last line must count the stores and name those that are down.
func TestHealthSaysHowManyServe(t *testing.T) {
	d := newDesk(t)
	d.run("--open", "vault="+d.dir+"/gone", "health").want(t, 1, "1 of 2 stores up; down: vault")
	d.run("--open", "inmem=", "health").want(t, 0, "2 of 2 stores up")
}

// TestRecallNamesStoresWithoutAHitInOneLine: only stores with hits may have a line of their own.
func TestRecallNamesStoresWithoutAHitInOneLine(t *testing.T) {
	d := newDesk(t)
	r := d.run("--open", "inmem=", "recall", "harbour").want(t, 0)
	if !strings.Contains(r.err, "crewship: 2 hits") || !strings.Contains(r.err, "no hit in 1 store: inmem\n") || strings.Contains(r.err, "0 hits") {
		t.Errorf("talk: %q", r.err)
	}
}
