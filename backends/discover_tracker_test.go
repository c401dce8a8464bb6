package backends_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
)

func TestDiscoveredTracker(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{".beads", ".knots"} {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		forced, kind, port, says string
		readOnly                 bool
	}{
		{"", "knots", "", ".beads is there too, and .knots wins", false},
		{"auto", "knots", "", ".knots in the working directory", false},
		{"knots", "knots", "", "$FOOLERY_BACKEND=knots", false},
		{"beads", "beads", "jsonl", "$FOOLERY_BACKEND=beads", false},
		{"cli", "beads", "cli", "$FOOLERY_BACKEND=cli", false},
		{"stub", "knots", "", "$FOOLERY_BACKEND=stub", true},
		{"dolt", "knots", "", `"dolt", which is no backend`, false},
	} {
		t.Run("forced "+tt.forced, func(t *testing.T) {
			got := backends.Discover(root, func(k string) string {
				if k == "FOOLERY_BACKEND" {
					return tt.forced
				}
				return ""
			})
			if len(got) != 1 || got[0].Kind != tt.kind || got[0].Port != tt.port || got[0].ReadOnly != tt.readOnly || !strings.Contains(got[0].Origin, tt.says) {
				t.Errorf("discovered %+v", got)
			}
		})
	}
}
