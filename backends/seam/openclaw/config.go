package openclaw

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/json5"
	"memdesk/backends/seam/internal/rootdir"
)

// workspace is one workspace of the configuration.
type workspace struct {
	id  string
	dir string // below the state directory; empty: outside it
}

// configLimit is the part of openclaw.json that is read, in bytes.
const configLimit = 4 << 20

// workspaces reads openclaw.json (OC2). problem says in words why it is unreadable.
func workspaces(state string) (out []workspace, problem string) {
	data, err := rootdir.Peek(filepath.Join(state, configName), configLimit)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, ""
		}
		return nil, configName + " cannot be read: only directories named workspace* are opened"
	}
	root, err := json5.Parse(string(data))
	if err != nil {
		return nil, configName + " cannot be read, " + err.Error() + ": only directories named workspace* are opened"
	}
	agents := member(root, "agents")
	defaults, _ := member(member(agents, "defaults"), "workspace").(string)
	if defaults != "" {
		out = append(out, workspace{mainAgent, below(state, defaults)})
	}
	entries, _ := member(agents, "entries").(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(entries)) {
		if at, _ := member(entries[id], "workspace").(string); at != "" {
			out = append(out, workspace{id, below(state, at)})
		} else if dir := below(state, path.Join(defaults, id)); defaults != "" && dir != "" && id != mainAgent {
			out = append(out, workspace{id, dir}) // where it is there
		}
	}
	return out, ""
}

func member(v any, name string) any {
	object, _ := v.(map[string]any)
	return object[name]
}

// below is a configured path relative to the state directory; empty: outside it.
func below(state, at string) string {
	if rest, ok := strings.CutPrefix(at, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		at = filepath.Join(home, rest)
	}
	abs, err := filepath.Abs(state)
	if err != nil {
		return ""
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(abs, at)
	}
	rel, err := filepath.Rel(abs, at)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}
