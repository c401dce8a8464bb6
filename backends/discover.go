package backends

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"memdesk/backends/gateway"
	"memdesk/backends/seam/vault"
)

// Marker is a row of the table of places where stores live.
type Marker struct {
	Kind  string // of the registry
	Label string // the system, for people
	Path  string // the marker, relative to a directory or to the home directory
	Home  bool   // looked for in the home directory
	Up    bool   // looked for in the working directory and its ancestors
	Env   string // a variable that names the place outright, and wins
	Store string // location of the store relative to the marker's path; empty: the marker itself
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
		{Kind: "vault", Label: "AgentM vault", Path: ".claude/.agentm-config.json", Home: true, Holds: vault.Selected},
		{Kind: "devicelocal", Label: "AgentM", Path: ".agentm/memory", Home: true, Env: "AGENTM_DEVICE_LOCAL_ROOT"},
		{Kind: "sqlite", Label: "recurse", Path: ".recurse", Up: true},
		{Kind: "curated", Label: "Hermes", Path: ".hermes/memories", Home: true},
		{Kind: "gateway", Label: "Beaver", Path: ".beaver/config.json", Home: true, Up: true, Holds: gateway.Uses},
		{Kind: "knots", Label: "Knots", Path: ".knots", Up: true},
		{Kind: "beads", Label: "Beads", Path: ".beads", Up: true},
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
		if path == "" || m.Holds != nil && !m.Holds(path) || found[m.Kind] {
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
		found[m.Kind] = true
		out = append(out, StoreConfig{
			Name: m.Kind, Kind: m.Kind, Path: filepath.Join(path, m.Store),
			Origin: fmt.Sprintf("found %s: %s", m.Label, why),
		})
		work.dress(&out[len(out)-1], env)
	}
	return out
}

// find returns the marker's absolute path and the reason in words.
func (m Marker) find(dir string, env func(string) string) (path, why string) {
	if m.Env != "" {
		if p := env(m.Env); p != "" {
			return ExpandPath(p, dir, env), "$" + m.Env + " names it"
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
