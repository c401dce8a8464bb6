// Package vault opens an AgentM vault: a directory of notes that agents, an editor and sync tools write at
// the same time. It shares their lock directory and keeps the texts of writers without locks.
package vault

import (
	"context"
	"fmt"
	"path/filepath"

	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/notes"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name under which the backend is registered, and the protocol's
// (provider-contract.md S21).
const Kind = "vault"

// Config says which vault to open.
type Config struct {
	Name string
	// Path is the vault's directory, or the .agentm-config.json that names it.
	Path string
	// MemoryRoot is the memory root, absolute or below the vault; empty: the one that .agentm-config.json
	// names for this vault, else the vault itself.
	MemoryRoot string
	// LockRoot is the base of the shared lock directories; empty: AgentM's own.
	LockRoot string
	ReadOnly bool
	// SearchOnly: as backends.Env has it.
	SearchOnly bool
	Clock      clock.Clock              // nil means the system's
	Env        func(name string) string // nil means an empty environment
	// DaemonURL is the address of AgentM's daemon; empty: loopback at the configured port, "-" asks none.
	DaemonURL string
	// Fault lets a test fail a step of a write; nil otherwise.
	Fault seam.Fault
}

// Open opens a vault for reading; it makes nothing. It refuses every case that the contract calls loud
// (S17): no path, an unreadable configuration, a memory root that is absent or outside.
func Open(ctx context.Context, cfg Config) (model.Store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return model.Store{}, err
	}
	at, err := resolve(cfg)
	if err != nil {
		return model.Store{}, err
	}
	tree, err := at.tree(cfg, at.vault)
	if err != nil {
		return model.Store{}, err
	}
	d := newDaemon(cfg, at)
	store, err := notes.Open(ctx, notes.Config{
		Name: cfg.Name, Kind: Kind, Path: at.vault, Memory: at.below, Tree: tree, ReadOnly: cfg.ReadOnly,
		Features: tree.Capabilities().Features(), Deviations: deviations(), Clock: cfg.Clock,
		Notes: append(append(at.notes, "conflict strategy: "+tree.ConflictStrategy()), d.note(ctx)...), Status: status(d, at.mutex(cfg)),
		Outside: notes.AgentMPlaces(cfg.Env), Known: notes.KnownFile(at.vault, cfg.Env), SearchOnly: cfg.SearchOnly,
	})
	return store, err
}

// tree is the member as the published seam sees it (S21), on one of the roots; its
// changes take the locks of both.
func (r roots) tree(cfg Config, root string) (*seam.Dir, error) {
	m := r.mutex(cfg)
	return seam.OpenDir(root, seam.DirOptions{
		Capabilities: seam.Capabilities{ConcurrentWriters: true, ConflictFiles: true, Sync: true},
		Strategy:     seam.StrategyWholeFile, Guard: m.acquire, Clock: cfg.Clock, Fault: cfg.Fault,
	})
}

func (r roots) mutex(cfg Config) mutex {
	return mutex{base: r.locks, keys: r.lockKeys(), clock: clock.Or(cfg.Clock), pace: protocol}
}

func deviations() []model.Deviation {
	if rootdir.CanExchange {
		return nil
	}
	return []model.Deviation{{
		Rule:   "S21",
		Reason: "this system cannot exchange two files: what a writer without the lock puts there between the last look and the rename is lost",
	}}
}

// describe names both roots, for people.
func (r roots) describe() []string {
	out := []string{fmt.Sprintf("vault %s, memory root %s (%s)", r.vault, r.memory, r.why)}
	if r.locks == "" {
		out = append(out, "no place for AgentM's locks can be told (neither XDG_CACHE_HOME nor HOME is set)")
	}
	return append(out,
		"forget unlinks the file; AgentM's own memory_forget only marks it as deleted and keeps the text",
		"the history that git or a sync service keeps of a file is out of a change's reach")
}

// canonical is an absolute path with its links resolved, the basis of the lock's key.
func canonical(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
