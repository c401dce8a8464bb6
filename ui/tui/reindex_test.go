package tui_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/hypergraph"
	"memdesk/backends/hypergraph/sqlite"
)

// A key of Health must ask, and then rebuild the index of a store that has one; a store without one must say so.
func TestIndexIsBuiltOnAKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "own.db")
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.CreateNode(t.Context(), hypergraph.Node{ID: "rye", Type: "fact", Tier: "session", Content: "Rye is baked on Fridays."}), db.Close()); err != nil {
		t.Fatal(err)
	}
	args := []string{"--open", "sqlite=" + path, "--open", "inmem="}
	r := startRobot(t, start{scenario: programScenario, width: 120, height: 40, env: []string{
		argsEnv + "=" + strings.Join(args, "\n"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
	}})
	r.see("[2 Tiers]", "sqlite").press("1").see("2/2 stores up")
	r.asked("I", "Build the index of sqlite anew?").press("esc").see("othing was changed")
	r.asked("I", "Build the index of sqlite anew?").press("tab").see("[Build]").press("enter").see("sqlite: 1 item in the new index")
	r.press("j").see("inmem").press("I").see("this store keeps no index of its own").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}
