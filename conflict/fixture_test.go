package conflict_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"memdesk/conflict"
	"memdesk/conflict/names"
)

type expected struct {
	Files map[string]struct {
		Copy      bool    `json:"is_conflict_copy"`
		Class     string  `json:"class"`
		Tool      string  `json:"tool"`
		Row       int     `json:"table_row"`
		Base      *string `json:"base"`
		Orphan    bool    `json:"orphan"`
		Redundant bool    `json:"redundant"`
		Tier      string  `json:"tier"`
		Trap      string  `json:"trap"`
		Blocks    int     `json:"blocks"`
	}
}

// fixture finds another system's data; without them the test is skipped.
func fixture(t *testing.T, name string) (string, expected) {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "fixtures", name)
	data, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Skip("the fixtures are not here")
	}
	var e expected
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return dir, e
}

// TestTheVaultOfTheFixture measures precision and recall on a vault with copies by every tool, and with
// names that only look like copies.
func TestTheVaultOfTheFixture(t *testing.T) {
	dir, want := fixture(t, "agentm")
	got := map[string]conflict.Copy{}
	for c, err := range conflict.List(t.Context(), openFolder(t, filepath.Join(dir, "vault"), nil), conflict.Options{Note: func(s string, _ bool) { t.Error(s) }}) {
		if err != nil {
			t.Fatal(err)
		}
		got[norm.NFC.String("vault/"+c.ID)] = c
	}
	seen := 0
	for id, e := range want.Files {
		if !strings.HasPrefix(id, "vault/") {
			continue
		}
		seen++
		c, found := got[norm.NFC.String(id)]
		delete(got, norm.NFC.String(id))
		if e.Class == "none" || e.Class == "skip" {
			if found {
				t.Errorf("%s (%s) is no copy, found %s %s: %s", id, e.Trap, c.Confidence, c.Tool, c.Reason)
			}
			continue
		}
		if !found {
			t.Errorf("%s is missing (%s, row %d)", id, e.Tier, e.Row)
			continue
		}
		base := ""
		if e.Base != nil {
			base = *e.Base
		}
		have := ""
		if c.BaseID != "" {
			have = "vault/" + c.BaseID
		}
		if e.Class == "in-file" {
			if c.Class != names.InFile || c.Blocks != e.Blocks {
				t.Errorf("%s: class %s with %d blocks, want %d", id, c.Class, c.Blocks, e.Blocks)
			}
			continue
		}
		if string(c.Class) != e.Class || c.Tool != e.Tool || c.Row != e.Row || norm.NFC.String(have) != norm.NFC.String(base) || c.Orphan != e.Orphan || c.Redundant != e.Redundant {
			t.Errorf("%s:\n have %s %s row %d base %q orphan %v redundant %v\n want %s %s row %d base %q orphan %v redundant %v", id,
				c.Class, c.Tool, c.Row, have, c.Orphan, c.Redundant, e.Class, e.Tool, e.Row, base, e.Orphan, e.Redundant)
		}
		if e.Copy && string(c.Confidence) != e.Tier {
			t.Errorf("%s is %s, want %s: %s", id, c.Confidence, e.Tier, c.Reason)
		}
	}
	for id, c := range got {
		t.Errorf("%s is not in the table, found %s %s: %s", id, c.Confidence, c.Tool, c.Reason)
	}
	if seen < 100 {
		t.Fatalf("only %d files of the fixture were looked at", seen)
	}
}

// TestCopiesOfRealSyncthing uses files that two devices made.
func TestCopiesOfRealSyncthing(t *testing.T) {
	dir, want := fixture(t, "agentm_syncthing")
	got := map[string]conflict.Copy{}
	for c, err := range conflict.List(t.Context(), openFolder(t, dir, nil), conflict.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		got[c.ID] = c
	}
	for id, e := range want.Files {
		c, found := got[id]
		if found != e.Copy || found && (c.BaseID != *e.Base || c.Tool != e.Tool || c.Redundant != e.Redundant || c.Confidence != names.Certain) {
			t.Errorf("%s: %v, %+v", id, found, c)
		}
	}
}
