package crewship_test

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/crewship"
	"memdesk/model"
)

// label is the path of a tier's item below its .memory directory.
func label(tier, key string) string {
	switch tier {
	case "AGENT", "CREW", "PERSONA", "pins", "lessons":
		return tier + ".md"
	case "learned":
		return "red/topics/learned-" + key + ".md"
	case "crew-pins":
		return "red/topics/pins.md"
	case "proposals":
		return "red/topics/.proposed/" + key + ".md"
	case "other":
		return key + ".md"
	}
	return tier + "/" + key + ".md"
}

// bound is one store under the suite: the function that makes its directory, and the path of a tier's
// item in it.
type bound struct {
	make  func(t *testing.T) crewship.Config
	where func(tier, key string) string
}

func (b bound) harness() backendtest.Harness {
	var last string
	fresh := func(t *testing.T) crewship.Config {
		cfg := b.make(t)
		last = cfg.Path
		return cfg
	}
	plant := func(t *testing.T, cfg crewship.Config, tier, key, content string) {
		files(t, cfg.Path, map[string]string{b.where(tier, key): content})
	}
	opened := func(t *testing.T, cfg crewship.Config) model.Store {
		s, err := crewship.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return backendtest.Harness{
		Scope:  model.RetainRequest{WorkspaceID: "w1", CrewID: "c_red", AgentID: "ada"},
		Poison: poison,
		Open:   func(t *testing.T) model.Store { return opened(t, fresh(t)) },
		OpenReadOnly: func(t *testing.T) model.Store {
			cfg := fresh(t)
			cfg.ReadOnly = true
			plant(t, cfg, "AGENT", "", "kept\n")
			return opened(t, cfg)
		},
		Broken: func(t *testing.T) model.Store {
			cfg := fresh(t)
			s := opened(t, cfg)
			must(t, os.RemoveAll(cfg.Path))
			return s
		},
		Files: func(*testing.T) string { return last },
		Plant: func(t *testing.T, tier, key, content string) model.Store {
			cfg := fresh(t)
			plant(t, cfg, tier, key, content)
			return opened(t, cfg)
		},
	}
}

func TestConformanceOfOneDirectory(t *testing.T) {
	backendtest.Run(t, bound{
		make: func(t *testing.T) crewship.Config {
			return crewship.Config{Name: "m", Path: memory(t, nil), Workspace: "w1", Crew: "c_red", Agent: "ada"}
		},
		where: label,
	}.harness())
}

func TestConformanceOfADataDirectory(t *testing.T) {
	backendtest.Run(t, bound{
		make: func(t *testing.T) crewship.Config {
			dir := data(t, nil)
			for _, d := range []string{"output", "memory"} {
				must(t, os.RemoveAll(filepath.Join(dir, d)))
			}
			files(t, dir, map[string]string{redAda: "", redAll: "", "memory/w1/": ""})
			return crewship.Config{Name: "d", Path: dir, Workspace: "first", Crew: "red", Agent: "a1"}
		},
		where: func(tier, key string) string {
			if tier == "workspace" {
				return "memory/w1/" + key + ".md"
			}
			switch tier {
			case "CREW", "users", "topics", "learned", "crew-pins", "proposals":
				return redAll + label(tier, key)
			}
			return redAda + label(tier, key)
		},
	}.harness())
}
