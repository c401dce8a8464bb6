package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// later is a program two formats newer, whose last step fails while broken.
func later(broken *bool, done *[]string) layout {
	step := func(name string) func(string) error {
		return func(dir string) error {
			*done = append(*done, name)
			if name == "2 to 3" && *broken {
				return errors.New("the disk is full")
			}
			return os.WriteFile(filepath.Join(dir, name), nil, 0o600)
		}
	}
	return layout{3, []func(string) error{step("0 to 1"), step("1 to 2"), step("2 to 3")}}
}

// TestMigrate: older state must be refused until it is migrated, an interrupted migration must continue
// where it stopped, and the older program must refuse newer state, in one sentence.
func TestMigrate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memdesk")
	if err := Ensure(dir); err != nil {
		t.Fatal(err)
	}
	broken, done := true, []string{}
	newer := later(&broken, &done)
	if err := newer.ensure(dir); err == nil || !strings.Contains(err.Error(), "memdesk state migrate") {
		t.Errorf("older state is used as it is: %v", err)
	}
	if from, to, err := newer.migrate(dir); err == nil || from != 1 || to != 2 {
		t.Errorf("the step that fails: %d to %d, %v", from, to, err)
	}
	broken = false
	if from, to, err := newer.migrate(dir); err != nil || from != 2 || to != 3 {
		t.Errorf("it goes on: %d to %d, %v", from, to, err)
	}
	if got := strings.Join(done, ", "); got != "1 to 2, 2 to 3, 2 to 3" {
		t.Errorf("steps: %s", got)
	}
	if err := newer.check(dir); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{"check": Check(dir), "ensure": Ensure(dir), "migrate": func() error { _, _, err := Migrate(dir); return err }()} {
		if err == nil || strings.Count(err.Error(), ".") > 0 || !strings.Contains(err.Error(), `format "3", this version knows 1: use the memdesk that wrote it, or a newer one`) {
			t.Errorf("%s of newer state: %v", name, err)
		}
	}
}

// TestMigrateNothing: an absent directory must stay absent, and one without a mark must get it.
func TestMigrateNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memdesk")
	if from, to, err := Migrate(dir); from != 0 || to != 0 || err != nil {
		t.Errorf("%d to %d, %v", from, to, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it was made: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if from, to, err := Migrate(dir); from != 0 || to != 1 || err != nil {
		t.Errorf("%d to %d, %v", from, to, err)
	}
	if from, to, err := Migrate(dir); from != 1 || to != 1 || err != nil {
		t.Errorf("%d to %d, %v", from, to, err)
	}
}

// TestEnsureAtOnce: all of several programs that make the directory concurrently may use it. One of
// them would see a mark empty that was written in two steps.
func TestEnsureAtOnce(t *testing.T) {
	for range 100 {
		dir := filepath.Join(t.TempDir(), "memdesk")
		done := make(chan error)
		for range 8 {
			go func() { done <- Ensure(dir) }()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
}
