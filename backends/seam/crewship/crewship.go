// Package crewship opens the memory that Crewship's agents keep on disk, one .memory directory or a whole
// data directory, and reads and changes it by their protocol. It never writes to Crewship's database and
// runs nothing of Crewship.
package crewship

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"sync"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name under which the backend is registered.
const Kind = "crewship"

// Config says which memory to open.
type Config struct {
	Name string
	// Path is a data directory (crewship.db, output, memory), a base path (crews)
	// or one .memory directory.
	Path string
	// BasePath and MemoryRoot override the paths below a data directory (crewship-disk.md, Roots).
	BasePath, MemoryRoot string
	// Workspace, Crew and Agent narrow the store; each takes an id or a slug.
	Workspace, Crew, Agent string
	ReadOnly               bool
	// APIURL and APIToken reach Crewship's own server, for the erasure of a subject in its database; Workspace
	// is needed then.
	APIURL   string
	APIToken model.Secret
	Clock    clock.Clock // nil means the system's
	// SearchOnly: as backends.Env has it. Open reads no memory then.
	SearchOnly bool
	// Kept returns the ids of the items that undo keeps for this directory; nil: none. They identify it when
	// its own files no longer do.
	Kept func() []string

	// Fault lets a test fail a step of a write; nil otherwise.
	Fault rootdir.Fault
}

// store is the backend behind every facet of one opened store.
type store struct {
	cfg    Config
	at     layout
	clock  clock.Clock
	reason declared.ReadOnly
	api    *api // Crewship's server, nil when it is not configured
	tiers  []model.TierSpec
	health vitals.Gate
	facts  *texts.Memory

	resident walk.Resident

	mu      sync.Mutex
	snap    *snapshot
	changes int64 // made by this process
	names   namesCache
}

// Open opens the memory at a path for reading; it makes nothing. The errors name the problem and the
// remedy: InvalidInput for a path without Crewship memory, NotFound, PermissionDenied. An unreadable
// database costs only names and history; Notes then say so.
func Open(ctx context.Context, cfg Config) (model.Store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return model.Store{}, err
	}
	at, err := recognise(cfg)
	if err != nil {
		return model.Store{}, err
	}
	s := &store{cfg: cfg, at: at, clock: clock.Or(cfg.Clock), facts: texts.NewMemory(examine)}
	sweepCopies()
	if s.api, err = newAPI(cfg); err != nil {
		return model.Store{}, err
	}
	var snap *snapshot
	if cfg.SearchOnly {
		snap, err = s.survey(ctx, "open")
	} else {
		snap, err = s.look(ctx)
	}
	if err != nil {
		return model.Store{}, err
	}
	if err := s.checkBinding(snap); err != nil {
		return model.Store{}, err
	}
	s.reason = declared.ReadOnly(s.readOnlyReason(snap))
	s.tiers = s.declare(snap)
	return s.value(snap), nil
}

func (s *store) value(snap *snapshot) model.Store {
	features := seam.Capabilities{ConcurrentWriters: true}.Features() // through flock
	for _, f := range []string{model.FeatureWorkspaces, model.FeatureCrews, model.FeatureAgents} {
		features[f] = true
	}
	return model.Store{
		Name: s.cfg.Name, Kind: Kind, Location: cmp.Or(s.cfg.Path, s.cfg.BasePath),
		ReadOnly: s.reason != "", ReadOnlyReason: string(s.reason),
		Tiers:      s.tiers,
		Orders:     []model.Order{model.OrderID, model.OrderNewest, model.OrderOldest, model.OrderLargest},
		Deviations: s.deviations(),
		Features:   features,
		Notes:      s.notes(snap),
		Provider:   s, Browser: s, History: s, Quarantine: s, Names: s, Texts: s, Subjects: s, Maintainer: s,
		Events:  s,
		Address: s.address, PathOf: s.pathOf, Keep: s.keep, Closer: s.resident.Close,
		Origin: originOf,
	}
}

// originOf is the agent that owns an item's memory: Crewship lets no other agent write there.
func originOf(it model.Item) (model.Origin, bool) {
	parts := strings.Split(it.Scope, "/")
	for i, p := range parts[:len(parts)-1] {
		if p == "agents" || p == "solo" && i+2 < len(parts) {
			return model.Origin{Actor: parts[len(parts)-1], Channel: "agent"}, true
		}
	}
	return model.Origin{}, false
}

// deviations are what the files cannot keep; Crewship's server can cascade.
func (s *store) deviations() []model.Deviation {
	out := []model.Deviation{{
		Rule:   "S21",
		Reason: "what an agent writes without Crewship's lock, between the last look and the replacement of a file, is lost",
	}}
	if s.api != nil {
		return out
	}
	return append(out, model.Deviation{
		Rule:   "R33",
		Reason: "files carry no data-subject key; erase item by item, or through Crewship's GDPR endpoint (api_url)",
	})
}

// notes are facts that an operator must know about this store.
func (s *store) notes(snap *snapshot) []string {
	var out []string
	if s.at.kept {
		out = append(out, seam.KeptNote)
	}
	if why := snap.names.problem; why != "" && !s.at.single {
		out = append(out, "names and history come from crewship.db, and "+why)
	}
	if !s.at.single && s.at.memory == "" {
		out = append(out, "no memory root was found: the workspace tier and the text of old versions are not shown; set memory_root if there is one")
	}
	if s.api != nil {
		out = append(out, "the erasure of a person goes to Crewship's server too, which reaches peer cards, user models and rows keyed by the user's id")
	}
	for _, p := range snap.problems {
		out = append(out, "not shown: "+p)
	}
	return out
}

// readOnlyReason is empty for a store that can be written.
func (s *store) readOnlyReason(snap *snapshot) string {
	if s.cfg.ReadOnly {
		return "its configuration says read_only"
	}
	var why string
	for _, p := range snap.there() {
		if why = vitals.Unwritable(filepath.Join(p.root, p.dir)); why == "" {
			return ""
		}
	}
	return why
}

// checkBinding refuses a configuration that names something absent: it would open as an empty store.
func (s *store) checkBinding(snap *snapshot) error {
	if s.at.single || s.bound().empty() || len(snap.memories) > 0 {
		return nil
	}
	return model.Errorf(model.NotFound, "open", "the store holds no memory of %s; correct or remove the key", s.bound())
}

// open opens a .memory directory. Unavailable when the whole store
// has vanished, NotFound when only the memory directory has.
func (s *store) open(p *memoryDir) (*rootdir.Dir, error) {
	root, err := openRoot(p.root, s.cfg.Fault)
	if err != nil || p.dir == "." {
		return root, err
	}
	defer root.Close()
	return root.Sub(p.dir)
}

func openRoot(path string, fault rootdir.Fault) (*rootdir.Dir, error) {
	root, err := rootdir.Open(path, fault)
	if model.KindOf(err) == model.NotFound {
		return nil, model.Errorf(model.Unavailable, "open", "its directory is gone; mount it or correct its path")
	}
	return root, err
}
