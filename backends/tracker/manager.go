package tracker

import (
	"os"
	"path/filepath"
	"slices"

	"memdesk/model"
)

// Manager is a row of the table of systems that keep work items.
type Manager struct {
	Type   string
	Label  string
	Marker string // directory in a repository
	Rank   int    // the lower wins
}

// Managers is the table (beads-foolery-knots.md, Foolery entity).
func Managers() []Manager {
	return []Manager{
		{Type: "knots", Label: "Knots", Marker: ".knots", Rank: 0},
		{Type: "beads", Label: "Beads", Marker: ".beads", Rank: 1},
	}
}

// The values of FOOLERY_BACKEND (B9).
const (
	BackendAuto  = "auto"
	BackendCLI   = "cli"
	BackendStub  = "stub"
	BackendBeads = "beads"
	BackendKnots = "knots"
)

// EnvBackend is the variable that forces one.
const EnvBackend = "FOOLERY_BACKEND"

// Route is which backend a repository goes to, and why, in words.
type Route struct {
	Manager Manager
	Backend string // cli, stub, beads or knots
	Why     string
}

// Resolve routes a repository by its markers and the forced backend, empty for
// auto. No path and no marker are errors, which say repo_path_missing and
// repo_type_unknown (B11). A marker that is beads goes to the command (B10).
func Resolve(repo, forced string) (Route, error) {
	if forced == "" {
		forced = BackendAuto
	}
	if !slices.Contains([]string{BackendAuto, BackendCLI, BackendStub, BackendBeads, BackendKnots}, forced) {
		return Route{}, model.Errorf(model.InvalidInput, "route", "%s is %q; it is auto, cli, stub, beads or knots", EnvBackend, forced)
	}
	if repo == "" {
		return Route{}, model.Errorf(model.InvalidInput, "route", "repo_path_missing: which repository?")
	}
	for _, m := range Managers() {
		info, err := os.Stat(filepath.Join(repo, m.Marker))
		if err != nil || !info.IsDir() || forced == BackendKnots && m.Type != "knots" || (forced == BackendBeads || forced == BackendCLI) && m.Type != "beads" {
			continue
		}
		r := Route{Manager: m, Backend: forced, Why: EnvBackend + "=" + forced}
		if forced == BackendAuto {
			r.Why = m.Marker + " is there"
			r.Backend = BackendKnots
			if m.Type == "beads" {
				r.Backend = BackendCLI
			}
		}
		return r, nil
	}
	return Route{}, model.Errorf(model.NotFound, "route", "repo_type_unknown: the repository has no .knots and no .beads that %s would take", forced)
}
