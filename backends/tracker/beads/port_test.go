package beads_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker"
	"memdesk/backends/tracker/beads"
	"memdesk/backends/tracker/trackertest"
)

func TestPort(t *testing.T) {
	dirs := map[*testing.T]string{}
	open := func(t *testing.T) tracker.Port {
		s := beads.NewStore(filepath.Join(dirs[t], ".beads"), beads.Config{})
		return tracker.Desk{Backend: s, Can: tracker.PresetJSONL, NewID: s.NewID}
	}
	file := func(t *testing.T) string { return filepath.Join(dirs[t], ".beads", "issues.jsonl") }
	trackertest.Run(t, trackertest.Harness{
		Open: func(t *testing.T) tracker.Port {
			dirs[t] = t.TempDir()
			must(t, os.Mkdir(filepath.Join(dirs[t], ".beads"), 0o755))
			return open(t)
		},
		Again: open,
		Plant: func(t *testing.T, id string) {
			line := `{"id":"` + id + `", "title":"t" ,"weird":{"n":1.50e3,"a":[null]},"created_at":"2026-03-01T10:00:00Z"}` + "\n"
			must(t, os.WriteFile(file(t), []byte(line), 0o644))
		},
		Planted: func(t *testing.T, _ string) bool {
			b, err := os.ReadFile(file(t))
			must(t, err)
			return strings.Contains(string(b), `,"weird":{"n":1.50e3,"a":[null]},`)
		},
	})
}
