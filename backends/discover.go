package backends

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"memdesk/backends/gateway"
	"memdesk/backends/records/engram"
	"memdesk/backends/records/mcpgraph"
	"memdesk/backends/records/mem0"
	"memdesk/backends/seam/claude"
	"memdesk/backends/seam/openclaw"
	"memdesk/backends/seam/vault"
)

// Marker is a row of the table of places where stores live.
type Marker struct {
	Kind  string // of the registry
	Name  string // of the store; empty: the kind
	Label string // the system, for people
	Path  string // the marker, relative to a directory or to the home directory
	Home  bool   // looked for in the home directory
	Up    bool   // looked for in the working directory and its ancestors
	Env   string // a variable that names the place outright, and wins
	Below string // the marker below the directory that Env names instead of the home directory; empty: Env names the place
	Store string // location of the store relative to the marker's path; empty: the marker itself
	// Reading: it is opened for reading only until a configuration names it.
	Reading bool
	// Holds looks into what was found, where the marker alone does not tell that
	// there is such a store; nil: it does.
	Holds func(path string) bool
}

// Markers is the table, in the order of looking. Where two kinds may hold the
// same work items the earlier row wins: .knots before .beads
// (provider-contract.md B10).
func Markers() []Marker {
	return []Marker{
		{Kind: "crewship", Label: "Crewship", Path: ".crewship", Home: true, Env: "CREWSHIP_DATA_DIR"},
		{Kind: "vault", Label: "AgentM vault", Path: ".agentm-config.json", Up: true, Env: "MEMORY_VAULT_PATH", Holds: vault.Selected},
		{Kind: "vault", Label: "AgentM vault", Path: ".claude/.agentm-config.json", Home: true, Env: "AGENTM_INSTALL_PREFIX", Below: ".agentm-config.json", Holds: vault.Selected},
		{Kind: "devicelocal", Label: "AgentM", Path: ".agentm/memory", Home: true, Env: "AGENTM_DEVICE_LOCAL_ROOT"},
		{Kind: "sqlite", Label: "recurse", Path: ".recurse", Up: true},
		{Kind: "curated", Label: "Hermes", Path: ".hermes/memories", Home: true},
		{Kind: claude.Kind, Label: "Claude Code", Path: ".claude", Home: true, Env: "CLAUDE_CONFIG_DIR", Reading: true, Holds: profile("claude")},
		{Kind: claude.Kind, Name: "codex", Label: "Codex", Path: ".codex", Home: true, Env: "CODEX_HOME", Reading: true, Holds: profile("codex")},
		{Kind: claude.Kind, Name: "gemini", Label: "Gemini CLI", Path: ".gemini", Home: true, Reading: true, Holds: profile("gemini")},
		{Kind: openclaw.Kind, Label: "OpenClaw", Path: ".openclaw", Home: true, Env: "OPENCLAW_STATE_DIR", Reading: true, Holds: openclaw.Holds},
		{Kind: mcpgraph.Kind, Label: "MCP memory server", Path: ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl", Home: true, Env: "MEMORY_FILE_PATH", Reading: true, Holds: filepath.IsAbs},
		{Kind: mem0.Kind, Label: "mem0", Path: ".mem0/vector_store.db", Home: true, Reading: true},
		{Kind: engram.Kind, Label: "Engram", Path: ".engram", Home: true, Env: "ENGRAM_DATA_DIR", Store: "engram.db", Reading: true, Holds: engramDatabase},
		{Kind: "gateway", Label: "Beaver", Path: ".beaver/config.json", Home: true, Up: true, Holds: gateway.Uses},
		{Kind: "knots", Label: "Knots", Path: ".knots", Up: true},
		{Kind: "beads", Label: "Beads", Path: ".beads", Up: true},
	}
}

// engramDatabase reports whether a directory holds Engram's database: other programs use the name.
func engramDatabase(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "engram.db"))
	return err == nil && info.Mode().IsRegular()
}

// profile tells the programs apart whose directories the kind claude opens.
func profile(want string) func(string) bool {
	return func(dir string) bool {
		got, err := claude.Profile(dir)
		return err == nil && got == want
	}
}

// Discover looks where stores usually live, starting at dir, and returns a block
// for each with why it was chosen. Kinds that the registry lacks are returned
// too: opening one says that this version cannot. It only looks.
func Discover(dir string, env func(string) string) []StoreConfig {
	var out []StoreConfig
	work := trackerChoice(env)
	found := map[string]bool{}
	for _, m := range Markers() {
		path, why := m.find(dir, env)
		name := cmp.Or(m.Name, m.Kind)
		if path == "" || m.Holds != nil && !m.Holds(path) || found[name] {
			continue
		}
		if !work.takes(m) {
			if m.Kind == "beads" && work.won == "knots" {
				for i := range out {
					if out[i].Kind == "knots" && work.forced == "" {
						out[i].Origin += "; .beads is there too, and .knots wins"
					}
				}
			}
			continue
		}
		found[name] = true
		out = append(out, StoreConfig{
			Name: name, Kind: m.Kind, Path: filepath.Join(path, m.Store),
			Origin: fmt.Sprintf("found %s: %s", m.Label, why),
		})
		if m.Reading {
			out[len(out)-1].ReadOnly, out[len(out)-1].ReadOnlyReason = true, "it was found and not configured: name it in the configuration, or with --open, to change it"
		}
		work.dress(&out[len(out)-1], env)
	}
	return out
}

// find returns the marker's absolute path and the reason in words.
func (m Marker) find(dir string, env func(string) string) (path, why string) {
	if m.Env != "" {
		if p := env(m.Env); p != "" {
			p = filepath.Join(ExpandPath(p, dir, env), m.Below)
			if m.Below != "" && !exists(p) {
				return "", ""
			}
			return p, "$" + m.Env + " names it"
		}
	}
	if m.Up {
		for d := dir; ; d = filepath.Dir(d) {
			if p := filepath.Join(d, m.Path); exists(p) {
				return p, m.Path + " " + above(dir, d)
			}
			if d == filepath.Dir(d) {
				break
			}
		}
	}
	if home := env("HOME"); m.Home && home != "" {
		if p := filepath.Join(home, m.Path); exists(p) {
			return p, "~/" + m.Path
		}
		if found, _ := fs.Glob(os.DirFS(home), m.Path); len(found) > 0 { // the table's patterns are well formed
			return filepath.Join(home, filepath.FromSlash(found[0])), "~/" + found[0]
		}
	}
	return "", ""
}

func above(dir, found string) string {
	rel, err := filepath.Rel(found, dir)
	if err != nil || rel == "." {
		return "in the working directory"
	}
	n := len(strings.Split(filepath.ToSlash(rel), "/"))
	if n == 1 {
		return "one directory above the working directory"
	}
	return fmt.Sprintf("%d directories above the working directory", n)
}

func exists(p string) bool {
	_, err := os.Lstat(p)
	return err == nil
}
