package curated

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine"
)

// Kind is the name under which the backend is registered.
const Kind = "curated"

// The tiers: the two files, and the proposals that wait for approval.
const (
	TierMemory  = "MEMORY"
	TierUser    = "USER"
	TierPending = "pending"
)

// OrderFile is the order of entries in their files.
const OrderFile model.Order = "file"

// The caps of the files, in characters, where no setting says otherwise.
const (
	memoryLimit = 2200
	userLimit   = 1375
)

// nextSession is the note of every change: the agent reads the files at the start of a session.
const nextSession = "it takes effect at the agent's next session"

// Config says which memories to open.
type Config struct {
	Name string
	// Path is the memories directory, or a home directory (.hermes) that contains it.
	Path     string
	ReadOnly bool
	Clock    clock.Clock   // nil means the system's
	Fault    rootdir.Fault // lets a test fail a step of a write; nil otherwise
}

// store is the backend behind every facet of one opened store.
type store struct {
	cfg    Config
	path   string // of the memories directory
	home   string // the directory above, with pending and the settings; empty: unknown
	clock  clock.Clock
	limits map[string]int
	reason declared.ReadOnly
	notes  []string
	tiers  []model.TierSpec
	health vitals.Gate
}

// Open opens a memories directory for reading; it makes nothing. NotFound and InvalidInput describe the
// problem.
func Open(ctx context.Context, cfg Config) (model.Store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return model.Store{}, err
	}
	s := &store{cfg: cfg, clock: clock.Or(cfg.Clock), path: cfg.Path, limits: map[string]int{"MEMORY.md": memoryLimit, "USER.md": userLimit}}
	if err := s.locate(); err != nil {
		return model.Store{}, err
	}
	s.settings()
	d, err := s.root()
	if err != nil {
		return model.Store{}, err
	}
	defer d.Close()
	if cfg.ReadOnly {
		s.reason = "its configuration says read_only"
	} else {
		s.reason = declared.ReadOnly(vitals.Unwritable(s.path))
	}
	s.look(d)
	s.declare()
	return s.value(), nil
}

// locate finds the memories directory and the files beside it.
func (s *store) locate() error {
	d, err := rootdir.Open(s.cfg.Path, nil)
	if err != nil {
		if errors.Is(err, rootdir.ErrNotDirectory) {
			return model.Errorf(model.InvalidInput, "open", "%q is a file: give the directory that holds MEMORY.md and USER.md", filepath.Base(s.cfg.Path))
		}
		return err
	}
	defer d.Close()
	if m, err := d.Stat("memories"); err == nil && m.Kind == rootdir.Directory && !has(d, "MEMORY.md") && !has(d, "USER.md") {
		s.path = filepath.Join(s.cfg.Path, "memories")
	}
	if abs, err := filepath.Abs(s.path); err == nil && filepath.Base(abs) == "memories" {
		s.home = filepath.Dir(abs)
	}
	return nil
}

func has(d *rootdir.Dir, name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// configNames are the files of the agent's settings, beside the memories.
var configNames = []string{"config.yaml", "config.yml", "config.json", "config.toml"}

// limitLine finds a cap on a line of its own (YAML, TOML), limitJSON anywhere.
var (
	limitLine = regexp.MustCompile(`(?m)^[ \t]*"?(memory|user)_char_limit"?[ \t]*[:=][ \t]*"?([0-9]+)"?[ \t]*(?:#.*)?\r?$`)
	limitJSON = regexp.MustCompile(`"(memory|user)_char_limit"\s*:\s*([0-9]+)`)
)

// settings reads the caps from the agent's settings, where they are set.
func (s *store) settings() {
	if s.home == "" {
		return
	}
	d, err := rootdir.Open(s.home, nil)
	if err != nil {
		return
	}
	defer d.Close()
	for _, name := range configNames {
		data, _, err := d.Read(name, fileLimit)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			s.notes = append(s.notes, name+" cannot be read, so the published caps are assumed: "+err.Error())
			continue
		}
		form := limitLine
		if strings.HasSuffix(name, ".json") {
			form = limitJSON
		}
		for _, m := range form.FindAllStringSubmatch(string(data), -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil || n < 1 || n > fileLimit {
				s.notes = append(s.notes, fmt.Sprintf("%s sets %s_char_limit to no usable number; the published cap is assumed", name, m[1]))
				continue
			}
			s.limits[strings.ToUpper(m[1])+".md"] = n
		}
	}
}

// look notes facts about the files that an operator must know.
func (s *store) look(d *rootdir.Dir) {
	s.notes = append(s.notes,
		"a change takes effect at the agent's next session; a session that runs keeps what it began with",
		"a handle is made of the entry's text: a changed entry has a new one")
	if !has(d, "MEMORY.md") && !has(d, "USER.md") {
		s.notes = append(s.notes, "there is no MEMORY.md and no USER.md yet")
	}
	for _, name := range fileNames {
		switch f := s.load(d, name); {
		case f.bad != nil:
			s.notes = append(s.notes, name+" is not read: "+f.bad.Error())
		case f.drift != "":
			s.notes = append(s.notes, name+" has drifted and is read-only: "+f.drift)
		}
	}
}

func (s *store) limit(name string) int { return s.limits[name] }

func (s *store) declare() {
	spec := func(name, title, file string) model.TierSpec {
		return model.TierSpec{
			Name: name, Title: title, KeyRule: model.KeyOptional, KeyHint: "none: an entry is named by its text",
			Cap: int64(s.limit(file)), CapUnit: model.CapChars, Writable: true, Document: model.Opaque,
		}
	}
	s.tiers = []model.TierSpec{
		spec(TierMemory, "what the agent noted", "MEMORY.md"),
		spec(TierUser, "what the agent knows of its user", "USER.md"),
		{Name: TierPending, Title: "changes that wait for approval", KeyRule: model.KeyRequired, KeyHint: "the proposal's id",
			Hidden: true, Document: model.Structured},
	}
}

func (s *store) value() model.Store {
	return model.Store{
		Name: s.cfg.Name, Kind: Kind, Location: s.cfg.Path, Place: s.path,
		ReadOnly: s.reason != "", ReadOnlyReason: string(s.reason),
		Tiers:      s.tiers,
		Orders:     []model.Order{OrderFile, model.OrderID, model.OrderLargest},
		Deviations: deviations(),
		Features:   seam.Capabilities{ConcurrentWriters: true}.Features(), // through flock
		Scanner:    quarantine.HermesRules,
		Notes:      s.notes,
		Provider:   s, Browser: s, Quarantine: s, Names: s, Maintainer: s,
		Address: s.address, PathOf: s.pathOf, Beside: s.beside, Rewrites: s.rewrites,
	}
}

// deviations are the rules that entries without names, in files of another program, cannot keep.
func deviations() []model.Deviation {
	return slices.Concat(
		declared.Deviate("an entry has no name but its text: a changed entry has a new id, which Retain returns", "R2", "R14", "R44", "D1", "D2", "D3", "D4", "D7", "D13", "L6"),
		declared.Deviate("entries are trimmed, and hold neither a carriage return nor a line that is only §", "R5", "D14"),
		declared.Deviate("without an id append adds an entry of its own", "R6", "R16"),
		declared.Deviate("no two entries of a file are equal", "D10", "D15"),
		declared.Deviate("the cap counts the whole file", "R13"),
		declared.Deviate("entries carry no data-subject key; erase entry by entry", "R33"),
		declared.Deviate("what is saved without Hermes' lock, between the last look and the replacement of a file, is lost", "S21"),
	)
}

// fileOf is the file of a tier.
func fileOf(tier string) (string, bool) {
	switch tier {
	case TierMemory:
		return "MEMORY.md", true
	case TierUser:
		return "USER.md", true
	}
	return "", false
}

func tierOf(file string) string { return strings.TrimSuffix(file, ".md") }

// idParts is the parsed form of an id.
type idParts struct {
	file    string // MEMORY.md or USER.md
	hash    string // of an entry; empty: the whole file
	pending string // name of a proposal without .json
}

var hashForm = regexp.MustCompile(`^[0-9a-f]{12}$`)

// parseID reads MEMORY.md/<12 hex>, MEMORY.md and pending/<name>.
func parseID(id string) (idParts, bool) {
	head, rest, divided := strings.Cut(id, "/")
	if head == TierPending && divided {
		ok := len(id) <= rootdir.MaxName && rest != "" && rest != "." && rest != ".." && !strings.ContainsAny(rest, "/\\\x00")
		return idParts{pending: rest}, ok
	}
	for _, name := range fileNames {
		if head == name {
			return idParts{file: name, hash: rest}, !divided || hashForm.MatchString(rest)
		}
	}
	return idParts{}, false
}

func badID(op, id string) error {
	if len(id) > rootdir.MaxName {
		return rootdir.CheckName(id) // it does not quote the id
	}
	return model.Errorf(model.InvalidInput, op, "%q is no id of this store: it has MEMORY.md/…, USER.md/… and pending/…", id)
}

const unscoped declared.Unscoped = "this store has no workspaces, crews and agents: it is one agent's"

func revisionOf(text string) model.Revision { return model.RevisionOf(model.Document{Body: text}) }

func (s *store) pathOf(id string) (dir, file string) {
	if to, ok := parseID(id); ok && to.pending != "" && s.home != "" {
		return s.home, pendingDir + "/" + to.pending + ".json"
	}
	return s.path, id
}
