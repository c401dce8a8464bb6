// Package claude opens the Markdown memories of coding agents: Claude Code's projects and sub-agents, directories of Anthropic's
// memory tool, Codex and Gemini CLI (claude.md). No lock exists in any of these programs: every change compares before it renames.
package claude

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/litefile"
	"memdesk/backends/internal/unreached"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/media"
	"memdesk/backends/seam/internal/notes"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Kind is the name under which the backend is registered.
const Kind = "claude"

// Config says which store to open.
type Config struct {
	Name     string
	Path     string
	ReadOnly bool
	// SearchOnly: as backends.Env has it.
	SearchOnly bool
	// Redact: an erasure drops the lines of conversations, prompts, shell snapshots and copies of files that name
	// the subject, and Rewrite: it replaces the history of Codex's memories by one new commit. Otherwise it names both.
	Redact, Rewrite bool

	Clock clock.Clock // nil means the system's
	// Kept returns the ids of the items that undo keeps for this directory; nil: none. They identify it when
	// its own files no longer do.
	Kept func() []string
	// Fault lets a test fail a step of a write; nil otherwise.
	Fault seam.Fault
}

// The profiles, by a directory's content.
const (
	home    = "claude"
	codex   = "codex"
	gemini  = "gemini"
	project = "project"
	memtool = "memtool"
)

// store is one directory and its layout.
type store struct {
	path    string
	profile string
	tree    *seam.Dir
	layout  *notes.Layout
	redact  bool // transcripts
}

// Open opens a directory for reading. NotFound where there is none, InvalidInput for one without a profile.
func Open(ctx context.Context, c Config) (model.Store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return model.Store{}, err
	}
	profile, err := Profile(c.Path)
	var said []string
	if err != nil && c.Kept != nil {
		if profile = keptProfile(c.Path, c.Kept()); profile != "" {
			said, err = []string{seam.KeptNote}, nil
		}
	}
	if err != nil {
		return model.Store{}, err
	}
	tree, err := Tree(c)
	if err != nil {
		return model.Store{}, err
	}
	s := &store{path: c.Path, profile: profile, tree: tree, redact: c.Redact}
	s.layout = &notes.Layout{
		Tiers: s.tiers(), Enter: s.enter, Item: s.item, Head: s.head, Scope: s.scope, Address: s.address, Check: s.check, Fresh: s.fresh,
		Wrote: s.wrote, Removed: s.removed, Rewrites: s.rewrites, Beside: s.beside, Side: s.side, Path: unside, Deep: s.deep, Outside: s.outside,
	}
	said = append(said, "profile "+profile)
	if profile == codex {
		s.layout.Parts = s.codexParts(c)
		said = append(said, "Codex writes its files anew from memories_1.sqlite: an item can be forgotten and not edited, and comes back unless its row goes too")
	} else {
		said = append(said, "no program here takes a lock; a running session keeps the index that it has loaded")
	}
	var deviations []model.Deviation
	if profile == gemini {
		deviations = declared.Deviate("the one file is everybody's: a key would name one memory, and the write would replace all", "R10")
	}
	return notes.Open(ctx, notes.Config{
		Deviations: deviations,
		Name:       c.Name, Kind: Kind, Path: c.Path, Tree: tree, ReadOnly: c.ReadOnly, Unknown: s.unknown(), Features: tree.Capabilities().Features(),
		Clock: c.Clock, Notes: said, Layout: s.layout, SearchOnly: c.SearchOnly,
	})
}

// Tree is the directory as the seam sees it.
func Tree(c Config) (*seam.Dir, error) {
	return seam.OpenDir(c.Path, seam.DirOptions{RootMode: 0o700, FileMode: 0o600, Clock: c.Clock, Fault: c.Fault})
}

// Profile is the program of a directory, in the order of claude.md. InvalidInput for a directory without a
// profile, NotFound where there is no directory.
func Profile(dir string) (string, error) {
	has := func(patterns ...string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { return len(notes.Glob(dir, p)) > 0 })
	}
	abs, err := filepath.Abs(dir)
	if err != nil || dir == "" {
		return "", model.Errorf(model.InvalidInput, "open", "a path is needed: the directory of a coding agent's memory")
	}
	switch {
	case has("projects/*/memory/*.md", "agent-memory/*/*.md"):
		return home, nil
	case has("memories") && (has(codexDatabase) || codexVersion.MatchString(firstLine(filepath.Join(dir, codexSummary)))):
		return codex, nil
	case has(geminiName) && (has("settings.json") || filepath.Base(abs) == ".gemini"):
		return gemini, nil
	case indexed(dir), projectPath.MatchString(filepath.ToSlash(abs)):
		return project, nil
	case has("memories"):
		return memtool, nil
	case has("projects/*/memory", "agent-memory/*"): // the last memory was forgotten, and an undo must find its store
		return home, nil
	case has(indexName) && emptied(dir):
		return project, nil
	case has("settings.json") && filepath.Base(abs) == ".gemini":
		return gemini, nil
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", model.Errorf(model.NotFound, "open", "path %q does not exist", filepath.Base(abs))
	}
	return "", model.Errorf(model.InvalidInput, "open", "%q holds no coding agent's memory: looked for projects/*/memory/*.md, agent-memory/*/*.md, "+
		"memories/ with memories_1.sqlite or a memory_summary.md of v1, GEMINI.md with settings.json, a MEMORY.md with links to .md files, memories/", filepath.Base(abs))
}

// keptProfile is the profile of a directory whose files no longer tell it, by the ids that undo keeps; empty
// where those do not tell it either. Only these two profiles are told by files: forget removes no directory.
func keptProfile(dir string, ids []string) string {
	_, err := os.Lstat(filepath.Join(dir, "settings.json"))
	switch {
	case err == nil && slices.Contains(ids, geminiName):
		return gemini
	case slices.ContainsFunc(ids, func(id string) bool { return !inDirectory.MatchString(id) }):
		return project
	}
	return ""
}

// unknown says why this package does not know a directory's version, which is then opened read-only. A
// summary of another version is still Codex's, and none of the memory tool's files.
func (s *store) unknown() string {
	if v := firstLine(filepath.Join(s.path, codexSummary)); s.profile == codex && v != "v1" && codexVersion.MatchString(v) {
		return "Codex's memory_summary.md is of version " + v + ", and this version knows v1"
	}
	return ""
}

const codexSummary = "memories/memory_summary.md"

var codexVersion = regexp.MustCompile(`^v[0-9]{1,4}$`)

var (
	projectPath = regexp.MustCompile(`/projects/[^/]+/memory$`)
	inDirectory = regexp.MustCompile(`^(projects|agent-memory|memories)/`) // an id of the other profiles
	headings    = regexp.MustCompile(`\A(?:\s|#[^\n]*)*\z`)
	indexLine   = regexp.MustCompile(`\[[^\]]*\]\([^)]+\.md\)`)
)

// looked is the part of a file that tells the profile, in bytes.
const looked = 1 << 20

func firstLine(file string) string {
	data, _ := rootdir.Peek(file, looked) // an unreadable file says nothing
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSuffix(line, "\r")
}

// emptied reports whether an index holds headings alone.
func emptied(dir string) bool {
	data, err := rootdir.Peek(filepath.Join(dir, indexName), looked)
	return err == nil && headings.Match(data)
}

func indexed(dir string) bool {
	data, _ := rootdir.Peek(filepath.Join(dir, indexName), looked) // as firstLine
	return indexLine.Match(data)
}

// tellsAlone reports whether the directory of one project is known by its MEMORY.md only.
func (s *store) tellsAlone() bool {
	abs, err := filepath.Abs(s.path)
	return s.profile == project && (err != nil || !projectPath.MatchString(filepath.ToSlash(abs)))
}

// enter reports whether a directory can hold items: a home has many that cannot.
func (s *store) enter(dir string) bool {
	p := strings.Split(dir, "/")
	if !notes.Shown(p[len(p)-1]) {
		return false
	}
	switch s.profile {
	case home:
		return p[0] == "agent-memory" || p[0] == "rules" || p[0] == "projects" && (len(p) < 3 || p[2] == "memory")
	case codex, memtool:
		return p[0] == "memories"
	}
	return s.profile == project
}

// item reports whether a file with this id is an item (CC3).
func (s *store) item(id string) bool {
	parts := strings.Split(id, "/")
	if !notes.Shown(path.Base(id)) || slices.ContainsFunc(parts[:len(parts)-1], func(p string) bool { return !notes.Shown(p) }) {
		return false
	}
	md := strings.HasSuffix(id, ".md")
	switch s.profile {
	case home:
		_, in := s.memory(id)
		return md && (in || id == "CLAUDE.md" || strings.HasPrefix(id, "rules/"))
	case codex:
		return md && strings.HasPrefix(id, "memories/")
	case gemini:
		return id == geminiName
	case project:
		return md
	}
	return strings.HasPrefix(id, "memories/")
}

// memory is the project's or agent's memory directory of an id.
func (s *store) memory(id string) (dir string, in bool) {
	if s.profile == project {
		return "", true
	}
	p := strings.Split(id, "/")
	switch {
	case s.profile != home:
	case len(p) > 3 && p[0] == "projects" && p[2] == "memory":
		return strings.Join(p[:3], "/"), true
	case len(p) > 2 && p[0] == "agent-memory":
		return strings.Join(p[:2], "/"), true
	}
	return "", false
}

// scope is the project's slug or the agent.
func (s *store) scope(id string) string {
	dir, in := s.memory(id)
	p := strings.Split(dir, "/")
	switch {
	case !in || dir == "":
		return ""
	case p[0] == "agent-memory":
		return "agent:" + p[1]
	}
	return p[1]
}

// The tiers (CC2).
const (
	tierIndex        = "index"
	tierNote         = "note"
	tierInstructions = "instructions"
)

var types = []string{"user", "feedback", "project", "reference"}

func (s *store) tiers() []model.TierSpec {
	var out []model.TierSpec
	for _, name := range append([]string{tierIndex, tierNote, tierInstructions}, types...) {
		t := model.TierSpec{Name: name, Title: "memories of type " + name, KeyRule: model.KeyRequired, KeyHint: "a file name: tide-tables", Writable: true, Document: model.Opaque}
		switch name {
		case tierIndex:
			t.Title, t.KeyRule = "the index of a memory directory: its first 200 lines or 25 KB are loaded", model.KeyIgnored
			t.Cap, t.CapSoft, t.CapUnit, t.Index = capBytes, true, model.CapBytes, true
		case tierNote:
			t.Title = "memories without a type"
		case tierInstructions:
			t.Title, t.Writable = "instructions that people write, loaded whole: not edited here", false
		}
		if s.profile == gemini {
			t.Title, t.KeyRule = geminiName+", the one file of rules and memories", model.KeyIgnored
		}
		t.Writable = t.Writable && s.profile != codex
		t.Foreign = name == tierInstructions && s.profile != codex
		t.Sealed = !t.Writable && !t.Foreign
		if s.made(name) {
			out = append(out, t)
		}
	}
	return out
}

// made reports whether the profile has a tier.
func (s *store) made(tier string) bool {
	switch s.profile {
	case gemini:
		return tier == "user"
	case memtool:
		return tier == tierNote
	case codex:
		return slices.Contains([]string{tierIndex, "project", tierNote, tierInstructions}, tier)
	case project:
		return tier != tierInstructions
	}
	return true
}

// head tells an item's tier and title.
func (s *store) head(id, text string) (tier, title string) {
	f := parse(text)
	title = f.name
	switch s.profile {
	case gemini:
		return "user", title
	case memtool:
		return tierNote, title
	case codex:
		switch {
		case id == codexSummary:
			return tierIndex, title
		case id == "memories/MEMORY.md":
			return "project", title
		case strings.HasPrefix(id, "memories/skills/"):
			return tierInstructions, title
		}
		return tierNote, title
	}
	dir, in := s.memory(id)
	switch {
	case !in:
		return tierInstructions, title
	case id == path.Join(dir, indexName):
		return tierIndex, title
	case slices.Contains(types, f.kind):
		return f.kind, title
	}
	return tierNote, title
}

// address is the id of a new item. In a home with many memories only an id can name the place.
func (s *store) address(tier, key string) (string, error) {
	if !strings.HasSuffix(key, ".md") && tier != tierIndex {
		key += ".md"
	}
	switch {
	case s.profile == gemini && !slices.Contains([]string{".md", geminiName}, key):
		return "", model.Errorf(model.InvalidInput, "retain", "this store has one item, %s, and no key: append to it, or edit it", geminiName)
	case s.profile == gemini:
		return geminiName, nil
	case s.profile == project && tier == tierIndex:
		return indexName, nil
	case s.profile == project && key == indexName:
		return "", model.Errorf(model.InvalidInput, "retain", "%s is the index, in tier %s: give another key", indexName, tierIndex)
	case s.profile == project:
		return key, nil
	case s.profile == memtool:
		return "memories/" + key, nil
	}
	return "", model.Errorf(model.InvalidInput, "retain", "this home has many memories: name the file, projects/SLUG/memory/%s or agent-memory/AGENT/%s", key, key)
}

// check refuses changes of read-only files, and the removal of an index (CC4, CC9).
func (s *store) check(op, id string) error {
	tier, _ := s.head(id, "")
	switch {
	case s.profile == codex && op == "forget":
	case s.profile == codex:
		return model.Errorf(model.Unsupported, op, "Codex writes its memories itself: an item can be forgotten and not edited")
	case tier == tierInstructions:
		return model.Errorf(model.Unsupported, op, "%q is instructions that people write: edit it in its own program", id)
	case tier == tierIndex && op == "forget" && (s.tellsAlone() && id == indexName || s.lists(path.Dir(id))):
		return model.Errorf(model.Unsupported, op, "%q is the index of its directory: edit it", id)
	}
	return nil
}

// lists reports whether a directory holds a memory beside its index, or cannot be looked at.
func (s *store) lists(dir string) bool {
	root, err := filepath.EvalSymlinks(s.path) // a walk enters no link
	if err != nil {
		return true
	}
	err = filepath.WalkDir(filepath.Join(root, filepath.FromSlash(dir)), func(at string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, at)
		switch id := filepath.ToSlash(rel); {
		case err != nil:
			return err
		case !d.IsDir() && id != path.Join(dir, indexName) && s.item(id):
			return fs.ErrExist
		}
		return nil
	})
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// fresh gives a new memory the type of its tier (CC8).
func (s *store) fresh(id, tier, text string) (string, error) {
	f := parse(text)
	switch {
	case s.profile == gemini, s.profile == memtool, !slices.Contains(types, tier) && (tier != tierNote || !slices.Contains(types, f.kind)):
		return text, nil
	case !f.has:
		return "---\nmetadata:\n  type: " + tier + "\n---\n" + text, nil
	case f.kind != tier:
		return "", model.Errorf(model.InvalidInput, "retain", "%q: its front matter says type %q and the tier is %s", id, f.kind, tier)
	}
	return text, nil
}

// side names a file that is no item by Claude Code's use of it.
func (s *store) side(id string) notes.Side {
	first, rest, _ := strings.Cut(id, "/")
	const advice = "; it is searched and not changed, unless the store's configuration says transcripts = \"redact\""
	switch {
	case s.profile != home:
		return notes.Side{}
	case first == "projects" && strings.HasSuffix(rest, ".jsonl"):
		return notes.Side{Name: transcripts + id, Reason: "a transcript of Claude Code: delete the session's file by hand" + advice, Lines: s.redact}
	case first == "history.jsonl":
		return notes.Side{Reason: "the prompts that Claude Code keeps: remove the lines by hand" + advice, Lines: s.redact}
	case first == "shell-snapshots" || first == "file-history":
		return notes.Side{Reason: "a copy that Claude Code keeps: delete the file by hand" + advice, Lines: s.redact}
	}
	return notes.Side{}
}

// outside names the transcripts where a receipt would not speak of them (CC14).
func (s *store) outside() []model.Layer {
	switch {
	case s.profile == project:
		return unreached.Named("transcripts", "the sessions of this project lie beside its memory directory, which alone is open: open Claude Code's home instead")
	case s.profile == home && len(notes.Glob(s.path, "projects/*/*.jsonl")) == 0:
		return unreached.Named("transcripts", "no session lies in projects: copies elsewhere are not seen")
	}
	return nil
}

const transcripts = "transcripts:"

func unside(name string) string { return strings.TrimPrefix(name, transcripts) }

// codexParts are the database from which Codex rewrites its memories, and their git repository.
func (s *store) codexParts(c Config) []notes.Part {
	rows := &media.Database{Path: filepath.Join(s.path, codexDatabase), Layer: codexDatabase, Others: true, Medium: func(f *litefile.File) litefile.Medium {
		return litefile.Medium{File: f, NamedRows: map[string]string{"stage1_outputs": "1"}} // else Codex's second phase rewrites the rest from it
	}}
	return []notes.Part{rows, &media.Repository{Path: filepath.Join(s.path, "memories", ".git"), Layer: "memories/.git", Rewrite: c.Rewrite}}
}

const codexDatabase = "memories_1.sqlite"
