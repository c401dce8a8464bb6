// Package openclaw opens the Markdown workspaces of OpenClaw's agents (openclaw.md). Writers are read from
// each agent's SQLite index, which is derived from the Markdown: items never write it, and an erasure does
// only while no process holds it.
package openclaw

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"memdesk/backends/internal/unreached"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/media"
	"memdesk/backends/seam/internal/notes"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name under which the backend is registered.
const Kind = "openclaw"

// Config says which store to open.
type Config struct {
	Name       string
	Path       string // a state directory, or one workspace
	ReadOnly   bool
	SearchOnly bool        // as backends.Env has it
	Redact     bool        // an erasure removes the subject's identifiers from conversations; otherwise it names them
	Clock      clock.Clock // nil means the system's
	// Kept returns the ids of the items that undo keeps for this directory; nil: none. They identify it when
	// its own files no longer do.
	Kept func() []string
	// Fault lets a test fail a step of a write; nil otherwise.
	Fault seam.Fault
}

// store is one state directory, or one workspace.
type store struct {
	path    string
	agents  []agent             // of one workspace: one, with an empty directory and scope
	indexes map[string]string   // by agent: the path of its database below the root
	homes   map[string][]string // by agent: the directories of its workspaces, which other agents may share
	linked  []string            // workspaces that are symbolic links: the walk tells them and does not follow
	redact  bool
	layout  *notes.Layout

	mu    sync.Mutex
	known map[string]provenance // by agent
}

// agent is one agent's workspace.
type agent struct {
	id  string // its scope
	dir string // of its workspace, below the root; empty for a store of one workspace
}

// Open opens a directory for reading. InvalidInput for a directory without a workspace.
func Open(ctx context.Context, c Config) (model.Store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return model.Store{}, err
	}
	tree, err := Tree(c)
	if err != nil {
		return model.Store{}, err
	}
	s := &store{path: c.Path, redact: c.Redact, known: map[string]provenance{}}
	said, err := s.detect(c.Kept)
	if err != nil {
		return model.Store{}, err
	}
	s.layout = &notes.Layout{
		Tiers: tiers(), Enter: s.enter, Item: s.item, Head: s.head, Scope: s.scope, Address: s.address, Check: s.check,
		Fresh: func(_, _, text string) (string, error) { return text, nil }, Wrote: s.wrote,
		Removed: s.removed, Side: s.side, Path: unside, Parts: s.parts(), Meta: s.meta, Deep: s.deep,
	}
	if s.indexes == nil { // one workspace
		s.layout.Outside = func() []model.Layer {
			return unreached.Named("index, conversations", "they lie in OpenClaw's state directory, which is not open and holds the text again: open that directory instead")
		}
	}
	said = append(said, "no program here takes a lock; after a change, `openclaw memory index --force --agent AGENT` brings the index up to date")
	out, err := notes.Open(ctx, notes.Config{
		Name: c.Name, Kind: Kind, Path: c.Path, Tree: tree, ReadOnly: c.ReadOnly, Features: tree.Capabilities().Features(),
		Clock: c.Clock, Notes: said, Layout: s.layout, SearchOnly: c.SearchOnly,
	})
	out.Origin = model.MetaOrigin(map[string]string{"origin_class": "channel", "session_kind": "detail", "observed_at": "at"})
	return out, err
}

// Tree is the directory as the seam sees it.
func Tree(c Config) (*seam.Dir, error) {
	return seam.OpenDir(c.Path, seam.DirOptions{RootMode: 0o700, FileMode: 0o600, Clock: c.Clock, Fault: c.Fault})
}

const configName = "openclaw.json"

// Holds reports whether a directory is a state directory or a workspace (OC1).
func Holds(dir string) bool { return isState(dir) || isWorkspace(dir) }

func isState(dir string) bool {
	return has(dir, configName) && has(dir, "workspace*") || has(dir, "agents/*/agent/"+indexName)
}

func isWorkspace(dir string) bool {
	return (has(dir, "MEMORY.md") || has(dir, "memory/????-??-??*.md")) && (has(dir, "AGENTS.md") || has(dir, "SOUL.md"))
}

// isEmptied reports whether a directory is a workspace whose last memory was forgotten or erased. Discovery
// takes it for none: instructions alone are in many projects.
func isEmptied(dir string) bool {
	return has(dir, "AGENTS.md") && has(dir, "SOUL.md") || has(dir, "memory") && (has(dir, "AGENTS.md") || has(dir, "SOUL.md"))
}

func has(dir, pattern string) bool { return len(notes.Glob(dir, pattern)) > 0 }

// detect finds the workspaces (OC1, OC2) and names those that are not opened.
func (s *store) detect(kept func() []string) (said []string, err error) {
	const one = "one workspace: who wrote what stands in the state directory, which is not open"
	switch {
	case s.path == "":
		return nil, model.Errorf(model.InvalidInput, "open", "a path is needed: a state directory of OpenClaw, or one workspace")
	case isState(s.path):
	case isWorkspace(s.path):
		s.agents = []agent{{}}
		return []string{one}, nil
	case isEmptied(s.path):
		s.agents = []agent{{}}
		return []string{one, "no memory is in it: its instructions identify it"}, nil
	case kept != nil && len(kept()) > 0: // forget removes no directory, so that a state directory keeps its signs
		s.agents = []agent{{}}
		return []string{one, seam.KeptNote}, nil
	default:
		return nil, model.Errorf(model.InvalidInput, "open", "%q is no state directory of OpenClaw and no workspace: looked for %s beside workspace*/, "+
			"agents/*/agent/%s, and for MEMORY.md or memory/YYYY-MM-DD*.md with AGENTS.md or SOUL.md", filepath.Base(s.path), configName, indexName)
	}
	s.indexes = indexes(s.path)
	s.homes = map[string][]string{}
	dirs := map[string]string{} // agents by their workspace: the last one is the scope of a shared one
	entries, err := os.ReadDir(s.path)
	if err != nil {
		return nil, model.E(model.PermissionDenied, "open", err)
	}
	for _, e := range entries {
		if (e.IsDir() || e.Type() == fs.ModeSymlink) && strings.HasPrefix(e.Name(), "workspace") {
			id := strings.TrimPrefix(strings.TrimPrefix(e.Name(), "workspace"), "-")
			id = cmp.Or(id, mainAgent)
			dirs[e.Name()] = id
			s.homes[id] = append(s.homes[id], e.Name())
		}
	}
	named, problem := workspaces(s.path)
	if problem != "" {
		said = append(said, problem)
	}
	for _, w := range named {
		if w.dir != "" && !slices.Contains(s.homes[w.id], w.dir) {
			s.homes[w.id] = append(s.homes[w.id], w.dir)
		}
		switch {
		case w.dir == "":
			said = append(said, fmt.Sprintf("the workspace of agent %q lies outside this directory and is not opened: open it as a store of its own", w.id))
		case dirs[w.dir] == "" || w.id != mainAgent:
			dirs[w.dir] = w.id
		}
	}
	for dir, id := range dirs {
		info, err := os.Lstat(filepath.Join(s.path, filepath.FromSlash(dir)))
		switch {
		case err != nil:
		case slices.ContainsFunc(strings.Split(dir, "/"), func(p string) bool { return !notes.Shown(p) }):
			said = append(said, fmt.Sprintf("the workspace of agent %q lies in a hidden directory and is not opened: open it as a store of its own", id))
		case info.Mode().Type() == fs.ModeSymlink:
			s.linked = append(s.linked, dir)
		case info.IsDir():
			s.agents = append(s.agents, agent{id: id, dir: dir})
		}
	}
	slices.SortFunc(s.agents, func(a, b agent) int { return strings.Compare(a.dir, b.dir) })
	return said, nil
}

const mainAgent = "main"

// enter reports whether a directory can hold items: a workspace, its memory directory with everything in
// it, and the directories above a workspace.
func (s *store) enter(dir string) bool {
	if !notes.Shown(path.Base(dir)) {
		return false
	}
	if slices.ContainsFunc(s.linked, func(at string) bool { return strings.HasPrefix(at+"/", dir+"/") }) {
		return true
	}
	for _, a := range s.agents {
		file, in := strings.CutPrefix(dir, a.dir+"/")
		if a.dir == "" {
			file, in = dir, true
		}
		if in && (file == "memory" || strings.HasPrefix(file, "memory/")) || strings.HasPrefix(a.dir+"/", dir+"/") {
			return true
		}
	}
	return false
}

// at returns the agent of an id's workspace, and the path from there.
func (s *store) at(id string) (a agent, file string, ok bool) {
	for _, b := range s.agents { // one workspace may contain another
		rest, in := strings.CutPrefix(id, b.dir+"/")
		if b.dir == "" {
			rest, in = id, true
		}
		if in && (!ok || len(b.dir) > len(a.dir)) {
			a, file, ok = b, rest, true
		}
	}
	return a, file, ok
}

// item reports whether a file with this id is an item.
func (s *store) item(id string) bool {
	_, file, ok := s.at(id)
	if !ok || !strings.HasSuffix(file, ".md") {
		return false
	}
	parts := strings.Split(file, "/")
	if slices.ContainsFunc(parts, func(p string) bool { return !notes.Shown(p) }) {
		return false
	}
	if len(parts) > 1 {
		return parts[0] == "memory"
	}
	return tierOf(file) != ""
}

func (s *store) scope(id string) string {
	a, _, _ := s.at(id)
	return a.id
}

// The tiers (OC4).
const (
	tierLongterm     = "longterm"
	tierUser         = "user"
	tierDaily        = "daily"
	tierImportant    = "important"
	tierDigest       = "digest"
	tierDreams       = "dreams"
	tierNote         = "note"
	tierInstructions = "instructions"
)

const digestCap = 8192 // bytes

var day = regexp.MustCompile(`^\d{4}-\d\d-\d\d(-[^/]+)?\.md$`)

// tierOf is the tier of a file of a workspace; empty for a file at its root that is no memory.
func tierOf(file string) string {
	switch rest, in := strings.CutPrefix(file, "memory/"); {
	case in && rest == "context-digest.md":
		return tierDigest
	case in && strings.HasPrefix(rest, "important/"):
		return tierImportant
	case in && day.MatchString(rest):
		return tierDaily
	case in:
		return tierNote
	}
	switch file {
	case "MEMORY.md":
		return tierLongterm
	case "USER.md":
		return tierUser
	case "DREAMS.md":
		return tierDreams
	case "AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md":
		return tierInstructions
	}
	return ""
}

func tiers() []model.TierSpec {
	var out []model.TierSpec
	for _, t := range []struct{ name, title, hint string }{
		{tierLongterm, "what the agent keeps: MEMORY.md", ""},
		{tierUser, "the person's profile: USER.md; its budget is unknown", ""},
		{tierDaily, "daily notes: today's and yesterday's are loaded", "a date, or a date and words: 2026-05-21-harbour"},
		{tierImportant, "notes marked as important", "a file name: keys"},
		{tierDigest, "the digest that OpenClaw writes", ""},
		{tierDreams, "the diary that OpenClaw writes for people", ""},
		{tierNote, "other notes of the memory directory", "a file name: ropes"},
		{tierInstructions, "instructions that people write: not edited here", ""},
	} {
		spec := model.TierSpec{Name: t.name, Title: t.title, KeyRule: model.KeyIgnored, Writable: true, Document: model.Opaque}
		if t.hint != "" {
			spec.KeyRule, spec.KeyHint = model.KeyRequired, t.hint
		}
		switch t.name {
		case tierDigest:
			spec.Cap, spec.CapUnit = digestCap, model.CapBytes
			spec.Writable, spec.Sealed = false, true
		case tierDreams:
			spec.Writable, spec.Sealed = false, true
		case tierInstructions:
			spec.Writable, spec.Foreign = false, true
		}
		out = append(out, spec)
	}
	return out
}

func (s *store) head(id, _ string) (tier, title string) {
	_, file, _ := s.at(id)
	return tierOf(file), ""
}

// address is the id of a new item, in a store of one workspace.
func (s *store) address(tier, key string) (string, error) {
	file := strings.TrimSuffix(key, ".md") + ".md"
	switch tier {
	case tierLongterm:
		file = "MEMORY.md"
	case tierUser:
		file = "USER.md"
	case tierDaily:
		if !day.MatchString(file) {
			return "", model.Errorf(model.InvalidInput, "retain", "key %q is no date: write 2026-05-21, or 2026-05-21-harbour", key)
		}
		file = "memory/" + file
	case tierImportant:
		file = "memory/important/" + file
	case tierNote:
		if file = "memory/" + file; tierOf(file) != tierNote {
			return "", model.Errorf(model.InvalidInput, "retain", "key %q is a name of tier %s", key, tierOf(file))
		}
	case tierDigest: // these three exist only for check to refuse
		file = "memory/context-digest.md"
	case tierDreams:
		file = "DREAMS.md"
	case tierInstructions:
		file = "AGENTS.md"
	}
	switch len(s.agents) {
	case 0:
		return "", model.Errorf(model.InvalidInput, "retain", "there is no workspace in this store")
	case 1:
		return path.Join(s.agents[0].dir, file), nil
	}
	return "", model.Errorf(model.InvalidInput, "retain", "there are several workspaces: name the file, %s/%s", s.agents[0].dir, file)
}

// check refuses changes of read-only files (OC4).
func (s *store) check(op, id string) error {
	switch tier, _ := s.head(id, ""); {
	case tier == tierInstructions:
		return model.Errorf(model.Unsupported, op, "%q is instructions that people write: edit it in its own program", id)
	case op != "forget" && (tier == tierDigest || tier == tierDreams):
		return model.Errorf(model.Unsupported, op, "OpenClaw writes %q itself: it can be forgotten and not edited", id)
	}
	return nil
}

// wrote and removed say how to bring the index up to date (OC8).
func (s *store) wrote(_ context.Context, id string, _ *string, _ string, req model.RetainRequest) []string {
	if req.Restore { // an undo warns of what did not come back
		return nil
	}
	return []string{"the index does not know it yet: " + s.reindex(id)}
}

func (s *store) removed(_ context.Context, id string, _ *model.Beside) ([]string, error) {
	return []string{"the index may still hold its text: " + s.reindex(id)}, nil
}

func (s *store) reindex(id string) string {
	const command = "openclaw memory index --force"
	if a := s.scope(id); a != "" {
		return command + " --agent " + a
	}
	return command
}

// side names a file that is no item.
func (s *store) side(id string) notes.Side {
	p := strings.Split(id, "/")
	switch {
	case len(p) == 4 && p[0] == "agents" && p[2] == "sessions" && strings.HasSuffix(id, ".jsonl"):
		return notes.Side{Name: transcripts + p[1] + ":" + id, Reason: "a conversation of OpenClaw: delete the session's file by hand" + advice, Lines: s.redact}
	case strings.HasSuffix(id, ".bak"):
		return notes.Side{Reason: "a backup: delete the file by hand"}
	case len(p) == 2 && p[0] == "memory" && strings.Contains(p[1], ".sqlite"):
		return notes.Side{Reason: "an index of an OpenClaw before 2026: delete it, the program makes it anew"}
	}
	return notes.Side{}
}

const (
	transcripts = "transcripts:"
	advice      = "; it is searched and not changed, unless the store's configuration says transcripts = \"redact\""
)

var sided = regexp.MustCompile(`^transcripts:[^/:]+:`)

// unside is the path of a side's layer.
func unside(name string) string { return sided.ReplaceAllString(name, "") }

// parts are the agents' databases and the workspaces' git repositories.
func (s *store) parts() (out []notes.Part) {
	for _, id := range slices.Sorted(maps.Keys(s.indexes)) {
		out = append(out, s.database(id))
	}
	for _, a := range s.agents {
		repository := path.Join(a.dir, ".git")
		out = append(out, &media.Repository{Path: filepath.Join(s.path, filepath.FromSlash(repository)), Layer: repository})
	}
	return out
}
