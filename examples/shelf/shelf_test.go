package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/model"
	"memdesk/ui/cli"
)

// The conformance suite proves that a backend keeps the contract.
func TestProvider(t *testing.T) {
	backendtest.Run(t, backendtest.Harness{
		Open:         func(*testing.T) model.Store { return newShelf("a shelf", 4000) },
		BrokenReason: "memory does not break",
	})
}

// A foreign kind must have its own keys, and every part of the program must know it.
func TestAKindOfOnesOwn(t *testing.T) {
	reg, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(config string, args ...string) (code int, out string) {
		file := filepath.Join(dir, "config.toml")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		var both bytes.Buffer
		p := cli.NewProgram(reg)
		p.Args, p.Stdin, p.Stdout, p.Stderr, p.Dir = append([]string{"--config", file}, args...), strings.NewReader("a note\n"), &both, &both, dir
		p.Env = func(k string) string {
			return map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state")}[k]
		}
		return p.Run(t.Context()), both.String()
	}
	const block = "[[store]]\nkind = \"shelf\"\nname = \"books\"\nshelf = \"kitchen\"\nnote_bytes = 8\n"
	for _, tt := range []struct {
		name, config string
		args         string
		code         int
		says         []string
	}{
		{"listed", block, "stores", 0, []string{"books", "shelf", "kitchen"}},
		{"default", "[[store]]\nkind = \"shelf\"\n", "stores", 0, []string{"hall"}},
		{"healthy", block, "health", 0, []string{"books", "ok"}},
		{"written", block, "retain --tier notes --key a --mode replace --yes", 0, nil},
		{"its key counts", block, "retain --tier notes --key a --mode append --if-match absent --yes", 0, nil},
		{"recorded", block, "audit list", 0, []string{"retain", "books"}},
		{"another type", strings.Replace(block, "8", "\"8\"", 1), "stores", 2, []string{"config.toml:5:1", "note_bytes wants a whole number"}},
		{"another kind's key", strings.Replace(block, "\"shelf\"", "\"inmem\"", 1), "stores", 2, []string{"config.toml:5:1", "kind inmem takes no key"}},
		{"nobody's key", block + "colour = 1\n", "stores", 2, []string{"config.toml:6:1", "unknown key store.colour"}},
	} {
		code, out := run(tt.config, strings.Fields(tt.args)...)
		if code != tt.code {
			t.Errorf("%s: exit %d, want %d\n%s", tt.name, code, tt.code, out)
		}
		for _, s := range tt.says {
			if !strings.Contains(out, s) {
				t.Errorf("%s: %q is missing:\n%s", tt.name, s, out)
			}
		}
	}
	if code, out := run(strings.Replace(block, "= 8", "= 3", 1), "retain", "--tier", "notes", "--key", "a", "--mode", "replace", "--yes"); code != 2 || !strings.Contains(out, "1 to 3 bytes") {
		t.Errorf("exit %d: %s", code, out)
	}
}
