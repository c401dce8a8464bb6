// Package demodata writes a believable workspace to try memdesk on: a small
// company's agents over three months, in one store of every embedded family. All
// people, firms and tokens in it are invented. It writes only into the directory
// that it is given.
package demodata

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memdesk/model"
)

// Paths of what Seed writes, relative to its directory.
const (
	CrewshipDir = "crewship"
	GraphFile   = "graph.db"
	VaultDir    = "vault"
	DeviceDir   = "device"
	CuratedDir  = "desk"
	WorkDir     = "work"
	MemoryFile  = "assistant/memory.jsonl"
	ChatFile    = "chats/mastra.db"
	ShopDir     = "shop"
	CoderFile   = "coder/engram.db"
	ProjectDir  = "project/memory"
	ClawDir     = "claw"
	ConfigFile  = "config.toml"
)

// days is how far the company's memory goes back.
const days = 90

// Seed writes the workspace into dir, which must be empty or absent, as it would
// stand at the given moment. The same moment gives the same content. The
// configuration that opens it is written beside it, at ConfigFile.
func Seed(ctx context.Context, dir string, now time.Time) error {
	if err := claim(dir); err != nil {
		return err
	}
	now = now.UTC().Truncate(time.Second)
	if err := seedCrewship(ctx, filepath.Join(dir, CrewshipDir), now); err != nil {
		return fmt.Errorf("seed crewship: %w", err)
	}
	if err := seedGraph(ctx, filepath.Join(dir, GraphFile), now); err != nil {
		return fmt.Errorf("seed graph: %w", err)
	}
	for name, seed := range map[string]func(string, time.Time) error{VaultDir: seedVault, DeviceDir: seedDevice, CuratedDir: seedCurated, WorkDir: seedWork,
		MemoryFile: seedMemoryFile, ChatFile: seedChats, ShopDir: seedPreferences, CoderFile: seedSessions, ProjectDir: seedProject, ClawDir: seedClaw} {
		if err := seed(filepath.Join(dir, filepath.FromSlash(name)), now); err != nil {
			return fmt.Errorf("seed %s: %w", name, err)
		}
	}
	return os.WriteFile(filepath.Join(dir, ConfigFile), []byte(config), 0o600)
}

const config = `# The demonstration workspace of memdesk: ` + "`memdesk --config` this file opens it again;" + `
# XDG_STATE_HOME=DIR/state before it takes the state of the demo in this directory too.
[[store]]
name = "harbor"
kind = "crewship"
path = "crewship"
environment = "demo"

[[store]]
name = "graph"
kind = "sqlite"
path = "graph.db"
environment = "demo"

[[store]]
name = "notes"
kind = "vault"
path = "vault"
lock_root = "locks"
environment = "demo"

[[store]]
name = "device"
kind = "devicelocal"
path = "device"
environment = "demo"

[[store]]
name = "desk"
kind = "curated"
path = "desk/memories"
environment = "demo"

[[store]]
name = "work"
kind = "beads"
path = "work"
environment = "demo"

[[store]]
name = "assistant"
kind = "mcpgraph"
path = "assistant/memory.jsonl"
environment = "demo"

[[store]]
name = "chats"
kind = "mastra"
path = "chats/mastra.db"
environment = "demo"

[[store]]
name = "shop"
kind = "mem0"
path = "shop"
environment = "demo"

[[store]]
name = "coder"
kind = "engram"
path = "coder/engram.db"
environment = "demo"

[[store]]
name = "project"
kind = "claude"
path = "project/memory"
environment = "demo"

[[store]]
name = "claw"
kind = "openclaw"
path = "claw"
environment = "demo"

[[store]]
name = "scratch"
kind = "inmem"
environment = "demo"
`

// claim makes the directory, and refuses one that holds anything: a demo must
// never write over a real store.
func claim(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return os.MkdirAll(dir, 0o700)
	case err != nil:
		return err
	case len(entries) > 0:
		return model.Errorf(model.AlreadyExists, "demo", "%s is not empty: name another directory, or open what is there with --config %s",
			dir, filepath.Join(dir, ConfigFile))
	}
	return nil
}
