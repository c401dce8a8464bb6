package notes

import (
	"path/filepath"
	"runtime"
)

// AgentMPlaces are AgentM's own directories beyond the notes (agentm.md, Residue after deleting a note).
func AgentMPlaces(env func(string) string) []OutsideDir {
	if env == nil {
		return nil
	}
	var out []OutsideDir
	if dir := stateDir(env); dir != "" {
		out = append(out, OutsideDir{
			Prefix: "(state)", Path: dir,
			Names:  []string{"index.db", "index.db-wal", "index.db-shm", "index.db-journal", "*.json", "*.jsonl"},
			Reason: "derived state of AgentM's daemon, which alone writes it: let it rebuild its index and clear its journal",
		})
	}
	if home := env("HOME"); home != "" {
		cache := filepath.Join(home, ".cache", "agentm")
		out = append(out,
			OutsideDir{Prefix: "(cache)/dream/revert-log", Path: filepath.Join(cache, "dream", "revert-log"), Names: []string{"*.jsonl"}, Lines: true},
			OutsideDir{Prefix: "(cache)/telemetry", Path: filepath.Join(cache, "telemetry"), Names: []string{"*.jsonl"}, Lines: true},
			OutsideDir{Prefix: "(device)/_meta", Path: filepath.Join(home, ".agentm", "memory", "_meta"), Names: []string{"*"},
				Reason: "AgentM's records on this device; open the devicelocal store to remove them"},
			OutsideDir{Prefix: "(lost_and_found)", Path: filepath.Join(home, "Library", "Application Support", "Google", "DriveFS", "lost_and_found"), Names: []string{"*"},
				Reason: "Google Drive keeps it without a home directory; remove it there"},
		)
	}
	return out
}

// stateDir is AgentM's state directory (agentm.md, Derived state).
func stateDir(env func(string) string) string {
	switch {
	case env("AGENTM_STATE_DIR") != "":
		return env("AGENTM_STATE_DIR")
	case runtime.GOOS == "darwin" && env("HOME") != "":
		return filepath.Join(env("HOME"), "Library", "Application Support", "agentm")
	case env("XDG_STATE_HOME") != "":
		return filepath.Join(env("XDG_STATE_HOME"), "agentm")
	case env("HOME") != "":
		return filepath.Join(env("HOME"), ".local", "state", "agentm")
	}
	return ""
}
