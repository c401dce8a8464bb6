package quarantine

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestHermesVerdicts replays the verdicts of Hermes' own scanner.
func TestHermesVerdicts(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "shared", "fixtures", "hermes", "scan.jsonl"))
	if err != nil {
		t.Skip("the recorded verdicts of the real scanner are not beside this repository")
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r struct {
			ID, Text, Pattern string
			Blocked           bool
			All               []string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		v, hit := scanHermes(r.Text)
		if hit != r.Blocked || v.Pattern != r.Pattern {
			t.Errorf("%s: %q is %v %q, want %v %q", r.ID, r.Text, hit, v.Pattern, r.Blocked, r.Pattern)
		}
		var all []string
		hermesFindings(r.Text, func(f Finding) bool { all = append(all, f.Pattern); return true })
		if r.All != nil && !slices.Equal(all, r.All) {
			t.Errorf("%s: %q, want %q", r.ID, all, r.All)
		}
	}
}
