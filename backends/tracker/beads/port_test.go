package beads_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/tracker/beads"
	"memdesk/work"
	"memdesk/work/worktest"
)

func TestPort(t *testing.T) {
	dirs := map[*testing.T]string{}
	open := func(t *testing.T) work.Desk {
		s, err := beads.Open(t.Context(), beads.Config{Name: "beads", Path: filepath.Join(dirs[t], ".beads")})
		must(t, err)
		return work.Desk{Store: s}
	}
	file := func(t *testing.T) string { return filepath.Join(dirs[t], ".beads", "issues.jsonl") }
	worktest.Run(t, worktest.Harness{
		Open: func(t *testing.T) work.Desk {
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
