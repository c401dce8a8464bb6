// Package notes makes a store of a directory of markdown notes in AgentM's layout: its items, tiers and
// lists, its search, its writes. The given tree keeps foreign writers out of a change.
package notes

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine"
)

// Config describes a member.
type Config struct {
	Name, Kind string
	// Path is the directory from which ids start.
	Path string
	// Memory is the key of the memory root below Path, where the agent saves; empty
	// when both are one.
	Memory string
	// Tree makes every change; its root is Path.
	Tree *seam.Dir
	// Virgin: a Path that was never there is an empty store, made by the first write.
	Virgin   bool
	ReadOnly bool
	// Unknown says why the layout's version is unknown, so that the store is read-only; empty: it is known.
	Unknown    string
	Features   map[string]bool
	Deviations []model.Deviation
	Notes      []string
	Clock      clock.Clock
	// Status asks a process beside the directory, such as a daemon, within the context; empty when all is
	// well. nil: there is none.
	Status func(ctx context.Context) []model.HealthFinding
	// Outside are AgentM's places beyond the directory that hold text of its notes.
	Outside []OutsideDir
	// Layout is another program's; nil is AgentM's.
	Layout *Layout
	// SearchOnly: only a Recall over every tier follows, so Open need not read the kinds that become tiers.
	SearchOnly bool
	// Known is the file that keeps the classes of notes between processes (KnownFile); empty: none is kept.
	Known string
}

// store is the backend behind every facet of one opened store.
type store struct {
	cfg    Config
	clock  clock.Clock
	reason declared.ReadOnly
	tiers  []model.TierSpec
	health vitals.Gate
	facts  *texts.Memory
	seen   atomic.Bool // its directory was there: it is not Virgin any more

	mu        sync.Mutex
	snap      *snapshot
	changes   int64 // made by this process
	labels    *labels
	resident  walk.Resident
	displaced []model.StoreConflict
}

// Open makes the store; it reads the front matter of every note, unless SearchOnly makes that needless, and
// creates nothing.
func Open(ctx context.Context, cfg Config) (model.Store, error) {
	s := &store{cfg: cfg, clock: clock.Or(cfg.Clock), labels: newLabels()}
	s.facts = texts.NewMemory(s.examine)
	snap := &snapshot{labels: s.labels}
	if root, err := s.open("open"); err != nil {
		return model.Store{}, err
	} else if root != nil {
		_ = root.Close()
	}
	if !cfg.SearchOnly {
		var err error
		if snap, err = s.walk(ctx, nil, false, nil); err != nil {
			return model.Store{}, err
		}
	}
	if s.tiers = declare(s.labels.kinds()); cfg.Layout != nil {
		s.tiers = cfg.Layout.Tiers
	}
	if !cfg.SearchOnly {
		s.place(snap)
		s.remember(snap)
		s.snap = snap
	}
	s.reason = declared.ReadOnly(s.readOnlyReason())
	return s.value(snap), nil
}

func (s *store) value(snap *snapshot) model.Store {
	out := model.Store{
		Name: s.cfg.Name, Kind: s.cfg.Kind, Location: s.cfg.Path, Scanner: quarantine.NotesRules,
		ReadOnly: s.reason != "", ReadOnlyReason: string(s.reason),
		Tiers:  s.tiers,
		Orders: []model.Order{model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest},
		Deviations: append([]model.Deviation{{
			Rule:   "R33",
			Reason: "files carry no data-subject key; erase item by item",
		}}, s.cfg.Deviations...),
		Features: withBinary(s.cfg.Features),
		Notes:    append([]string{}, s.cfg.Notes...),
		Provider: s, Browser: s, Names: s, Texts: s, Conflicts: s, Maintainer: s, Watcher: s,
		Address: s.address, Keep: s.keep, Closer: s.resident.Close,
	}
	if l := s.cfg.Layout; l != nil && l.Beside != nil {
		out.Beside, out.Rewrites = l.Beside, l.Rewrites
	}
	for _, p := range snap.problems() {
		out.Notes = append(out.Notes, "not shown: "+p)
	}
	return out
}

// withBinary adds that Retain takes any bytes, so that files other than text can be moved and restored.
func withBinary(features map[string]bool) map[string]bool {
	out := map[string]bool{"binary": true}
	maps.Copy(out, features)
	return out
}

// readOnlyReason is empty for a store that can be written.
func (s *store) readOnlyReason() string {
	if s.cfg.ReadOnly {
		return "its configuration says read_only"
	}
	if s.cfg.Unknown != "" {
		return s.cfg.Unknown
	}
	return vitals.Unwritable(s.cfg.Path)
}

// open returns nil without an error for a root that the first write will make.
func (s *store) open(op string) (*rootdir.Dir, error) {
	root, err := rootdir.Open(s.cfg.Path, nil)
	switch {
	case err == nil:
		s.seen.Store(true)
		return root, nil
	case errors.Is(err, model.NotFound) && s.virgin():
		return nil, nil
	case errors.Is(err, model.NotFound):
		return nil, model.Errorf(model.Unavailable, op, "its directory is gone; mount it or correct its path")
	}
	return nil, err
}

// virgin reports whether a missing directory is an empty store.
func (s *store) virgin() bool { return s.cfg.Virgin && !s.seen.Load() }
