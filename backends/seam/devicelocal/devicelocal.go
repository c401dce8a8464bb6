// Package devicelocal opens the memory that AgentM keeps on one device outside any
// vault: a plain directory of notes, made by the first write.
package devicelocal

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"

	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/notes"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name under which the backend is registered.
const Kind = "devicelocal"

// Config says which memory to open.
type Config struct {
	Name string
	// Path is the root; empty means DefaultPath.
	Path     string
	ReadOnly bool
	// SearchOnly: as backends.Env has it.
	SearchOnly bool
	Clock      clock.Clock              // nil means the system's
	Env        func(name string) string // nil means an empty environment
	// Fault lets a test fail a step of a write; nil otherwise.
	Fault seam.Fault
}

// DefaultPath is $AGENTM_DEVICE_LOCAL_ROOT, else ~/.agentm/memory; empty when neither is known.
func DefaultPath(env func(string) string) string {
	if p := env("AGENTM_DEVICE_LOCAL_ROOT"); p != "" {
		return p
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".agentm", "memory")
	}
	return ""
}

// Open opens the memory for reading; a missing root is an empty store that the
// first write makes. InvalidInput for a file in its place.
func Open(ctx context.Context, cfg Config) (model.Store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return model.Store{}, err
	}
	if cfg.Path == "" && cfg.Env != nil {
		cfg.Path = DefaultPath(cfg.Env)
	}
	if cfg.Path == "" {
		return model.Store{}, model.Errorf(model.InvalidInput, "open", "no root can be told: give path, or set AGENTM_DEVICE_LOCAL_ROOT or HOME")
	}
	tree, err := Tree(cfg)
	if err != nil {
		return model.Store{}, err
	}
	return notes.Open(ctx, notes.Config{
		Name: cfg.Name, Kind: Kind, Path: cfg.Path, Tree: tree, Virgin: true, ReadOnly: cfg.ReadOnly,
		Features: tree.Capabilities().Features(), Clock: cfg.Clock,
		Outside: places(cfg.Env), Known: notes.KnownFile(cfg.Path, cfg.Env), SearchOnly: cfg.SearchOnly,
		Notes: []string{
			"forget unlinks the file; AgentM's own memory_forget only marks it as deleted and keeps the text",
			"conflict strategy: " + tree.ConflictStrategy(),
		},
	})
}

// Tree is the member as the published seam sees it: all four flags false, strategy
// none (S20).
func Tree(cfg Config) (*seam.Dir, error) {
	return seam.OpenDir(cfg.Path, seam.DirOptions{
		CreateRoot: true, RootMode: 0o755, FileMode: newFile, Clock: cfg.Clock, Fault: cfg.Fault,
	})
}

// newFile is the mode of a new note, as 0666 less the usual umask.
const newFile fs.FileMode = 0o644

// places are AgentM's own directories, without those inside the memory itself.
func places(env func(string) string) []notes.OutsideDir {
	return slices.DeleteFunc(notes.AgentMPlaces(env), func(p notes.OutsideDir) bool { return p.Prefix == "(device)/_meta" })
}
