package beads

import (
	"cmp"
	"context"
	"os/exec"
	"path/filepath"

	"memdesk/backends/tracker/command"
	"memdesk/model"
)

// installBD is the advice for a missing command.
const installBD = "install beads (https://github.com/steveyegge/beads) or set command; port = \"jsonl\" opens the file instead"

// CLI is a .beads directory behind the bd command, which keeps its data in a database. Every answer is bd's
// JSON; the lines of the JSONL are never touched. bd's content is read from its export, the only answer with
// comments, gates, messages, templates and wisps (beads-foolery-knots.md, The real bd and kno).
//
// bd has no compare-and-swap: an item is read just before it is written, and another program's write can come
// in between.
type CLI struct {
	bd *command.Program
}

// NewCLI makes the backend; it does not run the command yet.
func NewCLI(p command.Program) *CLI {
	p.Install, p.Limit = cmp.Or(p.Install, installBD), cmp.Or(p.Limit, exportLimit)
	return &CLI{bd: command.New(p)}
}

// Close releases nothing.
func (c *CLI) Close() error { return nil }

// Ping checks that the command exists.
func (c *CLI) Ping(ctx context.Context) error { return c.bd.Ping(ctx) }

// cliNotes say what was opened and what a write to it means.
func cliNotes() []string {
	return []string{
		"this is bd's database through the bd command; issues.jsonl is only an export of it and may be older",
		"bd has no compare-and-swap: between the look and the write another program can slip in",
		"a forgotten item stays in Dolt's history, in remotes and in exports until bd flatten, bd compact and bd gc have run",
	}
}

// keeps reports whether bd has a database in the directory: then the JSONL is an export.
func keeps(dir string) bool {
	for _, name := range append([]string{"metadata.json"}, doltDirs...) {
		if matches, err := filepath.Glob(filepath.Join(dir, name)); err == nil && len(matches) > 0 {
			return true
		}
	}
	return false
}

// choose decides the port and says why.
func choose(c Config, dir string) (cli bool, why string, err error) {
	switch c.Port {
	case "", "jsonl":
		return false, "", nil
	case "cli":
		return true, "", nil
	case "auto":
		if _, err := exec.LookPath(cmp.Or(c.Command, "bd")); err != nil {
			return false, "the command bd is not installed, so the JSONL was opened", nil
		}
		if !keeps(dir) {
			return false, "bd is installed but keeps no database here, so the JSONL was opened", nil
		}
		return true, "bd is installed and keeps this store, so its command was opened and not the JSONL", nil
	}
	return false, "", model.Errorf(model.InvalidInput, "open", "port %q: it is auto, cli or jsonl", c.Port)
}
