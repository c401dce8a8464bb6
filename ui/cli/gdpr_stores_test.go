package cli_test

import (
	"strings"
	"testing"
)

// An erasure must cover all stores: its receipt would not name those left out. Without stores in the configuration
// --open names all there are.
func TestAnErasureIsOverAllStores(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"gdpr", "plan", "er-20260101-00000000"}, {"gdpr", "sweep", "--yes"}, {"gdpr", "list"}} {
		out := d.run(append([]string{"--store", "any"}, args...)...).want(t, 2)
		if !strings.Contains(string(out.err), "leave --store and --open out") {
			t.Errorf("%q: %s", args, out.err)
		}
	}
	configured := []string{"--config", d.file("config.toml", "[[store]]\nkind = \"crewship\"\npath = \""+d.mem+"\"\n"), "--open", "inmem="}
	for _, args := range [][]string{{"gdpr", "plan", "er-20260101-00000000"}, {"gdpr", "list"}, {"quarantine", "rescan", "--apply"}} {
		out := d.bare(append(configured, args...)...).want(t, 2)
		if !strings.Contains(string(out.err), "leave --store and --open out") {
			t.Errorf("%q: %s", args, out.err)
		}
	}
	d.bare("--config", d.file("empty.toml", ""), "--open", "inmem=", "gdpr", "list").want(t, 0)
}
